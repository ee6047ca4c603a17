package store_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

var tuner = work.Actor{Kind: work.Person, ID: "1", Name: "Anna Admin", Roles: []work.Role{work.Admin}}

func tune(t *testing.T, s *store.Store, automation string, set work.Limits, note string) error {
	t.Helper()
	l := review.NewLimits(s, 1)
	sys, err := l.System(t.Context(), tuner, "books")
	must(t, err)
	seen := sys.Limits(automation)
	limits := maps.Clone(seen)
	maps.Copy(limits, set)
	return l.Change(t.Context(), tuner, "books", automation, seen, limits, note)
}

func TestLimitsAreOnRecordAndUndone(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		l := review.NewLimits(s, 1)
		must(t, tune(t, s, "", work.Limits{"sends": "3", "first_delay": "1m0s"}, "too many calls at night"))
		c.advance(time.Hour)
		must(t, tune(t, s, "orders", work.Limits{"sends": "2", "approval_limit": "100.00 EUR"}, ""))
		must(t, tune(t, s, "orders", nil, "nothing differs"))
		sys, err := l.System(t.Context(), tuner, "books")
		must(t, err)
		if len(sys.Changes) != 2 || sys.Policy.Sends != 3 || sys.RulesFor("orders").Policy.Sends != 2 {
			t.Fatalf("%+v", sys)
		}
		first, second := sys.Changes[1], sys.Changes[0]
		if first.By.Name != "Anna Admin" || first.Note != "too many calls at night" || first.Automation != "" || !first.At.Equal(newClock().Now()) ||
			!maps.Equal(first.Before, work.Limits{"sends": "5", "first_delay": "30s"}) || !maps.Equal(first.After, work.Limits{"sends": "3", "first_delay": "1m0s"}) {
			t.Errorf("on record: %+v", first)
		}
		if second.Automation != "orders" || !maps.Equal(second.Before, work.Limits{"sends": "", "approval_limit": ""}) {
			t.Errorf("on record: %+v", second)
		}
		must(t, l.Undo(t.Context(), tuner, "books", first.ID, "undone"))
		must(t, l.Undo(t.Context(), tuner, "books", second.ID, ""))
		sys, err = l.System(t.Context(), tuner, "books")
		must(t, err)
		if sys.Policy.Sends != 5 || sys.Policy.FirstDelay != 30*time.Second || len(sys.Overrides) != 0 || len(sys.Changes) != 4 {
			t.Errorf("undone: %+v", sys)
		}
		// Pressed twice, or after somebody else changed it again: nothing is overwritten.
		var stale *review.LimitsStale
		if err := l.Undo(t.Context(), tuner, "books", first.ID, ""); !errors.As(err, &stale) || stale.Is["sends"] != "5" {
			t.Errorf("undone twice: %v", err)
		}
		if err := l.Undo(t.Context(), tuner, "books", 999, ""); !errors.Is(err, review.ErrNotFound) {
			t.Errorf("undone what never was: %v", err)
		}
	})
}

// Two admins have the same page open: the second overwrites nothing, and learns who changed what.
func TestTwoAdminsAtTheSameLimits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		l := review.NewLimits(s, 1)
		sys, err := l.System(t.Context(), tuner, "books")
		must(t, err)
		seen := sys.Limits("")
		theirs := maps.Clone(seen)
		theirs["sends"] = "9"
		must(t, tune(t, s, "", work.Limits{"sends": "3"}, "as agreed"))
		// A breaker that opens, or an automation's own limits, are no change of these.
		must(t, s.SetBreaker(t.Context(), "books", c.Now().Add(time.Minute), "down"))
		must(t, tune(t, s, "orders", work.Limits{"sends": "2"}, ""))
		var stale *review.LimitsStale
		err = l.Change(t.Context(), tuner, "books", "", seen, theirs, "")
		if !errors.As(err, &stale) || !maps.Equal(stale.Was, work.Limits{"sends": "5"}) || !maps.Equal(stale.Is, work.Limits{"sends": "3"}) ||
			stale.Last == nil || stale.Last.Note != "as agreed" {
			t.Fatalf("%v: %+v", err, stale)
		}
		now, err := s.System(t.Context(), "books")
		must(t, err)
		if now.Policy.Sends != 3 {
			t.Errorf("overwritten: %d sends", now.Policy.Sends)
		}
		own := now.Limits("orders")
		own["sends"] = "4"
		must(t, l.Change(t.Context(), tuner, "books", "orders", now.Limits("orders"), own, ""))
	})
}

func TestOnlyAdminsTune(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		l := review.NewLimits(s, 1)
		for _, by := range []work.Actor{{}, {Kind: work.Person, ID: "2", Roles: []work.Role{work.Viewer, work.Operator, work.Ops}},
			{Kind: work.Token, ID: "3", Roles: []work.Role{work.Admin}}} {
			_, err := l.List(t.Context(), by)
			_, err2 := l.System(t.Context(), by, "books")
			_, err3 := l.Foresee(t.Context(), by, "books", "", nil)
			for _, err := range []error{err, err2, err3, l.Change(t.Context(), by, "books", "", nil, nil, ""), l.Undo(t.Context(), by, "books", 1, "")} {
				if !errors.Is(err, review.ErrForbidden) {
					t.Errorf("%s: %v", by.Label(), err)
				}
			}
		}
	})
}

func TestWhatLimitsWouldHaveMeant(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		put := func(key, amount string) int64 {
			return record(t, s, key, func(n *work.New) { n.Invoice.Total, _ = currency.NewAmount(amount, "EUR") }).ID
		}
		old := put("OLD", "10.00")
		happen(t, s, c, old, work.Rejected)
		c.advance(31 * 24 * time.Hour)
		happen(t, s, c, put("ONCE", "10.00"), work.Accepted)
		happen(t, s, c, put("DEAR", "5000.00"), work.Accepted)
		happen(t, s, c, put("THRICE", "10.00"), work.Rejected, work.Rejected, work.Accepted)
		five := put("FIVE", "10.00")
		happen(t, s, c, five, work.Rejected, work.Rejected, work.Rejected, work.Rejected, work.Rejected)
		l := review.NewLimits(s, 1)
		sys, err := l.System(t.Context(), tuner, "books")
		must(t, err)
		limits := sys.Limits("")
		limits["sends"], limits["approval_limit"] = "2", "1000.00 EUR"
		m, err := l.Foresee(t.Context(), tuner, "books", "", limits)
		must(t, err)
		p := m.Past
		if p.Count != 4 || p.Several != 2 || p.PersonNow != 1 || p.PersonThen != 3 || p.More != 2 || p.ApprovalThen != 1 || p.Both != 1 || p.Shift >= 0 || p.Cut {
			t.Errorf("%+v", p)
		}
		limits["sends"], limits["approval_limit"] = "7", ""
		m, err = l.Foresee(t.Context(), tuner, "books", "", limits)
		must(t, err)
		if p = m.Past; p.Again != 1 || p.More != 0 || p.PersonThen != 0 {
			t.Errorf("%+v", p)
		}
		if now, err := s.System(t.Context(), "books"); err != nil || now.Policy.Sends != 5 {
			t.Errorf("looking ahead changed something: %+v %v", now.Policy, err)
		}
	})
}

// happen lets sends end so, one after the other, each when it is due.
func happen(t *testing.T, s *store.Store, c *clock, id int64, outcomes ...work.Outcome) {
	t.Helper()
	for _, o := range outcomes {
		it, err := s.Item(t.Context(), 1, id)
		must(t, err)
		c.advance(max(it.DueAt.Sub(c.Now()), 0))
		do := func(ev work.Event) work.Item {
			it, err := apply(t, s, id, ev)
			must(t, err)
			return it
		}
		it = do(work.Claimed{Node: "one", SendBy: c.Now().Add(time.Second)})
		c.advance(time.Second)
		do(work.SendClosed{Attempt: it.OpenAttempt, Ended: c.Now(), Answer: work.Answer{Outcome: o, Record: work.Record{ID: it.Reference}, Match: work.MatchSame}})
	}
}
