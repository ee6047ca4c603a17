package automation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

func TestTrial64_JustCreatedAndNotYetFindable(t *testing.T) {
	caps := work.Capabilities{Searchable: true, SearchLag: time.Minute, Linger: 5 * time.Second, Misses: 1}
	eachWorld(t, caps, func(w *world) {
		w.stub.lag = time.Minute
		w.stub.then(lose)
		w.record("INV-1")
		w.once()
		w.clock.advance(5 * time.Second)
		if s := w.once(); s.Looked != 1 {
			w.clock.advance(time.Second * 10) // a little spread
			w.once()
		}
		w.wantStatus("INV-1", work.Pending)
		w.run(3 * time.Minute)
		w.wantStatus("INV-1", work.Confirmed)
		w.wantWrites(1)
		w.wantHeld(1)
	})
}

func TestTrial66_DeletedRecordIsNotConfirmed(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(lose)
		w.record("INV-1")
		w.once()
		w.stub.mu.Lock()
		w.stub.held[0].record.State = work.StateVoid
		w.stub.mu.Unlock()
		w.run(time.Hour)
		if it := w.wantReview("INV-1", work.ReasonFoundVoid); !strings.Contains(it.LastError, "void or deleted") {
			t.Errorf("shown: %q", it.LastError)
		}
		w.wantWrites(1)
		if err := w.act("INV-1", work.Retry{By: ada}); err == nil {
			t.Error("sending again was offered after a record was found")
		}
	})
}

func TestTrial80_KeyIgnoredOutside(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(dropped)
		w.record("INV-1")
		w.run(time.Hour)
		w.wantHeld(1)
		if s := w.stub.sends; len(s) != 2 || s[0].Key == "" || s[0].Key != s[1].Key {
			t.Errorf("the two calls carried the keys %v", s)
		}
	})
}

func TestTrial81_OneKeyForAllTries(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(reject, dropped, reject, reject)
		w.record("INV-1")
		w.once() // first try
		w.engine = w.newEngine("restarted")
		w.run(48 * time.Hour) // after a timeout, after a restart
		w.wantStatus("INV-1", work.Review)
		if err := w.act("INV-1", work.Retry{By: ada}); err != nil { // by hand
			w.must(w.act("INV-1", work.Check{By: ada}))
			w.run(5 * time.Minute)
			w.must(w.act("INV-1", work.Retry{By: ada}))
		}
		w.run(time.Hour)
		if len(w.stub.sends) < 4 {
			t.Fatalf("only %d sends", len(w.stub.sends))
		}
		for _, s := range w.stub.sends {
			if s.Key != w.stub.sends[0].Key || s.Reference != w.stub.sends[0].Reference {
				t.Errorf("key %s and reference %s differ from the first", s.Key, s.Reference)
			}
		}
		w.wantHeld(1)
	}, sends(3))
}

func TestTrial83_StillWorkingIsNotARefusal(t *testing.T) {
	eachWorld(t, keyed(), func(w *world) {
		w.stub.then(lose, deferFor(5*time.Second), replay(w))
		w.record("INV-1")
		for range 900 {
			w.once()
			if it := w.item("INV-1"); it.Status == work.Failed || it.Status == work.Review {
				t.Fatalf("shown as %s (%s)", it.Status, it.Reason)
			}
			w.clock.advance(time.Second)
		}
		w.wantStatus("INV-1", work.Confirmed)
		w.wantWrites(3)
		w.wantHeld(1)
	})
}

func TestTrial84_SameKeyChangedContent(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(lose)
		w.record("INV-1")
		w.once()
		w.must(w.act("INV-1", work.Correct{By: ada, Invoice: w.invoice("120.00"), Note: "price was wrong"}))
		_ = w.act("INV-1", work.Retry{By: ada})
		w.run(time.Hour)
		it := w.wantReview("INV-1", work.ReasonMismatch)
		if it.SeenID != "D1" || it.Proposed != 2 || it.Invoice.Total.Number() != "100.00" {
			t.Errorf("review does not show both: seen %q, proposed %d, asked %s", it.SeenID, it.Proposed, it.Invoice.Total)
		}
		w.wantWrites(1)
		w.wantHeld(1)
	})
}

func TestTrial87And96_StrangePagesLeaveItPending(t *testing.T) {
	for name, say := range map[string]work.Answer{
		"maintenance page": {Outcome: work.Unknown, Exchange: work.Exchange{HTTPStatus: 200, Error: "the accounting system answered with a web page"}},
		"gateway page":     {Outcome: work.Unknown, Unreached: true, Exchange: work.Exchange{HTTPStatus: 502, Error: "the accounting system is unreachable (502), outcome unknown", Response: "<script>alert(1)</script>"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, searchable(), func(w *world) {
				w.stub.then(answer(say))
				w.record("INV-1")
				w.once()
				if it := w.wantStatus("INV-1", work.Pending); it.LastError != say.Exchange.Error {
					t.Errorf("shown: %q", it.LastError)
				}
				w.run(time.Hour)
				w.wantHeld(1)
			})
		})
	}
}

func TestTrial90_SuccessWithoutAUsableID(t *testing.T) {
	noID := work.Answer{Outcome: work.Unknown, Positive: true, Exchange: work.Exchange{HTTPStatus: 200, Error: "no usable number came back"}}
	t.Run("it is there", func(t *testing.T) {
		eachWorld(t, searchable(), func(w *world) {
			w.stub.then(committing(noID))
			w.record("INV-1")
			w.run(time.Hour)
			w.wantStatus("INV-1", work.Confirmed)
			w.wantWrites(1)
		})
	})
	t.Run("it is not there", func(t *testing.T) {
		eachWorld(t, searchable(), func(w *world) {
			w.stub.then(answer(noID))
			w.record("INV-1")
			w.run(48 * time.Hour)
			w.wantReview("INV-1", work.ReasonContradiction)
			w.wantWrites(1)
			w.wantHeld(0)
		})
	})
}

func TestTrial95_PanicAndHangAreUnknown(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(exploded)
		w.record("INV-1")
		w.once()
		w.wantStatus("INV-1", work.Pending)
		w.run(time.Hour)
		w.wantHeld(1)
	})
}

func TestTrial97_LongWaitsAreAPlannedTime(t *testing.T) {
	for _, asked := range []time.Duration{40000 * time.Second, 0, -5 * time.Second, 99999999 * time.Second} {
		t.Run(asked.String(), func(t *testing.T) {
			eachWorld(t, searchable(), func(w *world) {
				w.stub.then(deferFor(asked))
				w.record("INV-1")
				before := w.clock.Now()
				w.once()
				it := w.wantStatus("INV-1", work.Queued)
				wait := it.DueAt.Sub(before)
				if it.SendsUsed != 0 || wait < 10*time.Second || wait > 25*time.Hour || asked == 40000*time.Second && wait < asked {
					t.Errorf("next in %s, %d tries used", wait, it.SendsUsed)
				}
				if s := w.once(); s.Claimed > 0 {
					t.Error("hammered at once")
				}
				w.run(26 * time.Hour)
				w.wantStatus("INV-1", work.Confirmed)
				w.wantWrites(2)
			})
		})
	}
}

func TestTrial101_AllFailedTogetherDoNotComeBackTogether(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		const n = 1000
		for range n {
			w.stub.then(dropped)
		}
		w.record(keys(n)...)
		for range n/10 + 1 {
			if s := w.once(); s.Claimed > 10 {
				t.Fatalf("%d at the same time, the ceiling is 10", s.Claimed)
			}
		}
		starts := map[time.Time]int{}
		for _, k := range keys(n) {
			starts[w.wantStatus(k, work.Pending).DueAt]++
		}
		if len(starts) < n/2 {
			t.Errorf("%d items come back at only %d different times", n, len(starts))
		}
		w.run(12 * time.Hour)
		for _, k := range keys(n) {
			w.wantStatus(k, work.Confirmed)
		}
		w.wantHeld(n)
	}, func(s *work.System) { s.MaxInFlight = 10 })
}

func TestLastLookFindsTheSecondRecord(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		// The one honest exception: the first request is at work for far longer than the system says it can be.
		w.stub.then(late(4 * time.Minute))
		w.record("INV-1")
		w.run(3 * time.Hour)
		most, all := w.stub.count()
		if most != 2 || all != 2 {
			t.Fatalf("%d records, %d for one key: the trial needs a late second one", all, most)
		}
		w.wantReview("INV-1", work.ReasonDuplicates)
	})
}

func TestLookupInOtherBooksProvesNothing(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-0")
		w.once()
		w.stub.then(lose)
		w.record("INV-1")
		w.once()
		w.stub.identity = "Books of somebody else"
		w.stub.mu.Lock()
		kept := w.stub.held
		w.stub.held = nil
		w.stub.mu.Unlock()
		w.run(72 * time.Hour)
		w.wantReview("INV-1", work.ReasonCouldNotCheck)
		w.wantWrites(2)
		if len(kept) != 2 {
			t.Errorf("%d records", len(kept))
		}
	})
}

func TestSearchThatSeesNothingProvesNothing(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-0")
		w.run(time.Minute)
		w.stub.then(lose)
		w.record("INV-1")
		w.once()
		w.stub.lag = 1000 * time.Hour // rights were taken away: it shows nothing any more
		w.run(72 * time.Hour)
		w.wantReview("INV-1", work.ReasonCouldNotCheck)
		w.wantWrites(2)
	})
}

func TestBreakerStopsCallsAndProbesByReading(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		for range 8 {
			w.stub.then(notSent)
		}
		w.once() // the books are seen to be the right ones
		w.record(keys(20)...)
		w.stub.down = errDown
		w.once()
		w.run(10 * time.Minute)
		w.wantWrites(8)
		s, err := w.store.System(t.Context(), "books")
		w.must(err)
		if s.BreakerUntil.IsZero() {
			t.Fatal("the breaker is closed although nothing is reached")
		}
		w.stub.mu.Lock()
		w.stub.down = nil
		w.stub.mu.Unlock()
		w.run(time.Hour)
		w.wantHeld(20)
		for _, k := range keys(20) {
			w.wantStatus(k, work.Confirmed)
		}
	}, func(s *work.System) { s.MaxInFlight = 8 })
}

func TestLookFirstSendsNothingWithoutALook(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1", "INV-2")
		// INV-1 was made by the copy of the database that is lost.
		w.stub.held = append(w.stub.held, held{w.item("INV-1").Reference, "create", work.Record{ID: "OLD", Reference: w.item("INV-1").Reference,
			Customer: "C-1", Total: euros(t, "100.00"), State: work.StatePosted}, w.clock.Now()})
		w.must(w.store.StartLookFirst(t.Context(), "books", "a restored backup"))
		w.run(30 * time.Minute)
		if it := w.wantStatus("INV-1", work.Confirmed); it.ExternalID != "OLD" {
			t.Errorf("confirmed by %s", it.ExternalID)
		}
		w.wantStatus("INV-2", work.Confirmed)
		w.wantHeld(2)
		w.wantWrites(1)
		rows := w.attempts("INV-2")
		slices.Reverse(rows)
		if rows[0].Kind != work.Find {
			t.Error("INV-2 was sent before it was looked up")
		}
	})
}

func TestLookFirstOnAnUnsearchableSystemAsksAPerson(t *testing.T) {
	eachWorld(t, keyed(), func(w *world) {
		w.record("INV-1")
		w.must(w.store.StartLookFirst(t.Context(), "books", "a restored backup"))
		w.run(time.Hour)
		w.wantReview("INV-1", work.ReasonCannotLookUp)
		w.wantWrites(0)
	})
}

func TestAnotherItemsRecordIsNotAdopted(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		same := answer(work.Answer{Outcome: work.Accepted, Record: work.Record{ID: "SAME"}, Match: work.MatchIDOnly, Exchange: work.Exchange{HTTPStatus: 200}})
		w.stub.then(same, same)
		w.record("INV-1", "INV-2")
		w.once()
		states := []work.Status{w.item("INV-1").Status, w.item("INV-2").Status}
		if !slices.Contains(states, work.Confirmed) || !slices.Contains(states, work.Review) {
			t.Errorf("statuses %v: two items claim one record", states)
		}
	})
}

func TestFrozenWorkerSendsNothing(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1")
		// The node's clock jumps between the claim and the send, as it does for a stopped process.
		slow := &jumpingStore{Store: w.store, after: func() { w.clock.advance(10 * time.Minute) }}
		e := w.newEngineOn("frozen", slow)
		if _, err := e.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantWrites(0)
		w.run(time.Hour)
		w.wantStatus("INV-1", work.Confirmed)
		w.wantHeld(1)
	})
}

var _ = ledger.Found{}

func TestTrial29_RefusedLoginSpendsNoTries(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		refused := answer(work.Answer{Outcome: work.Deferred, Login: true, Exchange: work.Exchange{HTTPStatus: 401, Error: "reconnect"}})
		for range 5 {
			w.stub.then(refused)
		}
		w.once() // the books are seen to be the right ones
		w.stub.down = errDown
		w.record(keys(5)...)
		w.run(3 * time.Hour)
		for _, k := range keys(5) {
			if it := w.wantStatus(k, work.Queued); it.SendsUsed != 0 {
				t.Errorf("%s used %d tries", k, it.SendsUsed)
			}
		}
		w.wantWrites(5)
		s, err := w.store.System(t.Context(), "books")
		w.must(err)
		if s.LoginProblem != "reconnect" {
			t.Errorf("the account is flagged %q", s.LoginProblem)
		}
		w.stub.mu.Lock()
		w.stub.down = nil // connected again
		w.stub.mu.Unlock()
		w.run(time.Hour)
		w.wantHeld(5)
	})
}

func TestTrial42_ShortFormsStayUniqueAndAreUsedForLookups(t *testing.T) {
	caps := searchable()
	caps.MaxReference = 20
	eachWorld(t, caps, func(w *world) {
		w.stub.then(lose, lose)
		for range 2 { // a re-run adds none
			w.record("SUBSCRIPTION-2025-000001", "SUBSCRIPTION-2025-000002")
			w.run(time.Hour)
		}
		a, b := w.wantStatus("SUBSCRIPTION-2025-000001", work.Confirmed), w.wantStatus("SUBSCRIPTION-2025-000002", work.Confirmed)
		if a.Reference == b.Reference || len(a.Reference) > 20 || len(b.Reference) > 20 {
			t.Errorf("references %q and %q", a.Reference, b.Reference)
		}
		for _, q := range w.stub.finds {
			if q.Reference != a.Reference && q.Reference != b.Reference {
				t.Errorf("looked for %q, which was never sent", q.Reference)
			}
		}
		w.wantWrites(2)
		w.wantHeld(2)
	})
}

func TestTrial85_OnlyLastingFactsMakeTheKey(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		var got []string
		for _, text := range []string{
			`{"customer_id":"C-1","total":{"number":"100.00","currency":"EUR"},"note":"x"}`,
			`{"note":"x","total":{"currency":"EUR","number":"100.00"},"customer_id":"C-1"}`,
		} {
			var inv work.Invoice
			w.must(json.Unmarshal([]byte(text), &inv))
			res, err := w.intake.Record(t.Context(), []work.New{{CompanyID: 1, Automation: "monthly", BusinessKey: "INV-1", SystemID: "books",
				Steps: w.system.Steps, Invoice: inv, Source: "run " + w.clock.Now().String(), By: work.Actor{Kind: work.Automation, ID: inv.Note}}})
			w.must(err)
			got = append(got, string(res[0].Result), res[0].Item.Key)
			w.clock.advance(time.Hour)
			w.engine = w.newEngine("another worker")
		}
		if got[0] != "new" || got[2] != "known" || got[1] != got[3] {
			t.Errorf("results and keys: %v", got)
		}
		w.run(time.Minute)
		w.wantHeld(1)
	})
}

func TestClaimThatWaitedTooLongSpendsNoTries(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record(keys(3)...)
		slow := &slowStore{Store: w.store, before: func() { w.clock.advance(time.Minute) }}
		e := w.newEngineOn("slow", slow)
		for range 3 {
			if s, err := e.RunOnce(t.Context()); err != nil || s.Claimed > 0 {
				t.Fatalf("%+v %v", s, err)
			}
		}
		for _, k := range keys(3) {
			if it := w.wantStatus(k, work.Queued); it.Sends != 0 {
				t.Errorf("%s spent %d sends", k, it.Sends)
			}
		}
		w.run(time.Minute)
		w.wantHeld(3)
	})
}

// A server answers into a database that forgot the attempt, and counts another attempt under the same number.
func TestAnswerOfAForgottenAttemptSettlesNothing(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1")
		forgotten := w.item("INV-1")
		started, finish := make(chan struct{}), make(chan struct{})
		w.stub.then(func(*stub, ledger.Request, func(time.Duration) work.Record) work.Answer {
			close(started)
			<-finish
			return work.Answer{Outcome: work.NotSent, Exchange: work.Exchange{Error: "it never left"}}
		})
		done := make(chan error, 1)
		go func() { _, err := w.engine.RunOnce(background()); done <- err }()
		<-started
		w.forget(forgotten)
		w.clock.advance(time.Second)
		again, finishAgain, doneAgain := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		w.stub.then(func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
			close(again)
			<-finishAgain
			return lose(s, req, commit)
		})
		go func() { _, err := w.newEngine("b").RunOnce(background()); doneAgain <- err }()
		<-again
		close(finish)
		w.must(<-done)
		w.wantStatus("INV-1", work.InProgress)
		close(finishAgain)
		w.must(<-doneAgain)
		if it := w.wantStatus("INV-1", work.Pending); len(it.Unsettled) != 1 {
			t.Errorf("the answer to a forgotten attempt settled the attempt that has its number: unsettled %v", it.Unsettled)
		}
	})
}
