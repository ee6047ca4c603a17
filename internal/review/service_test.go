package review_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func actor(kind work.ActorKind, id, name string, roles ...work.Role) work.Actor {
	return work.Actor{Kind: kind, ID: id, Name: name, Roles: roles}
}

var (
	ada    = actor(work.Person, "ada", "Ada Brown", work.Operator)
	ben    = actor(work.Person, "ben", "Ben Stone", work.Operator)
	viewer = actor(work.Person, "vera", "Vera Look", work.Viewer)
	ops    = actor(work.Person, "otto", "Otto Ops", work.Ops)
	token  = actor(work.Token, "api", "API", work.Operator)
)

const looked = "I looked in Books under the reference: it is not there."

// each runs the test on both databases.
func each(t *testing.T, test func(t *testing.T, w *rt.World, s *review.Service), set ...func(*work.System)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db, set...)
		test(t, w, review.New(w.Store, 1))
	})
}

// seen is the item as it is on somebody's page now.
func seen(w *rt.World, id int64) review.Seen {
	return review.Seen{ID: id, Version: w.Get(id).Version, At: w.Clock()}
}

// unsearchable is an item in review whose system cannot be searched.
func unsearchable(s *work.System) { s.Capabilities = work.Capabilities{Linger: 2 * time.Minute} }

// held is an item that a person stopped before it was sent.
func held(w *rt.World, key string) int64 {
	id := w.One(key)
	w.Happen(id, work.Hold{By: ben, Note: "wait"})
	return id
}

// uncertain is an item in review that was sent, with no answer, and could not be looked up.
func uncertain(w *rt.World, key string) int64 {
	id := w.One(key)
	w.Send(id, rt.NoAnswer)
	w.Until(id, func() { w.Find(id, rt.CannotTell) })
	return id
}

func TestEveryAction(t *testing.T) {
	note := review.Input{Note: "A note that is long enough."}
	corrected := rt.Invoice("Acme Holdings Ltd", rt.Money(t, "1300.00", "EUR"))
	cases := []struct {
		name   string
		item   func(w *rt.World) int64
		action review.Action
		in     review.Input
		want   work.Status
	}{
		{"check of a waiting item", func(w *rt.World) int64 { return w.One("K") }, review.Check, review.Input{}, work.Queued},
		{"retry of a refused one", func(w *rt.World) int64 { id := w.One("K"); w.Until(id, func() { w.Send(id, rt.Refused) }); return id }, review.Retry, review.Input{}, work.Queued},
		{"hold", func(w *rt.World) int64 { return w.One("K") }, review.Hold, note, work.Review},
		{"resolve", func(w *rt.World) int64 { return held(w, "K") }, review.Resolve, review.Input{Note: "by hand", Reference: "INV/1"}, work.Resolved},
		{"close", func(w *rt.World) int64 { return held(w, "K") }, review.Close, review.Input{Note: note.Note, Why: "mistake"}, work.Closed},
		{"correct", func(w *rt.World) int64 { return held(w, "K") }, review.Correct, review.Input{Note: note.Note, Invoice: &corrected}, work.Queued},
		{"note", func(w *rt.World) int64 { return w.One("K") }, review.Note, note, work.Queued},
		{"attest", func(w *rt.World) int64 { return uncertain(w, "K") }, review.Attest, review.Input{Note: looked}, work.Queued},
		{"reopen", func(w *rt.World) int64 { id := held(w, "K"); w.Happen(id, work.Close{By: ben, Note: "no"}); return id }, review.Reopen, note, work.Review},
		{"assign", func(w *rt.World) int64 { return w.One("K") }, review.Assign, review.Input{To: "Ada Brown"}, work.Queued},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := rt.New(t, storetest.SQLite(t))
			s := review.New(w.Store, 1)
			id := c.item(w)
			before := w.Get(id)
			done, err := s.Act(t.Context(), ada, c.action, seen(w, id), c.in)
			if err != nil {
				t.Fatal(err)
			}
			it := w.Get(id)
			if it.Status != c.want || it.Version != before.Version+1 || done.Again {
				t.Errorf("status %s, version %d after %d, again %v", it.Status, it.Version, before.Version, done.Again)
			}
			acts, err := w.Acts(t.Context(), id, 10)
			if err != nil || len(acts) == 0 {
				t.Fatalf("no act was kept: %v", err)
			}
			if a := acts[0]; a.What != string(c.action) || !a.By.Same(ada) || a.From != before.Status || a.To != c.want || a.Note != c.in.Note {
				t.Errorf("the act is %+v", a)
			}
		})
	}
}

func TestEveryRefusal(t *testing.T) {
	is := func(code work.RefusalCode) func(error) bool {
		return func(err error) bool {
			var r *work.Refusal
			return errors.As(err, &r) && r.Code == code
		}
	}
	forbidden := func(err error) bool { return errors.Is(err, review.ErrForbidden) }
	one := func(w *rt.World) int64 { return w.One("K") }
	stopped := func(w *rt.World) int64 { return held(w, "K") }
	unknown := func(w *rt.World) int64 { return uncertain(w, "K") }
	confirmed := func(w *rt.World) int64 { id := w.One("K"); w.Send(id, rt.AcceptedAs(1)); return id }
	approval := func(s *work.System) { limit := rt.Money(t, "10", "EUR"); s.Policy.ApprovalLimit = &limit }
	rita := rt.Recorder
	same, corrected := rt.Invoice("Acme Holdings Ltd", rt.Money(t, "1200.00", "EUR")), rt.Invoice("Acme Holdings Ltd", rt.Money(t, "1300.00", "EUR"))
	cases := []struct {
		name   string
		item   func(w *rt.World) int64
		by     work.Actor
		action review.Action
		in     review.Input
		want   func(error) bool
		set    func(*work.System)
	}{
		{"viewers only read", one, viewer, review.Check, review.Input{}, forbidden, nil},
		{"ops only read items", one, ops, review.Retry, review.Input{}, forbidden, nil},
		{"nobody may do nothing", one, work.Actor{}, review.Check, review.Input{}, forbidden, nil},
		{"there is no such item", func(*rt.World) int64 { return 4711 }, ada, review.Check, review.Input{}, func(err error) bool { return errors.Is(err, review.ErrNotFound) }, nil},
		{"a send is under way", func(w *rt.World) int64 { id := w.One("K"); w.Claim(id); return id }, ada, review.Retry, review.Input{}, is(work.RefusedOpen), nil},
		{"a check while a send is under way", func(w *rt.World) int64 { id := w.One("K"); w.Claim(id); return id }, ada, review.Check, review.Input{}, is(work.RefusedOpen), nil},
		{"a confirmed one is not sent", confirmed, ada, review.Retry, review.Input{}, is(work.RefusedFound), nil},
		{"an unknown one is not sent", unknown, ada, review.Retry, review.Input{}, is(work.RefusedUnknown), nil},
		{"nor while the automation looks", func(w *rt.World) int64 { id := w.One("K"); w.Send(id, rt.NoAnswer); return id }, ada, review.Retry, review.Input{}, is(work.RefusedUnknown), nil},
		{"a found one is not attested away", func(w *rt.World) int64 {
			id := w.One("K")
			w.Send(id, rt.NoAnswer)
			w.Find(id, rt.FoundOther(1))
			return id
		}, ada, review.Attest, review.Input{Note: looked}, is(work.RefusedFound), nil},
		{"a token cannot attest", unknown, token, review.Attest, review.Input{Note: looked}, is(work.RefusedPerson), nil},
		{"an attestation needs a sentence", unknown, ada, review.Attest, review.Input{Note: "not there"}, is(work.RefusedNote), nil},
		{"an attestation needs time", func(w *rt.World) int64 { id := w.One("K"); w.Send(id, rt.NoAnswer); return id }, ada, review.Attest, review.Input{Note: looked}, is(work.RefusedSettling), unsearchable},
		{"what cannot be searched is not checked", one, ada, review.Check, review.Input{}, is(work.RefusedUnsearched), unsearchable},
		{"look first", one, ada, review.Retry, review.Input{}, is(work.RefusedLookFirst), func(s *work.System) { s.LookFirst = time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC) }},
		{"only review is resolved", one, ada, review.Resolve, review.Input{Reference: "1", Note: "n"}, is(work.RefusedStatus), nil},
		{"resolving needs a reference", stopped, ada, review.Resolve, review.Input{Reference: " ", Note: "n"}, is(work.RefusedReference), nil},
		{"resolving needs a note", stopped, ada, review.Resolve, review.Input{Reference: "1", Note: " \x00"}, is(work.RefusedNote), nil},
		{"only review is closed", one, ada, review.Close, review.Input{Note: "n"}, is(work.RefusedStatus), nil},
		{"closing needs a note", stopped, ada, review.Close, review.Input{Why: "other"}, is(work.RefusedNote), nil},
		{"closing needs a reason", stopped, ada, review.Close, review.Input{Note: "n"}, is(review.RefusedWhy), nil},
		{"closing needs a reason of the list", stopped, ada, review.Close, review.Input{Note: "n", Why: work.TurnedDown}, is(review.RefusedWhy), nil},
		{"only what waits for approval is turned down", stopped, ada, review.TurnDown, review.Input{Note: "n"}, is(work.RefusedStatus), nil},
		{"turned down, but not by who recorded it", one, rita, review.TurnDown, review.Input{Note: "n"}, is(work.RefusedOwn), approval},
		{"a note needs a text", one, ada, review.Note, review.Input{}, is(work.RefusedNote), nil},
		{"a correction without an invoice", stopped, ada, review.Correct, review.Input{}, is(work.RefusedInvalidItem), nil},
		{"a correction that changes nothing", stopped, ada, review.Correct, review.Input{Invoice: &same}, is(work.RefusedUnchanged), nil},
		{"what was found is not corrected", func(w *rt.World) int64 {
			id := w.One("K")
			w.Send(id, rt.NoAnswer)
			w.Find(id, rt.FoundOther(1))
			return id
		}, ada, review.Correct, review.Input{Invoice: &corrected}, is(work.RefusedFound), nil},
		{"holding needs a note", one, ada, review.Hold, review.Input{}, is(work.RefusedNote), nil},
		{"only waiting ones are held", stopped, ada, review.Hold, review.Input{Note: "n"}, is(work.RefusedStatus), nil},
		{"only settled ones are reopened", one, ada, review.Reopen, review.Input{Note: "n"}, is(work.RefusedStatus), nil},
		{"only what needs approval is approved", stopped, ada, review.Approve, review.Input{}, is(work.RefusedStatus), nil},
		{"not by who recorded it", one, rita, review.Approve, review.Input{}, is(work.RefusedOwn), approval},
		{"not by a token", one, token, review.Approve, review.Input{}, is(work.RefusedPerson), approval},
		{"approval is not a retry", one, ada, review.Retry, review.Input{}, is(work.RefusedApproval), approval},
		{"nor an attestation", one, ada, review.Attest, review.Input{Note: looked}, is(work.RefusedApproval), approval},
		{"another item's record", func(w *rt.World) int64 { w.Send(w.One("other"), rt.AcceptedAs(1)); return held(w, "K") }, ada, review.Resolve, review.Input{Reference: rt.Record(1).ID, Note: "n"}, is(review.RefusedTaken), nil},
		{"too long a note", stopped, ada, review.Close, review.Input{Why: "other", Note: strings.Repeat("ä", review.MaxNote+1)}, is(review.RefusedTooLong), nil},
		{"no such action", stopped, ada, review.Action("explode"), review.Input{}, is(work.RefusedStatus), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var set []func(*work.System)
			if c.set != nil {
				set = append(set, c.set)
			}
			w := rt.New(t, storetest.SQLite(t), set...)
			s := review.New(w.Store, 1)
			id := c.item(w)
			at := review.Seen{ID: id, At: w.Clock()}
			var before work.Item
			if id != 4711 {
				before = w.Get(id)
				at.Version = before.Version
			}
			if _, err := s.Act(t.Context(), c.by, c.action, at, c.in); !c.want(err) {
				t.Fatalf("not refused as it should be: %v", err)
			}
			if id != 4711 && w.Get(id).Version != before.Version {
				t.Error("the item changed")
			}
		})
	}
}

func TestAnotherCompanysItemIsNotThere(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	id := w.One("K")
	other := review.New(w.Store, 2)
	if _, err := other.Act(t.Context(), ada, review.Check, seen(w, id), review.Input{}); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("acting: %v", err)
	}
	if _, err := other.Detail(t.Context(), ada, id, review.Place{}); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("reading: %v", err)
	}
	page, err := other.Search(t.Context(), ada, review.Query{Text: "K"})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("searching: %v %v", page.Items, err)
	}
}

func TestReadingNeedsARole(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	s := review.New(w.Store, 1)
	id := w.One("K")
	nobody := actor(work.Person, "x", "X")
	_, err1 := s.Search(t.Context(), nobody, review.Query{})
	_, err2 := s.Detail(t.Context(), nobody, id, review.Place{})
	_, err3 := s.Counts(t.Context(), nobody)
	_, err4 := review.NewSystems(w.Store).List(t.Context(), nobody)
	for _, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, review.ErrForbidden) {
			t.Errorf("let in: %v", err)
		}
	}
	for _, by := range []work.Actor{viewer, ops, ada} {
		if _, err := s.Detail(t.Context(), by, id, review.Place{}); err != nil {
			t.Errorf("%s: %v", by.Name, err)
		}
	}
}

// Five posts of one form have one effect and one answer.
func TestTrial104_FormHonouredOnce(t *testing.T) {
	each(t, func(t *testing.T, w *rt.World, s *review.Service) {
		id := w.One("K")
		w.Until(id, func() { w.Send(id, rt.Refused) })
		form := seen(w, id)
		var wg sync.WaitGroup
		dones, errs := make([]review.Done, 5), make([]error, 5)
		for i := range dones {
			wg.Go(func() { dones[i], errs[i] = s.Act(context.Background(), ada, review.Retry, form, review.Input{}) })
		}
		wg.Wait()
		first := 0
		for i := range dones {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if !dones[i].Again {
				first++
			}
			if !dones[i].At.Equal(dones[0].At) {
				t.Errorf("two answers: %v and %v", dones[0].At, dones[i].At)
			}
		}
		acts, err := w.Acts(t.Context(), id, 10)
		if err != nil || first != 1 || len(acts) != 1 || w.Get(id).Version != form.Version+1 {
			t.Errorf("%d effects, %d acts, %v", first, len(acts), err)
		}
	})
}

// A spent form is recognised also after the automation went on.
func TestTrial105_OldFormIsSpent(t *testing.T) {
	each(t, func(t *testing.T, w *rt.World, s *review.Service) {
		id := w.One("K")
		w.Until(id, func() { w.Send(id, rt.Refused) })
		form := seen(w, id)
		first, err := s.Act(t.Context(), ada, review.Retry, form, review.Input{})
		if err != nil {
			t.Fatal(err)
		}
		w.Send(id, rt.Refused)
		version := w.Get(id).Version
		again, err := s.Act(t.Context(), ada, review.Retry, form, review.Input{})
		if err != nil || !again.Again || !again.At.Equal(first.At) || w.Get(id).Version != version {
			t.Errorf("%+v %v", again, err)
		}
		// An older decision of the same kind does not swallow a new one that came too late.
		w.Later(time.Minute)
		page := seen(w, id)
		w.Happen(id, work.Hold{By: ben, Note: "stop"})
		var conflict *review.Conflict
		if _, err := s.Act(t.Context(), ada, review.Retry, page, review.Input{}); !errors.As(err, &conflict) || conflict.Act == nil || conflict.Act.By.Name != "Ben Stone" {
			t.Errorf("taken for the old form: %v", err)
		}
	})
}

func TestTrial109_TheSecondIsToldWhoWasFaster(t *testing.T) {
	each(t, func(t *testing.T, w *rt.World, s *review.Service) {
		id := uncertain(w, "K")
		page := seen(w, id)
		w.Later(2 * time.Minute)
		at := w.Clock()
		if _, err := s.Act(t.Context(), ada, review.Resolve, page, review.Input{Reference: "INV/7", Note: "it is there"}); err != nil {
			t.Fatal(err)
		}
		sends := w.Get(id).Sends
		_, err := s.Act(t.Context(), ben, review.Attest, page, review.Input{Note: looked})
		var c *review.Conflict
		if !errors.As(err, &c) || c.Act == nil || !c.Act.By.Same(ada) || !c.At().Equal(at) || c.Item.Status != work.Resolved {
			t.Fatalf("told %v", err)
		}
		if !strings.Contains(err.Error(), "already handled by Ada Brown") {
			t.Errorf("says %q", err)
		}
		if it := w.Get(id); it.Status != work.Resolved || it.Sends != sends {
			t.Errorf("it is %s", it.Status)
		}
	})
}

func TestConflictWithTheAutomationNamesWhatItDid(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	s := review.New(w.Store, 1)
	id := w.One("K")
	page := seen(w, id)
	w.Send(id, rt.NoAnswer)
	_, err := s.Act(t.Context(), ada, review.Hold, page, review.Input{Note: "n"})
	var c *review.Conflict
	if !errors.As(err, &c) || c.Attempt == nil || c.Attempt.Kind != work.Send || c.Act != nil {
		t.Fatalf("told %v", err)
	}
}

// What is offered is what is honoured, for every action in many states.
func TestOfferAndActAgree(t *testing.T) {
	states := map[string]func(w *rt.World, key string) int64{
		"queued": func(w *rt.World, key string) int64 { return w.One(key) }, "held": func(w *rt.World, key string) int64 { return held(w, key) },
		"unknown":   func(w *rt.World, key string) int64 { return uncertain(w, key) },
		"pending":   func(w *rt.World, key string) int64 { id := w.One(key); w.Send(id, rt.NoAnswer); return id },
		"failed":    func(w *rt.World, key string) int64 { id := w.One(key); w.Send(id, rt.Refused); return id },
		"confirmed": func(w *rt.World, key string) int64 { id := w.One(key); w.Send(id, rt.AcceptedAs(int(id))); return id },
		"mismatch": func(w *rt.World, key string) int64 {
			id := w.One(key)
			w.Send(id, rt.NoAnswer)
			w.Find(id, rt.FoundOther(int(id)))
			return id
		},
		"sending": func(w *rt.World, key string) int64 { id := w.One(key); w.Claim(id); return id },
	}
	for name, state := range states {
		w := rt.New(t, storetest.SQLite(t))
		s := review.New(w.Store, 1)
		for _, by := range []work.Actor{ada, token, viewer} {
			for _, a := range review.Actions {
				id := state(w, by.Name+" "+string(a))
				d, err := s.Detail(t.Context(), by, id, review.Place{})
				if err != nil {
					t.Fatal(err)
				}
				other := d.Item.Invoice
				other.Note = "corrected"
				i := slices.IndexFunc(d.Offers, func(o review.Offered) bool { return o.Action == a })
				_, err = s.Act(t.Context(), by, a, seen(w, id), review.Input{Note: looked, Reference: "x" + strconv.FormatInt(id, 10), Why: "other", Invoice: &other})
				if (err == nil) != (d.Offers[i].Refusal == nil) {
					t.Errorf("%s, %s, %s: offered %v, answered %v", name, by.Name, a, d.Offers[i].Refusal, err)
				}
				if d.Offers[i].Main && d.Offers[i].Refusal != nil {
					t.Errorf("%s: the main action %s is refused", name, a)
				}
			}
		}
	}
}

func TestWhatFitsBest(t *testing.T) {
	for want, state := range map[review.Action]func(w *rt.World) int64{
		review.Retry: func(w *rt.World) int64 { id := w.One("K"); w.Until(id, func() { w.Send(id, rt.Refused) }); return id },
		review.Check: func(w *rt.World) int64 { return uncertain(w, "K") },
		review.Resolve: func(w *rt.World) int64 {
			id := w.One("K")
			w.Send(id, rt.NoAnswer)
			w.Find(id, rt.FoundOther(1))
			return id
		},
		review.Reopen: func(w *rt.World) int64 { id := held(w, "K"); w.Happen(id, work.Close{By: ben, Note: "no"}); return id },
	} {
		w := rt.New(t, storetest.SQLite(t))
		d, err := review.New(w.Store, 1).Detail(t.Context(), ada, state(w), review.Place{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range d.Offers {
			if o.Main != (o.Action == want) {
				t.Errorf("for %s: %s main %v", want, o.Action, o.Main)
			}
		}
	}
}

func TestSystemsRights(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	s := review.NewSystems(w.Store)
	admin := actor(work.Person, "root", "Root", work.Admin)
	state := func() work.System {
		list, err := s.List(t.Context(), viewer)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v %v", list, err)
		}
		return list[0].System
	}
	for _, by := range []work.Actor{viewer, ada} {
		if err := s.Pause(t.Context(), by, rt.SystemID, "x"); !errors.Is(err, review.ErrForbidden) {
			t.Errorf("%s pauses: %v", by.Name, err)
		}
	}
	if err := s.Pause(t.Context(), ops, rt.SystemID, "month end"); err != nil || state().PausedAt.IsZero() || state().PauseReason != "month end" {
		t.Fatalf("%v %+v", err, state())
	}
	if err := s.Resume(t.Context(), ada, rt.SystemID, ""); !errors.Is(err, review.ErrForbidden) || state().PausedAt.IsZero() {
		t.Errorf("an operator resumes: %v", err)
	}
	if err := s.Resume(t.Context(), ops, rt.SystemID, ""); err != nil || !state().PausedAt.IsZero() {
		t.Errorf("%v", err)
	}
	if err := w.StartLookFirst(t.Context(), rt.SystemID, "test"); err != nil {
		t.Fatal(err)
	}
	adminToken := actor(work.Token, "api", "API", work.Admin)
	for _, by := range []work.Actor{ops, ada, adminToken} {
		if err := s.EndLookFirst(t.Context(), by, rt.SystemID, ""); !errors.Is(err, review.ErrForbidden) || state().LookFirst.IsZero() {
			t.Errorf("%s ends look-first: %v", by.Name, err)
		}
	}
	if err := s.EndLookFirst(t.Context(), admin, rt.SystemID, " "); !errors.Is(err, review.ErrReason) || state().LookFirst.IsZero() {
		t.Errorf("ended without a note: %v", err)
	}
	if err := s.EndLookFirst(t.Context(), admin, rt.SystemID, "all is recorded again"); err != nil || !state().LookFirst.IsZero() {
		t.Errorf("%v", err)
	}
}
