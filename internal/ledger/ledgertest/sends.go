package ledgertest

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"onefold/internal/work"
)

// sendCase is one fault met by a send: what it may be called, and what staff are told.
type sendCase struct {
	name    string
	fault   Fault
	effect  bool // the request takes effect
	allowed []work.Outcome
	says    string // part of the sentence
	setup   Setup
	bounded bool // an answer without end: traffic and memory must stay small
	check   func(*testing.T, work.Answer)
}

const (
	briefly   = 250 * time.Millisecond // total time where the server would take for ever
	mostBytes = 32 << 20               // traffic and allocation for one bounded answer
)

var (
	unknown  = []work.Outcome{work.Unknown}
	rejected = []work.Outcome{work.Rejected}
	deferred = []work.Outcome{work.Deferred}
)

var sendCases = []sendCase{
	{name: "LineBreaksBeforeReading", fault: "drop_before", allowed: unknown, says: "outcome unknown"},
	{name: "Trial9_LineBreaksAfterTheEffect", fault: "drop_after", effect: true, allowed: unknown, says: "outcome unknown"},
	{name: "Trial1_TakesEffectAfterWeHungUp", fault: "commit_late", effect: true, allowed: unknown, says: "did not answer in time", setup: Setup{Timeout: briefly}},
	{name: "AnswersAfterWeHungUp", fault: "answer_late", effect: true, allowed: unknown, says: "did not answer in time", setup: Setup{Timeout: briefly}},
	{name: "CutInTheRequest", fault: "cut_request", allowed: unknown, says: "outcome unknown"},
	{name: "CutInTheAnswer", fault: "cut_answer", effect: true, allowed: unknown, says: "outcome unknown"},
	{name: "Trial11_ErrorAfterTheEffect", fault: "error_after", effect: true, allowed: unknown, says: "(500)", check: unreached},
	{name: "ErrorBeforeTheEffect", fault: "error_before", allowed: unknown, says: "(500)", check: unreached},
	{name: "UnavailableBeforeTheEffect", fault: "unavailable", allowed: unknown, says: "(503)", check: unreached},
	{name: "UnavailableAfterTheEffect", fault: "unavailable_after", effect: true, allowed: unknown, says: "(503)", check: unreached},
	{name: "Trial3_GatewayTimesOutAfterTheEffect", fault: "gateway_after", effect: true, allowed: unknown, says: "unreachable (504), outcome unknown"},
	{name: "Trial96_GatewayPage", fault: "gateway_page", allowed: unknown, says: "the accounting system is unreachable (502), outcome unknown"},
	{name: "Trial87_BackSoonPage", fault: "page_before", allowed: unknown, says: "the accounting system answered with a web page"},
	{name: "Trial87_PageAfterTheEffect", fault: "page_after", effect: true, allowed: unknown, says: "the accounting system answered with a web page"},
	{name: "NothingAsAnAnswer", fault: "empty_before", allowed: unknown, says: "outcome unknown"},
	{name: "NothingAsAnAnswerAfterTheEffect", fault: "empty_after", effect: true, allowed: unknown, says: "outcome unknown"},
	{name: "Trial89_RightAnswerUnderAnotherType", fault: "wrong_type", effect: true, allowed: []work.Outcome{work.Accepted}},
	{name: "HalfAnAnswer", fault: "garbage", effect: true, allowed: unknown, says: "outcome unknown"},
	{name: "Trial92_Redirect301", fault: "redirect_301", allowed: unknown, says: "the address redirects to "},
	{name: "Trial92_Redirect302", fault: "redirect_302", allowed: unknown, says: "the address redirects to "},
	{name: "Trial92_Redirect303", fault: "redirect_303", allowed: unknown, says: "the address redirects to "},
	{name: "Trial92_Redirect307", fault: "redirect_307", allowed: unknown, says: "the address redirects to "},
	{name: "Trial92_Redirect308", fault: "redirect_308", allowed: unknown, says: "the address redirects to "},
	{name: "Trial92_ListAsAnAnswer", fault: "list_answer", allowed: unknown, says: "list"},
	{name: "Trial95_OneByteAtATime", fault: "drip", effect: true, allowed: unknown, says: "outcome unknown", setup: Setup{Timeout: briefly}},
	{name: "Trial95_HeadersOneByteAtATime", fault: "drip_headers", allowed: unknown, says: "outcome unknown", setup: Setup{Timeout: briefly}},
	{name: "Trial94_GigabytesInAnAnswer", fault: "endless", effect: true, allowed: unknown, says: "too large", bounded: true},
	{name: "Trial94_GigabytesInAnErrorPage", fault: "endless_error", effect: true, allowed: unknown, says: "(500)", bounded: true},
	{name: "Trial94_UnpacksWithoutEnd", fault: "huge_gzip", effect: true, allowed: unknown, says: "too large", bounded: true},
	{name: "Trial90_ZeroID", fault: "zero_id", effect: true, allowed: unknown, says: "no usable id", check: positive},
	{name: "Trial90_NullID", fault: "null_id", effect: true, allowed: unknown, says: "no usable id", check: positive},
	{name: "Trial90_EmptyID", fault: "empty_id", effect: true, allowed: unknown, says: "no usable id", check: positive},
	{name: "Trial90_NumberForAnID", fault: "numeric_id", effect: true, allowed: unknown, says: "no usable id", check: positive},
	{name: "GenuineRejection", fault: "reject", allowed: rejected, says: "the customer is blocked"},
	{name: "FinalRejection", fault: "reject_final", allowed: rejected, says: "the customer is blocked", check: final},
	{name: "Trial89_ReasonWithCharset", fault: "reject_charset", allowed: rejected, says: "the customer is blocked"},
	{name: "Trial89_ReasonAsXML", fault: "reject_xml", allowed: rejected, says: "no reason given"},
	{name: "Trial89_ReasonWithoutTypeAndBody", fault: "reject_bare", allowed: rejected, says: "no reason given"},
	{name: "Trial123_ReasonOf200KB", fault: "reject_long", allowed: rejected, says: "…"},
	{name: "Trial123_ReasonWithAZeroByte", fault: "reject_zero_byte", allowed: rejected, says: "refused: "},
	{name: "Trial123_ReasonNotUTF8", fault: "reject_not_utf8", allowed: rejected, says: "refused: "},
	{name: "RefusalAsAPage", fault: "reject_page", allowed: unknown, says: "the accounting system answered with a web page"},
	{name: "DuplicateReported", fault: "duplicate_error", allowed: []work.Outcome{work.AlreadyExists, work.Unknown}},
	{name: "LoginRefused", fault: "login", allowed: deferred, says: "login", check: login},
	{name: "Trial97_Wait40000", fault: "wait:40000", allowed: deferred, says: "(429)", check: waits(40000*time.Second, 40000*time.Second)},
	{name: "Trial97_Wait0", fault: "wait:0", allowed: deferred, says: "(429)", check: waits(time.Second, time.Minute)},
	{name: "Trial97_WaitNegative", fault: "wait:-5", allowed: deferred, says: "(429)", check: waits(time.Second, time.Minute)},
	{name: "Trial97_WaitAbsurd", fault: "wait:99999999999", allowed: deferred, says: "(429)", check: waits(time.Hour, 24*time.Hour)},
	{name: "Trial97_WaitSoon", fault: "wait:soon", allowed: deferred, says: "(429)", check: waits(time.Second, time.Minute)},
	{name: "Trial98_WaitUntilADate", fault: "wait:date+90", allowed: deferred, says: "(429)", check: waits(90*time.Second, 95*time.Second)},
	{name: "Trial98_WaitUntilADateInThePast", fault: "wait:date-90", allowed: deferred, says: "(429)", check: waits(time.Second, 10*time.Second)},
	{name: "WaitNotSaid", fault: "wait:", allowed: deferred, says: "(429)", check: waits(0, time.Minute)},
	{name: "Trial58_HundredTimesTheTotalStored", fault: "total_times_100", effect: true, allowed: []work.Outcome{work.Accepted}, check: different},
	{name: "Trial60_OneMoreStored", fault: "total_plus_one", effect: true, allowed: []work.Outcome{work.Accepted}, check: different},
	{name: "StoredForAnotherCustomer", fault: "other_customer", effect: true, allowed: []work.Outcome{work.Accepted}, check: different},
	{name: "OtherBooksAnswer", fault: "other_books", allowed: []work.Outcome{work.Unknown, work.Rejected, work.Accepted}, check: otherIdentity},
}

// onlyFirst are faults that change what is created; a later step has nothing to create.
var onlyFirst = map[Fault]bool{"total_times_100": true, "total_plus_one": true, "other_customer": true, "other_books": true}

func testSends(t *testing.T, target Target) {
	waiting := target.once(t, func(b *bench, step string) { b.reach(step, "INV-1") }) // and nothing of a send without effect
	for _, c := range sendCases {
		t.Run(c.name, func(t *testing.T) {
			if c.setup.Timeout > 0 {
				t.Parallel()
			}
			steps := newBench(t, target, Setup{}).steps
			for i, step := range steps {
				if i > 0 && onlyFirst[c.fault] {
					continue
				}
				t.Run(step, func(t *testing.T) {
					if why := target.Impossible[step+"/"+c.name]; why != "" {
						t.Skip(why)
					}
					if c.setup.Timeout > 0 {
						t.Parallel() // it only waits
					}
					runSend(t, target, c, step, waiting[step])
				})
			}
		})
	}
	t.Run("T5_ReusedConnectionBreaks", func(t *testing.T) { testReused(t, target) })
	t.Run("Unreachable", func(t *testing.T) { testUnreachable(t, target) })
}

// runSend sends; what must have no effect may go on from what others left.
func runSend(t *testing.T, target Target, c sendCase, step string, waiting *bench) {
	b := newBench(t, target, c.setup)
	switch {
	case waiting != nil && !c.effect:
		b.sameAs(waiting)
	case target.Shared: // a real server may need more time for the steps before than the case has
		patient := newBench(t, target, Setup{})
		patient.reach(step, "INV-1")
		b.sameAs(patient)
	default:
		b.reach(step, "INV-1")
	}
	before := len(b.out.Writes())
	b.misbehave(work.Send, c.fault)
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	_, sentBefore := b.out.Traffic()
	a := b.send(step, "INV-1")
	if c.setup.Timeout == briefly && target.mayBeSlow(a, len(b.out.Writes())-before) {
		b.out.Misbehave(work.Send, NoFault)
		b.out.Wait()
		target.Brief = 2 * max(target.Brief, briefly)
		runSend(t, target, c, step, waiting)
		return
	}
	runtime.ReadMemStats(&end)
	_, sentAfter := b.out.Traffic()
	b.out.Misbehave(work.Send, NoFault)
	b.out.Wait()
	effects, writes := b.out.Effects(step, "INV-1"), len(b.out.Writes())-before

	checkAnswer(t, a, effects, writes)
	if target.cautious(c.name) && a.Outcome == work.Unknown {
		return
	}
	checkOutcome(t, a, c.allowed...)
	if writes != 1 {
		t.Errorf("%d writing requests arrived, want 1", writes)
	}
	if (effects == 1) != c.effect && c.fault != "other_books" {
		t.Errorf("took effect %d times: the server does not do what the test is about", effects)
	}
	if !strings.Contains(a.Exchange.Error, c.says) {
		t.Errorf("staff are told %q, expected %q", a.Exchange.Error, c.says)
	}
	if c.bounded {
		if n := sentAfter - sentBefore; n > mostBytes {
			t.Errorf("%d bytes were taken in", n)
		}
		if n := end.TotalAlloc - start.TotalAlloc; n > mostBytes {
			t.Errorf("%d bytes were allocated", n)
		}
	}
	if c.check != nil {
		c.check(t, a)
	}
	if b.sys.Capabilities().Searchable && c.fault != "other_books" {
		b.out.Advance(b.sys.Capabilities().SearchLag)
		checkFinding(t, b.find(step, "INV-1"), effects)
	}
}

// testReused warms a connection with reads; the server then breaks it after the effect. Go's own client would send a
// request with an Idempotency-Key again, one with an empty body even without GetBody.
func testReused(t *testing.T, target Target) {
	for _, step := range newBench(t, target, Setup{}).steps {
		t.Run(step, func(t *testing.T) {
			b := newBench(t, target, Setup{})
			b.reach(step, "INV-1")
			for range 3 {
				if _, err := b.sys.Identity(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			before := len(b.out.Writes())
			b.misbehave(work.Send, "close_reused")
			a := b.send(step, "INV-1")
			b.out.Wait()
			effects, writes := b.out.Effects(step, "INV-1"), len(b.out.Writes())-before
			checkAnswer(t, a, effects, writes)
			if writes != 1 || effects != 1 {
				t.Errorf("%d requests, %d effects", writes, effects)
			}
		})
	}
}

func testUnreachable(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	b.misbehave(work.Send, "unreachable")
	a := b.send(b.steps[0], "INV-1")
	checkAnswer(t, a, b.out.Effects(b.steps[0], "INV-1"), len(b.out.Writes()))
	checkOutcome(t, a, work.NotSent)
	unreached(t, a)
}

func positive(t *testing.T, a work.Answer) {
	if !a.Positive {
		t.Error("a claim of success is positive evidence")
	}
}

func unreached(t *testing.T, a work.Answer) {
	if !a.Unreached {
		t.Error("must count for the breaker")
	}
}

func final(t *testing.T, a work.Answer) {
	if !a.Final {
		t.Error("no retry can cure this, and the answer does not say so")
	}
}

func login(t *testing.T, a work.Answer) {
	if !a.Login {
		t.Error("the owner of the login must be told")
	}
}

func different(t *testing.T, a work.Answer) {
	if a.Match != work.MatchDifferent || a.Remark == "" {
		t.Errorf("match %q, remark %q: what was stored is not what was asked", a.Match, a.Remark)
	}
}

func otherIdentity(t *testing.T, a work.Answer) {
	if a.Exchange.Identity == "" || !strings.Contains(a.Exchange.Identity, "somebody-else") {
		t.Errorf("the other books were not noticed: %q", a.Exchange.Identity)
	}
}

func waits(least, most time.Duration) func(*testing.T, work.Answer) {
	return func(t *testing.T, a work.Answer) {
		if a.RetryAfter < least || a.RetryAfter > most {
			t.Errorf("waits %s, want %s to %s", a.RetryAfter, least, most)
		}
	}
}
