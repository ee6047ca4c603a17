package automation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/work"
)

// The decisive test: the accounting system acts, the answer is lost.
func TestLostResponseLeavesExactlyOneRecord(t *testing.T) {
	blind := work.Capabilities{Linger: 2 * time.Minute}
	unique := searchable()
	unique.UniqueReferences = true
	for name, caps := range map[string]work.Capabilities{"searchable": searchable(), "unique": unique, "keys": keyed(), "blind": blind} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, caps, func(w *world) {
				w.stub.then(lose, replay(w))
				w.record("INV-1")
				w.once()
				it := w.item("INV-1")
				if it.Status == work.Failed || it.Status == work.Queued {
					t.Fatalf("unknown was treated as %s", it.Status)
				}
				w.run(24 * time.Hour)
				if name == "blind" {
					w.wantReview("INV-1", work.ReasonCannotLookUp)
					w.wantWrites(1)
				} else {
					w.wantStatus("INV-1", work.Confirmed)
				}
				w.wantHeld(1)
			})
		})
	}
}

// replay answers a repeated key as a system does that honours keys.
func replay(w *world) behaviour {
	return func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, h := range s.held {
			if h.reference == req.Reference && h.step == req.Step {
				return work.Answer{Outcome: work.Accepted, Record: h.record, Match: work.MatchSame, Exchange: work.Exchange{HTTPStatus: 200}}
			}
		}
		w.t.Error("replayed a key that was never used")
		return work.Answer{Outcome: work.Unknown}
	}
}

// The other decisive test: a genuine rejection, each time.
func TestGenuineRejectionEndsInReviewWithNothingCreated(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(reject, reject, reject, reject)
		w.record("INV-1")
		w.run(24 * time.Hour)
		w.wantReview("INV-1", work.ReasonRejected)
		w.wantWrites(4)
		w.wantHeld(0)
		rows := w.attempts("INV-1")
		slices.Reverse(rows)
		var last time.Duration
		for i := 1; i < len(rows); i++ {
			wait := rows[i].StartedAt.Sub(rows[i-1].EndedAt)
			if wait <= last {
				t.Errorf("wait %d is %s after %s: not longer", i, wait, last)
			}
			last = wait
		}
	}, sends(4))
}

func TestTrial01_WeHungUpFirst(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(late(90 * time.Second))
		w.record("INV-1")
		for range 300 {
			w.once()
			if it := w.item("INV-1"); it.Status == work.Failed {
				t.Fatal("failed was shown while the call was still at work")
			}
			w.clock.advance(time.Second)
		}
		w.wantStatus("INV-1", work.Confirmed)
		w.wantWrites(1)
		w.wantHeld(1)
	})
}

func TestTrial03_SentBeforeAnswer(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		nothing := findStatus(ledger.Found{Searched: true, Exchange: work.Exchange{HTTPStatus: 200}})
		w.stub.then(committing(work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{HTTPStatus: 504, Error: "504"}}),
			answer(work.Answer{Outcome: work.AlreadyExists, Exchange: work.Exchange{HTTPStatus: 409, Error: "reported earlier"}}))
		w.stub.thenFind(nothing, nothing, nothing) // its search lags more than it says
		w.record("INV-1")
		w.run(time.Hour)
		it := w.wantStatus("INV-1", work.Confirmed)
		if it.Evidence != "lookup" {
			t.Errorf("evidence %q", it.Evidence)
		}
		w.wantHeld(1)
		var story []string
		for _, a := range w.attempts("INV-1") {
			story = append(story, string(a.Outcome)+string(a.Finding))
		}
		slices.Reverse(story)
		if got := strings.Join(story, " "); !strings.Contains(got, "unknown") || !strings.Contains(got, "already_exists found_matching") {
			t.Errorf("history reads %q", got)
		}
	})
}

func TestTrial06_DuplicateAnswerPointsElsewhere(t *testing.T) {
	named := answer(work.Answer{Outcome: work.AlreadyExists, Record: work.Record{ID: "S2"}, Exchange: work.Exchange{HTTPStatus: 409, Error: "same as D1"}})
	t.Run("lookup settles it", func(t *testing.T) {
		eachWorld(t, searchable(), func(w *world) {
			nothing := findStatus(ledger.Found{Searched: true})
			w.stub.then(lose, named)
			w.stub.thenFind(nothing, nothing, nothing)
			w.record("INV-1")
			w.run(time.Hour)
			if it := w.wantStatus("INV-1", work.Confirmed); it.ExternalID != "D1" {
				t.Errorf("outside id %s, want D1", it.ExternalID)
			}
			if !slices.ContainsFunc(w.attempts("INV-1"), func(a work.Attempt) bool { return a.ExternalID == "S2" }) {
				t.Error("S2 is not in the history")
			}
		})
	})
	t.Run("lookup is down", func(t *testing.T) {
		eachWorld(t, searchable(), func(w *world) {
			w.stub.then(named)
			for range 40 {
				w.stub.thenFind(findStatus(ledger.Found{Exchange: work.Exchange{Error: "search is down"}}))
			}
			w.record("INV-1")
			w.once()
			w.wantStatus("INV-1", work.Pending)
			w.run(72 * time.Hour)
			if it := w.wantReview("INV-1", work.ReasonCouldNotCheck); it.SeenID != "S2" {
				t.Errorf("the number that the system named is not shown: %q", it.SeenID)
			}
		})
	})
}

func TestTrial07_BatchOfThirtyTimedOutPartWay(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		for i := range 30 {
			if i < 17 {
				w.stub.then(lose)
			} else {
				w.stub.then(dropped)
			}
		}
		w.record(keys(30)...)
		w.once()
		for _, k := range keys(30) {
			w.wantStatus(k, work.Pending)
		}
		w.run(2 * time.Hour)
		for _, k := range keys(30) {
			w.wantStatus(k, work.Confirmed)
		}
		w.wantWrites(30 + 13)
		w.wantHeld(30)
	})
}

func TestTrial09_ConfirmationLostNextRunChecksFirst(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		for range 100 {
			w.stub.then(lose)
		}
		w.record(keys(100)...)
		w.once()
		w.once() // more than 50 in flight are not allowed
		w.engine = w.newEngine("restarted")
		w.record(keys(100)...) // the next run fires with the same keys
		w.run(time.Hour)
		for _, k := range keys(100) {
			if it := w.wantStatus(k, work.Confirmed); it.Evidence != "lookup" {
				t.Fatalf("%s was confirmed by %s", k, it.Evidence)
			}
		}
		w.wantWrites(100)
		w.wantHeld(100)
	})
}

func TestTrial10_StepTwoFailsStepOneIsNotRepeated(t *testing.T) {
	steps := func(s *work.System) { s.Steps = []string{"create", "payment", "mail"}; s.Policy.Sends = 3 }
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(accept)
		for range 12 {
			w.stub.then(answer(work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{HTTPStatus: 500, Error: "500"}}))
		}
		w.record("INV-1")
		w.run(48 * time.Hour)
		w.wantStatus("INV-1", work.Confirmed)
		payment := w.step("INV-1", "payment")
		if payment.Status != work.Review || payment.Sends > 3 {
			t.Errorf("payment is %s after %d sends", payment.Status, payment.Sends)
		}
		if _, ok := w.find("INV-1", "mail"); ok {
			t.Error("the mail step was recorded before the payment was there")
		}
		creates := 0
		for _, r := range w.stub.sends {
			if r.Step == "create" {
				creates++
			}
		}
		if creates != 1 {
			t.Errorf("%d invoices were asked for", creates)
		}
	}, steps)
}

func TestTrial11_ErrorPageAfterTheMoneyHadMoved(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(committing(work.Answer{Outcome: work.Unknown, Unreached: true, Exchange: work.Exchange{HTTPStatus: 500, Error: "outcome not known yet"}}))
		w.record("INV-1")
		w.once()
		if it := w.wantStatus("INV-1", work.Pending); strings.Contains(it.LastError, "failed") {
			t.Errorf("plain failed is shown: %q", it.LastError)
		}
		w.run(time.Hour)
		w.wantStatus("INV-1", work.Confirmed)
		w.wantWrites(1)
		w.wantHeld(1)
	})
}

func TestTrial12_DefiniteRefusalIsNotRepeated(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(accept, answer(work.Answer{Outcome: work.Rejected, Final: true, Exchange: work.Exchange{HTTPStatus: 400, Error: "payments applied"}}))
		w.record("INV-1")
		w.run(time.Hour)
		first := w.wantStatus("INV-1", work.Confirmed)
		second := w.step("INV-1", "void")
		if second.Status != work.Review || second.Reason != work.ReasonRejected || !strings.Contains(second.LastError, "payments applied") {
			t.Errorf("the refused step is %s (%s): %q", second.Status, second.Reason, second.LastError)
		}
		if again := w.item("INV-1"); again.Status != first.Status {
			t.Errorf("the refusal changed the confirmed item to %s", again.Status)
		}
		w.wantWrites(2)
	}, func(s *work.System) { s.Steps = []string{"create", "void"} })
}

func TestTrial13_MaintenanceAnswerChangesNothing(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1")
		w.once()
		w.wantStatus("INV-1", work.Confirmed)
		odd := []ledger.Found{
			{Exchange: work.Exchange{HTTPStatus: 200, Error: "busy"}},
			{Unreached: true, Exchange: work.Exchange{HTTPStatus: 503, Error: "maintenance"}},
			{Exchange: work.Exchange{HTTPStatus: 200, Error: "empty list with an error flag"}},
		}
		for _, f := range odd {
			w.stub.thenFind(findStatus(f))
			w.must(w.act("INV-1", work.Check{By: ada}))
			w.once()
			w.wantStatus("INV-1", work.Confirmed)
			if a := w.attempts("INV-1")[0]; a.Finding != work.CouldNotTell {
				t.Errorf("the history says %q", a.Finding)
			}
		}
	})
}

func TestTrial14_DoesNotExistMovesOn(t *testing.T) {
	t.Run("clean miss", func(t *testing.T) {
		eachWorld(t, searchable(), func(w *world) {
			w.stub.then(dropped)
			w.record("INV-1")
			w.run(time.Hour)
			w.wantStatus("INV-1", work.Confirmed)
			w.wantWrites(2)
			w.wantHeld(1)
			rows := w.attempts("INV-1")
			if gap := w.stub.held[0].from.Sub(rows[len(rows)-1].EndedAt); gap < 2*time.Minute {
				t.Errorf("sent again %s after the first: before the settle time", gap)
			}
		})
	})
	t.Run("login refused", func(t *testing.T) {
		eachWorld(t, searchable(), func(w *world) {
			w.stub.then(dropped)
			for range 50 {
				w.stub.thenFind(findStatus(ledger.Found{Deferred: true, Login: true, Exchange: work.Exchange{HTTPStatus: 403, Error: "forbidden"}}))
			}
			w.once() // the books are seen to be the right ones
			w.stub.down = errDown
			w.record("INV-1")
			w.run(6 * time.Hour)
			w.wantStatus("INV-1", work.Pending)
			w.wantWrites(1)
			if s, err := w.store.System(t.Context(), "books"); err != nil || s.LoginProblem == "" {
				t.Errorf("the account is not flagged: %+v %v", s.LoginProblem, err)
			}
		})
	})
}

func TestTrial16_WhoeverSettlesSetsTheNextStep(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(dropped)
		w.record("INV-1")
		w.once()
		w.clock.advance(5 * time.Minute)
		for range 3 { // lookups asked by hand
			if err := w.act("INV-1", work.Check{By: ada}); err != nil {
				t.Fatal(err)
			}
			w.once()
			it := w.item("INV-1")
			if it.Status == work.Failed && it.DueAt.IsZero() || it.Status == work.Review && it.Reason == "" {
				t.Fatalf("%s without a next step", it.Status)
			}
			w.clock.advance(15 * time.Second)
		}
	})
}

func TestTrial17_MachineDiedAfterSuccessOutside(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1")
		claimAndDie(w)
		w.stub.Send(t.Context(), ledger.Request{Step: "create", Reference: w.item("INV-1").Reference, Invoice: w.invoice("100.00")}) // it stored, we never heard
		w.engine = w.newEngine("restarted")
		if err := w.act("INV-1", work.Retry{By: ada}); err == nil {
			t.Fatal("retry was taken while the outcome was open")
		}
		w.run(time.Hour)
		if it := w.wantStatus("INV-1", work.Confirmed); it.Evidence != "lookup" {
			t.Errorf("confirmed by %s", it.Evidence)
		}
		w.wantWrites(1)
		w.wantHeld(1)
	})
}

// claimAndDie opens an attempt as a server does that is killed right after.
func claimAndDie(w *world) {
	w.t.Helper()
	moves, err := w.store.Change(w.t.Context(), work.Pick{Due: &work.PickDue{SystemID: "books", Node: "dead", Limit: 1}},
		func(now time.Time, picked []work.Picked) ([]work.Move, error) {
			m, err := work.Decide(picked[0].Item, work.Claimed{Node: "dead", SendBy: now.Add(time.Second)}, picked[0].Rules, now)
			return []work.Move{m}, err
		})
	w.must(err)
	if len(moves) != 1 || moves[0].Op != work.OpenAttempt {
		w.t.Fatalf("nothing was claimed: %+v", moves)
	}
}

func TestTrial18_LostServerLeavesItPending(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1")
		claimAndDie(w)
		w.wantStatus("INV-1", work.InProgress)
		w.clock.advance(w.system.Rules().Lease() + time.Second)
		w.once()
		it := w.wantStatus("INV-1", work.Pending)
		if !strings.Contains(it.LastError, "lost") {
			t.Errorf("the history does not say that the server was lost: %q", it.LastError)
		}
		w.run(time.Hour)
		w.wantStatus("INV-1", work.Confirmed)
		w.wantHeld(1)
	})
}

func TestTrial20_StuckItemsAlarmOnce(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(dropped, dropped, dropped)
		w.record("INV-1", "INV-2", "INV-3")
		w.once()
		for _, k := range []string{"INV-1", "INV-2", "INV-3"} {
			w.wantStatus(k, work.Pending)
		}
		watch := automation.Watch{Store: w.store, Log: quiet}
		if n, err := watch.RunOnce(t.Context()); err != nil || n != 0 {
			t.Fatalf("alarmed at once: %d %v", n, err)
		}
		w.clock.advance(24 * time.Hour)
		total := 0
		for range 60 {
			n, err := watch.RunOnce(t.Context())
			w.must(err)
			total += n
			w.clock.advance(time.Minute)
		}
		if total != 1 {
			t.Errorf("%d alerts, want one", total)
		}
		alerts, err := w.store.Alerts(t.Context())
		w.must(err)
		if len(alerts) != 1 || !strings.Contains(alerts[0].Text, "Books: 3 not settled") {
			t.Errorf("alerts: %+v", alerts)
		}
		w.run(time.Hour)
		if _, err := watch.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if alerts, err = w.store.Alerts(t.Context()); err != nil || len(alerts) != 0 {
			t.Errorf("the alert stays when all is settled: %+v %v", alerts, err)
		}
	})
}

func TestTrial22_DocumentAndDeliveryHaveStatesOfTheirOwn(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(accept, reject, reject)
		w.record("INV-1")
		w.run(time.Hour)
		w.wantStatus("INV-1", work.Confirmed)
		mail := w.step("INV-1", "mail")
		if mail.Status != work.Review || mail.LastError == "" {
			t.Errorf("delivery is %s: %q", mail.Status, mail.LastError)
		}
		_, err := w.store.Change(t.Context(), work.Pick{IDs: []int64{mail.ID}}, func(now time.Time, p []work.Picked) ([]work.Move, error) {
			m, err := work.Decide(p[0].Item, work.Retry{By: ada}, p[0].Rules, now)
			return []work.Move{m}, err
		})
		w.must(err)
		w.run(time.Hour)
		if mail = w.step("INV-1", "mail"); mail.Status != work.Confirmed {
			t.Errorf("delivery is %s after the retry", mail.Status)
		}
		creates := 0
		for _, r := range w.stub.sends {
			if r.Step == "create" {
				creates++
			}
		}
		if creates != 1 {
			t.Errorf("retrying the mail made %d documents", creates)
		}
	}, func(s *work.System) { s.Steps = []string{"create", "mail"}; s.Policy.Sends = 2 })
}

func TestTrial24_NeverTwoCallsInFlight(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1")
		started, finish := make(chan struct{}), make(chan struct{})
		w.stub.then(func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
			close(started)
			<-finish
			return accept(s, req, commit)
		})
		done := make(chan error, 1)
		go func() { _, err := w.engine.RunOnce(background()); done <- err }()
		<-started
		var refusal *work.Refusal
		if err := w.act("INV-1", work.Retry{By: ada}); !errors.As(err, &refusal) || refusal.Code != work.RefusedOpen {
			t.Errorf("retry while it is on its way: %v", err)
		}
		other := w.newEngine("b")
		for range 3 { // a second server, and its clean-up
			if s, err := other.RunOnce(t.Context()); err != nil || s.Claimed+s.Swept > 0 {
				t.Errorf("a second server took it: %+v %v", s, err)
			}
		}
		close(finish)
		w.must(<-done)
		if w.stub.clashes > 0 {
			t.Error("two calls at the same time")
		}
		w.wantStatus("INV-1", work.Confirmed)
		w.wantHeld(1)
	})
}

func TestTrial25_TwoServersOneDueEntry(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		other := w.newEngine("b")
		for round := range 3 {
			var ks []string
			for i := range 200 {
				ks = append(ks, fmt.Sprintf("INV-%d-%d", round, i))
			}
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() { w.record(ks...) }) // both plan the same run
			}
			wg.Wait()
			for _, e := range []*automation.Engine{w.engine, other} {
				wg.Go(func() {
					for range 6 {
						if _, err := e.RunOnce(background()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			w.run(time.Minute)
			w.wantHeld(200 * (round + 1))
		}
		w.wantWrites(600)
	})
}

func TestTrial27_WaitingIsNotLost(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record(keys(10)...)
		w.must(w.store.Pause(t.Context(), "books", ada, "month end"))
		for range 6 {
			w.once()
			w.clock.advance(time.Hour)
		}
		w.wantWrites(0)
		w.must(w.store.Resume(t.Context(), "books", ada, ""))
		w.run(time.Hour)
		w.wantWrites(10)
		w.wantHeld(10)
	})
}

func TestTrial28_DoubleWiringMeetsTheKey(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		for range 2 {
			w.record("PLAN-042-2026-11")
		}
		w.record("plan-042-2026-11 ") // another trigger spells it differently: refused, not a second item
		w.run(time.Hour)
		w.wantWrites(1)
		w.wantHeld(1)
	})
}

func TestTrial30_SuccessEndsTheLoop(t *testing.T) {
	for _, n := range []int{1, 2, 5, 10} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachWorld(t, searchable(), func(w *world) {
				w.record("INV-1")
				w.run(24 * time.Hour)
				w.wantWrites(1)
				w.wantHeld(1)
			}, sends(n))
		})
	}
}
