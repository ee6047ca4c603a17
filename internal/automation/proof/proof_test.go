package proof_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/proof"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/work"
)

// Each kind of books that the sandbox can be, as it is declared: whatever happens, never two records under one reference
// but where the repeat is the test.
func TestTheSandboxIsProven(t *testing.T) {
	for name, c := range map[string]struct {
		personality sandbox.Personality
		state       proof.State
		want        map[string]string
		seen        work.Seen
	}{
		"search": {sandbox.Search, proof.Proven, map[string]string{proof.Nothing: "passed nothing/missed", proof.Found: "passed found/found", proof.Same: "passed same/same",
			proof.Repeat: "not_possible repeat/not_declared", proof.Unique: "not_possible unique/not_declared", proof.Lost: "passed lost/confirmed",
			proof.Refused: "passed refused/limit", proof.Cleaning: "passed cleaning/left"}, work.Seen{Search: true}},
		"unique": {sandbox.Unique, proof.Proven, map[string]string{proof.Unique: "passed unique/refused", proof.Lost: "passed lost/confirmed", proof.Refused: "passed refused/limit"}, work.Seen{Search: true}},
		"keys": {sandbox.Keys, proof.Proven, map[string]string{proof.Nothing: "not_possible nothing/unsearchable", proof.Repeat: "passed repeat/recognised", proof.Lost: "passed lost/by_key",
			proof.Refused: "passed refused/limit/unsearchable"}, work.Seen{Keys: true}},
		"blind": {sandbox.Blind, proof.NotPossible, map[string]string{proof.Lost: "not_possible lost/person", proof.Refused: "passed refused/limit/unsearchable"}, work.Seen{}},
	} {
		for _, single := range []string{"false", "true"} {
			t.Run(name+"/single_step="+single, func(t *testing.T) {
				w := newWorld(t)
				w.sandbox(c.personality, map[string]string{"single_step": single})
				r := w.prove(wish())
				wants(t, r, c.state, c.want)
				for _, ref := range r.References {
					most := 1
					if strings.Contains(ref, "Never") || strings.Contains(ref, "Refused") {
						most = 0
					}
					if n := len(w.outside.Records("books", ref)); n > most {
						t.Errorf("%d records under %s", n, ref)
					}
				}
				sys := w.system()
				want := work.Seen{}
				if c.state == proof.Proven {
					want = c.seen
					want.On = sys.Reached()
				}
				if sys.Seen != want || r.Offer != (work.Caution{}) {
					t.Errorf("seen %+v, offered %+v", sys.Seen, r.Offer)
				}
				if items, err := w.store.Counts(t.Context(), 1); err != nil || len(nonzero(items)) > 0 {
					t.Errorf("the proof is among the firm's items: %v %v", items, err)
				}
			})
		}
	}
}

func nonzero[K comparable](m map[K]int64) map[K]int64 {
	out := map[K]int64{}
	for k, n := range m {
		if n != 0 {
			out[k] = n
		}
	}
	return out
}

// A system that is not what it declares is caught, and only the more cautious value is offered. Once that is stored the
// system is proven with it.
func TestALiarIsCaught(t *testing.T) {
	searchable := work.Capabilities{Searchable: true, SearchLag: 2 * time.Second, Linger: 30 * time.Second, Misses: 2}
	keyed := work.Capabilities{HonoursKeys: true, KeyLifetime: 24 * time.Hour, Linger: 30 * time.Second}
	for name, c := range map[string]struct {
		caps  work.Capabilities
		lie   func(*fake)
		step  string
		says  string
		offer func(work.Caution) bool
		then  proof.State
		most  int // records under the reference whose answer is lost
	}{
		"keys are forgotten": {keyed, func(*fake) {}, proof.Repeat, "failed repeat/second", func(k work.Caution) bool { return k == work.Caution{NoKeys: true} }, proof.NotPossible, 1},
		"the search lags longer": {searchable, func(f *fake) { f.lag = 45 * time.Second }, proof.Found, "failed found/late",
			func(k work.Caution) bool {
				k2 := k
				k2.SearchLag = 0
				return k2 == work.Caution{} && k.SearchLag > 45*time.Second
			}, proof.Proven, 1},
		"references in capitals": {searchable, func(f *fake) { f.upper = true }, proof.Same, "failed same/reference", func(k work.Caution) bool { return k == work.Caution{Plain: true} }, proof.Proven, 1},
		"drafts are hidden": {searchable, func(f *fake) { f.hidesDrafts, f.steps = true, []string{"create", "post"} }, proof.Found, "failed found/never",
			func(k work.Caution) bool { return k == work.Caution{NoSearch: true} }, proof.NotPossible, 1},
		"it finds what never existed": {searchable, func(f *fake) { f.finds = true }, proof.Nothing, "failed nothing/finds",
			func(k work.Caution) bool { return k == work.Caution{NoSearch: true} }, proof.NotPossible, 1},
		"references are not unique": {func() work.Capabilities { c := searchable; c.UniqueReferences = true; return c }(), func(*fake) {}, proof.Unique, "failed unique/second",
			func(k work.Caution) bool { return k == work.Caution{NotUnique: true} }, proof.Proven, 1},
		"nothing is refused":    {searchable, func(f *fake) { f.refuses = false }, proof.Refused, "failed refused/taken", func(k work.Caution) bool { return k == work.Caution{} }, proof.Failed, 1},
		"no answer can be lost": {searchable, func(f *fake) { f.deaf = true }, proof.Lost, "failed lost/not_lost", func(k work.Caution) bool { return k == work.Caution{} }, proof.Failed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fake.caps, w.fake.refuses = c.caps, true
			c.lie(w.fake)
			w.adapter.Typed = true
			w.declare()
			r := w.prove(wish())
			wants(t, r, proof.Failed, map[string]string{c.step: c.says})
			if !c.offer(r.Offer) {
				t.Errorf("it offers %+v", r.Offer)
			}
			if n := w.fake.count("-LOST"); n > c.most {
				t.Errorf("%d records under the reference whose answer was lost", n)
			}
			if sys := w.system(); sys.Seen != (work.Seen{}) || sys.ReliedOn().HonoursKeys || sys.ReliedOn().Searchable {
				t.Errorf("a proof that failed is relied on: %+v", sys)
			}
			if sys := w.system(); sys.Caution != (work.Caution{}) {
				t.Fatalf("nobody stored it: %+v", sys.Caution)
			}
			w.must(w.service.Adopt(t.Context(), boss, r.ID))
			w.must(w.service.Adopt(t.Context(), boss, r.ID))
			if sys := w.system(); sys.Caution != r.Offer {
				t.Fatalf("stored %+v, offered %+v", sys.Caution, r.Offer)
			}
			again := w.prove(wish())
			if again.State != c.then {
				wants(t, again, c.then, nil)
			}
		})
	}
}

// A record that the run made is taken back where the system can, and else it is listed.
func TestWhatARunMadeIsTakenBackOrTold(t *testing.T) {
	w := newWorld(t)
	w.fake.refuses, w.fake.removes = true, true
	w.declare()
	r := w.prove(wish())
	wants(t, r, proof.Proven, map[string]string{proof.Cleaning: "passed cleaning/all"})
	for _, h := range w.fake.held {
		if h.State != work.StateVoid {
			t.Errorf("%+v is still there", h)
		}
	}
	w.fake.removes = false
	r = w.prove(wish())
	wants(t, r, proof.Proven, map[string]string{proof.Cleaning: "passed cleaning/left"})
	if len(r.Left) != 2 || r.Left[0].ID == "" || r.Left[0].Reference == "" {
		t.Errorf("left: %+v", r.Left)
	}
}

// On live books nothing is issued, and nothing at all is made without the typed name of the system.
func TestLiveBooksTakeDraftsOnlyAndConsent(t *testing.T) {
	w := newWorld(t)
	w.fake.refuses, w.fake.steps = true, []string{"create", "post"}
	w.adapter.TestBooks, w.adapter.Drafts = nil, true
	w.declare()
	for _, consent := range []string{"", "yes", "books", "acme's books"} {
		bad := wish()
		bad.Consent = consent
		_, err := w.service.Begin(t.Context(), boss, "books", bad)
		if why, ok := proof.IsWhy(err); !ok || why.Code != proof.WhyConsent {
			t.Errorf("%q: %v", consent, err)
		}
	}
	ok := wish()
	ok.Consent = "Acme's books"
	r := w.prove(ok)
	wants(t, r, proof.Proven, map[string]string{proof.Lost: "passed lost/confirmed"})
	if !r.Live || len(w.fake.held) == 0 {
		t.Error("it says that these are test books, or made nothing")
	}
	for _, h := range w.fake.held {
		if h.State != work.StateDraft {
			t.Errorf("issued in live books: %+v", h)
		}
	}
	w.adapter.Drafts = false
	w.declare()
	before := len(w.fake.held)
	_, err := w.service.Begin(t.Context(), boss, "books", ok)
	if why, is := proof.IsWhy(err); !is || why.Code != proof.WhyNoDrafts || len(w.fake.held) != before {
		t.Errorf("without drafts: %v", err)
	}
}

// Only admins begin, see and adopt; bad input is named; a paused system is left alone; one run at a time.
func TestWhoMayProveWhat(t *testing.T) {
	w := newWorld(t)
	w.fake.refuses = true
	w.declare()
	ctx := t.Context()
	for _, by := range []work.Actor{{}, {Kind: work.Person, ID: "3", Roles: []work.Role{work.Operator, work.Ops}}, {Kind: work.Token, ID: "1", Roles: []work.Role{work.Admin}}} {
		_, planErr := w.service.Plan(ctx, by, "books")
		_, beginErr := w.service.Begin(ctx, by, "books", wish())
		_, oneErr := w.service.One(ctx, by, 1)
		_, earlierErr := w.service.Earlier(ctx, by, "books")
		for _, err := range []error{planErr, beginErr, oneErr, earlierErr, w.service.Adopt(ctx, by, 1)} {
			if !errors.Is(err, automation.ErrNotAdmin) {
				t.Errorf("%+v may: %v", by, err)
			}
		}
	}
	for code, bad := range map[string]proof.Wish{
		proof.WhyCustomer: {Currency: "EUR"},
		proof.WhyAmount:   {Customer: "C", Currency: "XXY"},
	} {
		_, err := w.service.Begin(ctx, boss, "books", bad)
		if why, ok := proof.IsWhy(err); !ok || why.Code != code {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, amount := range []string{"0", "-1", "one", "1.001"} {
		_, err := w.service.Begin(ctx, boss, "books", proof.Wish{Customer: "C", Currency: "EUR", Amount: amount})
		if why, ok := proof.IsWhy(err); !ok || why.Code != proof.WhyAmount {
			t.Errorf("%s: %v", amount, err)
		}
	}
	w.must(w.store.Pause(ctx, "books", boss, "month end"))
	_, err := w.service.Begin(ctx, boss, "books", wish())
	if why, ok := proof.IsWhy(err); !ok || why.Code != proof.WhyPaused {
		t.Errorf("paused: %v", err)
	}
	w.must(w.store.Resume(ctx, "books", boss, ""))
	_, err = w.service.Begin(ctx, boss, "books", wish())
	w.must(err)
	if _, err = w.service.Begin(ctx, boss, "books", wish()); !errors.Is(err, proof.ErrRunning) {
		t.Errorf("twice at once: %v", err)
	}
	if len(w.fake.held) != 0 {
		t.Error("something was sent before the run")
	}
}

// A run whose server stops, or is lost, is never begun again: it says under which references to look.
func TestARunThatIsCutOffIsNotBegunAgain(t *testing.T) {
	w := newWorld(t)
	w.fake.refuses = true
	w.declare()
	ctx, stop := context.WithCancel(t.Context())
	w.fake.stop = stop
	r, err := w.service.Begin(t.Context(), boss, "books", wish())
	w.must(err)
	if err := w.runner.RunOnce(ctx); err != nil {
		t.Logf("it ended with %v", err)
	}
	w.fake.stop = nil
	r, err = w.service.One(t.Context(), boss, r.ID)
	w.must(err)
	if r.State != proof.Interrupted || r.EndedAt.IsZero() || len(r.References) == 0 {
		t.Fatalf("%s %v", r.State, r.References)
	}
	made := len(w.fake.held)
	w.must(w.runner.RunOnce(t.Context()))
	if len(w.fake.held) != made {
		t.Error("it was begun again")
	}

	// Lost with its server: another one ends it once it has not written for long enough.
	lost, err := w.service.Begin(t.Context(), boss, "books", wish())
	w.must(err)
	_, taken, err := w.store.TakeProof(t.Context(), lost.ID, "lost", time.Minute)
	if w.must(err); !taken {
		t.Fatal("not taken")
	}
	w.must(w.runner.RunOnce(t.Context()))
	if lost, err = w.service.One(t.Context(), boss, lost.ID); err != nil || lost.State != proof.Running {
		t.Fatalf("%s %v", lost.State, err)
	}
	w.clock.advance(2 * time.Minute)
	w.must(w.runner.RunOnce(t.Context()))
	if lost, err = w.service.One(t.Context(), boss, lost.ID); err != nil || lost.State != proof.Interrupted || len(w.fake.held) != made {
		t.Fatalf("%s %v", lost.State, err)
	}
	if err := w.store.SaveProof(t.Context(), &lost, "lost", time.Minute); !errors.Is(err, proof.ErrLost) {
		t.Errorf("the lost server goes on: %v", err)
	}
}

// A system that an admin described is relied on only as it was proven: after a change of its connection it is not.
func TestAnotherConnectionWasNeverProven(t *testing.T) {
	w := newWorld(t)
	w.fake.refuses, w.adapter.Typed = true, true
	w.declare()
	if w.system().ReliedOn().Searchable {
		t.Fatal("relied on before any proof")
	}
	wants(t, w.prove(wish()), proof.Proven, nil)
	if !w.system().ReliedOn().Searchable {
		t.Fatal("proven, and not relied on")
	}
	if last, err := w.service.Latest(t.Context()); err != nil || last["books"].State != proof.Proven {
		t.Errorf("%+v %v", last, err)
	}
	sys := w.system()
	sys.Address = "https://elsewhere.example.com"
	w.must(w.store.DeclareSystem(t.Context(), sys))
	if w.system().ReliedOn().Searchable {
		t.Error("what was seen elsewhere is relied on")
	}
	if last, err := w.service.Latest(t.Context()); err != nil || len(last) != 0 {
		t.Errorf("%+v %v", last, err)
	}
}

// Every step is told as it begins and as it ends.
func TestEachStepIsTold(t *testing.T) {
	w := newWorld(t)
	w.fake.refuses = true
	w.declare()
	w.prove(wish())
	if len(w.told) != 2*len(proof.StepNames) || w.told[0] != "books running" || w.told[len(w.told)-1] != "cleaning passed" {
		t.Errorf("%q", w.told)
	}
}
