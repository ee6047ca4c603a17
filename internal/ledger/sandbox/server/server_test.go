package server_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

func start(t *testing.T, o server.Options) (*server.Server, string) {
	t.Helper()
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewUnstartedServer(s)
	h.Config.ConnContext = server.ConnContext
	h.Start()
	t.Cleanup(func() {
		h.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, h.URL
}

func connect(t *testing.T, s *server.Server, url, books string) *sandbox.Client {
	t.Helper()
	c, err := sandbox.New(s.Connect(url, books))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func invoice(t *testing.T, number, code string) work.Invoice {
	t.Helper()
	total, err := currency.NewAmount(number, code)
	if err != nil {
		t.Fatal(err)
	}
	return work.Invoice{CustomerID: "C-1", CustomerName: "Ada GmbH", Total: total}
}

func request(step, reference string, inv work.Invoice) ledger.Request {
	return ledger.Request{Step: step, Reference: reference, Key: "KEY-" + step + "-" + reference, Invoice: inv,
		SendBy: ledger.NewDeadline(time.Now(), time.Minute)}
}

// issue walks both steps and returns the answers.
func issue(t *testing.T, c ledger.System, reference string, inv work.Invoice) (created, posted work.Answer) {
	t.Helper()
	created = ledger.DoSend(t.Context(), c, request(sandbox.StepCreate, reference, inv), nil)
	if created.Outcome != work.Accepted {
		t.Fatalf("create: %+v", created)
	}
	req := request(sandbox.StepPost, reference, inv)
	req.PreviousRecordID = created.Record.ID
	posted = ledger.DoSend(t.Context(), c, req, nil)
	return created, posted
}

func TestAnInvoiceIsIssuedInEveryKindOfBooks(t *testing.T) {
	s, url := start(t, server.Options{Token: "secret-token"})
	for _, b := range s.Books() {
		t.Run(b.Name, func(t *testing.T) {
			c := connect(t, s, url, b.Name)
			inv := invoice(t, "5000", "JPY")
			created, posted := issue(t, c, "INV-1", inv)
			if created.Match != work.MatchSame || created.Record.State != work.StateDraft || created.Exchange.Identity != b.Identity {
				t.Errorf("created: %+v", created)
			}
			if posted.Outcome != work.Accepted || posted.Record.State != work.StatePosted || posted.Record.Number == "" {
				t.Errorf("posted: %+v", posted)
			}
			held := s.Records(b.Name, "INV-1")
			if len(held) != 1 || held[0].Total != "5000" || held[0].State != "posted" {
				t.Errorf("held: %+v", held)
			}
			identity, err := ledger.DoIdentity(t.Context(), c)
			if err != nil || identity != b.Identity {
				t.Errorf("identity %q, %v", identity, err)
			}
		})
	}
}

func TestARepeatMeetsThePersonality(t *testing.T) {
	now := time.Now()
	s, url := start(t, server.Options{Now: func() time.Time { return now }, Books: []server.Books{
		{Name: "keys", Personality: sandbox.Keys, KeyLifetime: time.Hour}, {Name: "unique", Personality: sandbox.Unique},
		{Name: "search", Personality: sandbox.Search}, {Name: "blind", Personality: sandbox.Blind}}})
	inv := invoice(t, "10.00", "EUR")
	for books, want := range map[string]struct {
		create, post work.Outcome
		records      int
		posts        int
	}{
		"keys":   {work.Accepted, work.Accepted, 1, 1},
		"unique": {work.AlreadyExists, work.AlreadyExists, 1, 1},
		"search": {work.Accepted, work.Accepted, 2, 2},
		"blind":  {work.Accepted, work.Accepted, 2, 2},
	} {
		t.Run(books, func(t *testing.T) {
			c := connect(t, s, url, books)
			first, _ := issue(t, c, "INV-1", inv)
			again := ledger.DoSend(t.Context(), c, request(sandbox.StepCreate, "INV-1", inv), nil)
			post := request(sandbox.StepPost, "INV-1", inv)
			post.PreviousRecordID = first.Record.ID
			postAgain := ledger.DoSend(t.Context(), c, post, nil)
			if again.Outcome != want.create || postAgain.Outcome != want.post {
				t.Errorf("again: %s %s, want %s %s", again.Outcome, postAgain.Outcome, want.create, want.post)
			}
			if n := len(s.Records(books, "INV-1")); n != want.records {
				t.Errorf("%d records, want %d", n, want.records)
			}
			if n := s.Posts(books, first.Record.ID); n != want.posts {
				t.Errorf("%d postings, want %d", n, want.posts)
			}
		})
	}
	t.Run("an expired key is forgotten", func(t *testing.T) {
		c := connect(t, s, url, "keys")
		now = now.Add(time.Hour)
		if a := ledger.DoSend(t.Context(), c, request(sandbox.StepCreate, "INV-1", inv), nil); a.Outcome != work.Accepted {
			t.Errorf("%+v", a)
		}
		if n := len(s.Records("keys", "INV-1")); n != 2 {
			t.Errorf("%d records, want 2", n)
		}
	})
}

func TestTheJournalSurvivesAKill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandbox.jsonl")
	s, url := start(t, server.Options{File: file})
	inv := invoice(t, "10.00", "EUR")
	issue(t, connect(t, s, url, "unique"), "INV-1", inv)
	issue(t, connect(t, s, url, "blind"), "INV-2", inv)
	issue(t, connect(t, s, url, "blind"), "INV-2", inv)
	issue(t, connect(t, s, url, "keys"), "INV-3", inv)

	// A kill in the middle of a line: the copy ends in half a line.
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(t.TempDir(), "torn.jsonl")
	if err := os.WriteFile(torn, append(whole, []byte(`{"effect":"created","books":"unique","id":"inv_0000`)...), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := server.Audit(torn)
	if err != nil {
		t.Fatal(err)
	}
	if r.Records != 4 || r.Effects[server.EffectKey{Books: "unique", Reference: "INV-1", Step: "post"}] != 1 ||
		len(r.Duplicates) != 2 || r.Duplicates[0] != (server.EffectKey{Books: "blind", Reference: "INV-2", Step: "create"}) {
		t.Errorf("%+v", r)
	}

	again, url2 := start(t, server.Options{File: torn})
	if n := len(again.Records("blind", "INV-2")); n != 2 {
		t.Errorf("%d records after the restart", n)
	}
	if a := ledger.DoSend(t.Context(), connect(t, again, url2, "unique"), request(sandbox.StepCreate, "INV-1", inv), nil); a.Outcome != work.AlreadyExists {
		t.Errorf("unique after the restart: %+v", a)
	}
	replay := ledger.DoSend(t.Context(), connect(t, again, url2, "keys"), request(sandbox.StepCreate, "INV-3", inv), nil)
	if replay.Outcome != work.Accepted || len(again.Records("keys", "INV-3")) != 1 {
		t.Errorf("the key was forgotten over the restart: %+v", replay)
	}
	if _, err := server.Audit(torn); err != nil {
		t.Errorf("the torn line was not cut off: %v", err)
	}
}

func TestThePlanDependsOnTheSeedNotOnTheOrder(t *testing.T) {
	hits := func(references []string) map[string]work.Outcome {
		s, url := start(t, server.Options{Plan: server.Plan{Seed: 7, Rules: []server.Rule{{Fault: server.Reject, Kind: server.Create, Probability: 0.5}}}})
		c := connect(t, s, url, "unique")
		got := map[string]work.Outcome{}
		for _, reference := range references {
			got[reference] = ledger.DoSend(t.Context(), c, request(sandbox.StepCreate, reference, invoice(t, "1.00", "EUR")), nil).Outcome
		}
		return got
	}
	one, two := hits([]string{"A", "B", "C", "D", "E", "F", "G", "H"}), hits([]string{"H", "G", "F", "E", "D", "C", "B", "A"})
	rejected := 0
	for reference, outcome := range one {
		if two[reference] != outcome {
			t.Errorf("%s: %s and %s", reference, outcome, two[reference])
		}
		if outcome == work.Rejected {
			rejected++
		}
	}
	if rejected == 0 || rejected == len(one) {
		t.Errorf("%d of %d rejected", rejected, len(one))
	}
}

func TestAProcessOfItsOwnStopsCleanly(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ready := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		done <- server.Run(ctx, "127.0.0.1:0", server.Options{Ready: func(url string) { ready <- url }})
	}()
	var url string
	select {
	case url = <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	c, err := sandbox.New(sandbox.Config{BaseURL: url + "/unique", Personality: sandbox.Unique})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Identity(t.Context()); err != nil {
		t.Error(err)
	}
	c.Close()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
