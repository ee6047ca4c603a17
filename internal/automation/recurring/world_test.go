package recurring_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/recurring"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// clock is a clock that tests move by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t *testing.T, at string) {
	t.Helper()
	now, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

var (
	ada  = work.Actor{Kind: work.Person, ID: "7", Name: "Ada Brown", Roles: []work.Role{work.Admin}}
	ben  = work.Actor{Kind: work.Person, ID: "8", Name: "Ben Cole", Roles: []work.Role{work.Admin}}
	olga = work.Actor{Kind: work.Person, ID: "9", Name: "Olga Dee", Roles: []work.Role{work.Operator}}
)

// world is the loop and the service on one database, under a clock of their own.
type world struct {
	*testing.T
	clock  *clock
	db     storetest.DB
	store  *store.Store
	runner recurring.Runner
	plans  recurring.Plans
}

func eachWorld(t *testing.T, at string, zone *time.Location, test func(w *world)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := &world{T: t, clock: &clock{}, db: db}
		w.clock.set(t, at)
		w.store = db.Open(t, store.Config{Clock: w.clock.Now})
		w.must(w.store.DeclareSystem(t.Context(), work.System{ID: "books", CompanyID: 1, Name: "Books", Adapter: "stub", Policy: work.DefaultPolicy(),
			Capabilities: work.Capabilities{Searchable: true, Misses: 1}, Steps: []string{"create"}, MaxInFlight: 100}))
		w.must(w.store.AllowUnproven(t.Context(), 1, recurring.Automation, []string{"books"}, ada))
		w.runner = recurring.Runner{Store: w.store, Intake: automation.Intake{Store: w.store, Zone: zone}, Zone: zone}
		w.plans = recurring.Plans{Store: w.store, CompanyID: 1, Zone: zone, Runner: w.runner}
		test(w)
	})
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) draft(code, start string, change ...func(*recurring.Plan)) recurring.Plan {
	p := plan(w.T, start, recurring.Schedule{Every: 1, Unit: recurring.Months})
	p.Code, p.CustomerID = code, "C-"+code
	for _, c := range change {
		c(&p)
	}
	return p
}

func weekly(p *recurring.Plan) { p.Terms[0].Schedule.Unit = recurring.Weeks }

func (w *world) create(code, start string, change ...func(*recurring.Plan)) recurring.Plan {
	w.Helper()
	p, err := w.plans.Create(w.Context(), ada, w.draft(code, start, change...))
	w.must(err)
	return p
}

// run runs the loop once at a time; nothing may go wrong.
func (w *world) run(at string) recurring.Stats {
	w.Helper()
	w.clock.set(w.T, at)
	return w.runs(w.runner)
}

func (w *world) runs(r recurring.Runner) recurring.Stats {
	w.Helper()
	s, err := r.RunOnce(w.Context())
	w.must(err)
	w.must(errors.Join(s.Problems...))
	return s
}

func (w *world) get(id int64) recurring.Detail {
	w.Helper()
	d, err := w.plans.Get(w.Context(), olga, id)
	w.must(err)
	return d
}

// keys are the business keys on record with their issue dates, in order.
func (w *world) keys() (list []string) {
	w.Helper()
	page, err := w.store.Search(w.Context(), review.Query{CompanyID: 1, Limit: 200})
	w.must(err)
	for _, it := range page.Items {
		list = append(list, it.BusinessKey)
	}
	slices.Sort(list)
	return list
}

func (w *world) wantKeys(want ...string) {
	w.Helper()
	if got := w.keys(); !slices.Equal(got, want) {
		w.Fatalf("on record: %v\nwant       %v", got, want)
	}
}

// failing is an intake that breaks off before or after it recorded.
type failing struct {
	automation.Intake
	before, after bool
}

var errCrash = errors.New("the server died")

func (f *failing) Record(ctx context.Context, items []work.New) ([]automation.Recorded, error) {
	if f.before {
		return nil, errCrash
	}
	results, err := f.Intake.Record(ctx, items)
	if f.after {
		return nil, errCrash
	}
	return results, err
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func hours(t *testing.T, from, until string) (list []string) {
	t.Helper()
	a, err := time.Parse(time.RFC3339, from)
	if err != nil {
		t.Fatal(err)
	}
	b, err := time.Parse(time.RFC3339, until)
	if err != nil {
		t.Fatal(err)
	}
	for ; a.Before(b); a = a.Add(time.Hour) {
		list = append(list, a.Format(time.RFC3339))
	}
	return list
}

func numbered(i int) string { return fmt.Sprintf("PLAN-%04d", i) }
