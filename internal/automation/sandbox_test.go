package automation_test

import (
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/sandbox/server"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// outside is the sandbox accounting system with its own file, under the test's clock.
type outside struct {
	*server.Server
	file   string
	client *sandbox.Client
}

// onSandbox is a world whose items go to the sandbox over HTTP, through the real adapter and transport.
func onSandbox(t *testing.T, db storetest.DB, p sandbox.Personality, rules ...server.Rule) (*world, outside) {
	t.Helper()
	c := newClock()
	o := outside{file: filepath.Join(t.TempDir(), "journal")}
	var err error
	o.Server, err = server.New(server.Options{File: o.file, NoSync: true, Now: c.Now, Plan: server.Plan{Rules: rules},
		Books: []server.Books{{Name: "north", Identity: "Books of Acme", Personality: p, SearchLag: 10 * time.Second, KeyLifetime: 24 * time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() }) //nolint:errcheck // a test's own file
	h := httptest.NewUnstartedServer(o.Server)
	h.Config.ConnContext = server.ConnContext
	h.Start()
	t.Cleanup(h.Close)
	cfg := o.Connect(h.URL, "north")
	cfg.Linger, cfg.Misses, cfg.Now = 2*time.Minute, 2, c.Now
	if o.client, err = sandbox.New(cfg); err != nil {
		t.Fatal(err)
	}
	w := newWorldAt(t, db, c, cfg.Capabilities(), func(s *work.System) { s.Steps = o.client.Steps() })
	w.connect = o.client
	w.engine = w.newEngine("a")
	return w, o
}

func eachPersonality(t *testing.T, test func(t *testing.T, db storetest.DB, p sandbox.Personality)) {
	for _, p := range sandbox.Personalities {
		t.Run(string(p), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db storetest.DB) { test(t, db, p) })
		})
	}
}

// audit asserts that every effect took place at most once and returns how many records there are.
func (o outside) audit(t *testing.T) int {
	t.Helper()
	r, err := server.Audit(o.file)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Duplicates) > 0 {
		t.Errorf("took effect twice: %v", r.Duplicates)
	}
	return r.Records
}

// The accounting system creates the record, the response is lost, the retry path runs: exactly one record.
func TestLostResponseOnEachPersonality(t *testing.T) {
	for _, step := range []server.Kind{server.Create, server.Post} {
		t.Run(string(step), func(t *testing.T) {
			eachPersonality(t, func(t *testing.T, db storetest.DB, p sandbox.Personality) {
				w, o := onSandbox(t, db, p, server.Rule{Fault: server.DropAfter, Kind: step, Times: 1})
				w.record("INV-2026-11-ACME")
				w.run(24 * time.Hour)
				if n := o.audit(t); n != 1 {
					t.Errorf("%d records", n)
				}
				last := sandbox.StepPost
				if p == sandbox.Blind && step == server.Create {
					last = sandbox.StepCreate // waits for a person; the next step is not begun
				}
				it := w.step("INV-2026-11-ACME", last)
				switch {
				case p == sandbox.Blind && (it.Status != work.Review || it.Reason != work.ReasonCannotLookUp || it.Sends != 1):
					t.Errorf("blind: %s (%s) after %d sends", it.Status, it.Reason, it.Sends)
				case p != sandbox.Blind && it.Status != work.Confirmed:
					t.Errorf("%s (%s): %s", it.Status, it.Reason, it.LastError)
				}
			})
		})
	}
}

// Rejected each time: retried up to the limit with growing waits, then a person; no record, no partial record.
func TestGenuineRejectionOnEachPersonality(t *testing.T) {
	eachPersonality(t, func(t *testing.T, db storetest.DB, p sandbox.Personality) {
		w, o := onSandbox(t, db, p, server.Rule{Fault: server.Reject, Kind: server.Create, Reason: "the customer is blocked"})
		w.record("INV-2026-11-ACME")
		w.run(24 * time.Hour)
		it := w.wantReview("INV-2026-11-ACME", work.ReasonRejected)
		if it.Sends != w.system.Policy.Sends || o.Requests("north", server.Create) != it.Sends {
			t.Errorf("%d sends, %d requests, the limit is %d", it.Sends, o.Requests("north", server.Create), w.system.Policy.Sends)
		}
		if n := o.audit(t); n != 0 {
			t.Errorf("%d records", n)
		}
		var last time.Duration
		rows := w.attempts("INV-2026-11-ACME") // newest first
		for i := len(rows) - 2; i >= 0; i-- {
			wait := rows[i].StartedAt.Sub(rows[i+1].EndedAt)
			if wait <= last {
				t.Errorf("waited %s after %s", wait, last)
			}
			last = wait
		}
	})
}

// A server that is told to stop lets its calls finish and writes down what they bring.
func TestStoppingLetsCallsFinish(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		started, finish := make(chan struct{}), make(chan struct{})
		w.stub.then(func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
			close(started)
			<-finish
			return accept(s, req, commit)
		})
		w.record("INV-1")
		ctx, stop := withCancel(t)
		done := make(chan error, 1)
		go func() { done <- w.engine.Run(ctx) }()
		<-started
		stop()
		w.record("INV-2") // comes too late for this server
		close(finish)
		w.must(<-done)
		w.wantStatus("INV-1", work.Confirmed)
		w.wantWrites(1)
	})
}

// Work is taken up when it arrives, not at the next look.
func TestWorkWakesTheEngine(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		sent := make(chan struct{}, 2)
		report := func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
			sent <- struct{}{}
			return accept(s, req, commit)
		}
		w.stub.then(report, report)
		e := automation.NewEngine(automation.Config{Store: w.store, Node: "a", Now: w.clock.Now, Log: quiet, Poll: time.Hour,
			Connect: func(work.System) (ledger.System, error) { return w.stub, nil }})
		ctx, stop := withCancel(t)
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		for _, key := range []string{"INV-1", "INV-2"} {
			w.record(key)
			select {
			case <-sent:
			case <-time.After(30 * time.Second):
				t.Fatal(key + " was not taken up")
			}
		}
		stop()
		w.must(<-done)
	})
}
