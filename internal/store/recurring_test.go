package store_test

import (
	"errors"
	"testing"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/internal/store"
	"onefold/internal/work"
)

func onDay(t *testing.T, text string) time.Time {
	t.Helper()
	d, err := recurring.ParseDay(text)
	must(t, err)
	return d
}

func addPlan(t *testing.T, s *store.Store, code string) recurring.Plan {
	t.Helper()
	p, err := recurring.Plans{Store: s, CompanyID: 1, Zone: time.UTC}.Create(t.Context(), work.Actor{Kind: work.Person, ID: "7", Name: "Ada Brown", Roles: []work.Role{work.Admin}},
		recurring.Plan{Code: code, SystemID: "books", CustomerID: "C-" + code, Currency: "EUR", Terms: []recurring.Term{{From: onDay(t, "2026-11-01"),
			Schedule: recurring.Schedule{Every: 1, Unit: recurring.Months}, Lines: []work.Line{{Description: "Rent", Quantity: "1", UnitPrice: "100.00"}}}}})
	must(t, err)
	return p
}

// The database itself refuses days that overlap, whatever the program believes.
func TestOverlappingDaysOfAPlanAreRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		p, q := addPlan(t, s, "P"), addPlan(t, s, "Q")
		take := func(p recurring.Plan, from, until, key string) error {
			return s.TakeUp(t.Context(), recurring.Taking{Plan: p, Key: key, Period: recurring.Period{From: onDay(t, from), Until: onDay(t, until)}})
		}
		must(t, take(p, "2026-11-01", "2026-12-01", "1"))
		for _, of := range [][2]string{{"2026-11-01", "2026-12-01"}, {"2026-11-30", "2026-12-30"}, {"2026-10-01", "2026-11-02"}, {"2026-11-10", "2026-11-11"}, {"2026-01-01", "2027-01-01"}} {
			if err := take(p, of[0], of[1], "2"); !errors.Is(err, recurring.ErrCovered) {
				t.Errorf("%v: %v", of, err)
			}
		}
		if err := take(p, "2026-12-01", "2027-01-01", "1"); !errors.Is(err, recurring.ErrCovered) {
			t.Errorf("a key was used twice: %v", err)
		}
		must(t, take(p, "2026-12-01", "2027-01-01", "2"))
		must(t, take(q, "2026-11-01", "2026-12-01", "1"))
	})
}

// A plan that was changed since it was read, or one whose period somebody else took, takes up nothing.
func TestCoverSeesThePlanAsItIs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		p := addPlan(t, s, "P")
		periods, err := p.Upcoming(p.Next, 2)
		must(t, err)
		first, second := recurring.Taking{Plan: p, Period: periods[0], Key: "1"}, recurring.Taking{Plan: p, Period: periods[1], Key: "2"}
		old := first
		old.Plan.Version--
		refused, err := s.Cover(t.Context(), []recurring.Taking{old, second, first, first, second})
		must(t, err)
		for i, want := range []error{recurring.ErrMoved, recurring.ErrMoved, nil, recurring.ErrMoved, nil} {
			if !errors.Is(refused[i], want) || want == nil && refused[i] != nil {
				t.Errorf("%d: %v, want %v", i, refused[i], want)
			}
		}
	})
}
