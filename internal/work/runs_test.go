package work_test

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

// TestRandomRuns drives items through Decide, as the engine, the pages and a restored backup would, against a model of
// the outside and of workers that pause, lose answers and come back late. The model of the outside knows the truth, so
// it can tell whether a send that the gate allowed was one too many.
//
// A long run: go test ./internal/work -run TestRandomRuns -rapid.checks=200000
func TestRandomRuns(t *testing.T) {
	seen := &coverage{}
	checkMany(t, 4000, 60, func(t *rapid.T) {
		w := newWorld(t, seen)
		t.Repeat(map[string]func(*rapid.T){"": w.check, "step": w.step})
		w.drain(t)
	})
	if !t.Failed() {
		seen.demand(t)
	}
}

// checkMany runs a property so many times with a fixed seed, unless flags ask for something else.
func checkMany(t *testing.T, checks, steps int, property func(*rapid.T)) {
	t.Helper()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	set := func(name, value string) {
		f := flag.Lookup(name)
		if given[name] || f == nil {
			return
		}
		old := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(old) })
	}
	if !given["rapid.checks"] {
		set("rapid.seed", "20261129") // the same runs on every machine; a long run takes new ones
	}
	set("rapid.nofailfile", "true") // the seed repeats it
	set("rapid.checks", fmt.Sprint(checks))
	set("rapid.steps", fmt.Sprint(steps))
	rapid.Check(t, property)
}

var epoch = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// world is one run: the truth outside, the database, the workers and the clock.
type world struct {
	now     time.Time
	out     *outside
	db      *database
	rules   work.Rules
	calls   []*call
	spent   map[int64]int // sends of the present allowance, counted apart from the item
	kind    string
	people  int        // how busy people are
	slow    bool       // workers are paused and lost often
	plans   []sendPlan // what happens to sends
	calm    bool       // no new disturbances
	accepts bool       // what the system does with sends when all is calm
	seen    *coverage
	reports []*report // that people keep
	forgot  bool      // the database forgot something
}

// call is what one worker carries: an attempt that it opened.
type call struct {
	id      int64
	item    work.Item // as claimed
	attempt int
	kind    work.Kind
	opened  time.Time
	sendBy  time.Time
	begun   time.Time // zero: the worker has not come to it yet
	endAt   time.Time
	request *request
	answer  work.Answer
	lookup  work.Lookup
}

var personalities = map[string]work.Capabilities{
	"searchable":        {Searchable: true, Linger: time.Minute},
	"searchable, lags":  {Searchable: true, Linger: time.Minute, SearchLag: 45 * time.Second, Misses: 2},
	"searchable, slow":  {Searchable: true, Linger: 30 * time.Second, SearchLag: 2 * time.Minute},
	"unique references": {Searchable: true, Linger: time.Minute, SearchLag: 20 * time.Second, UniqueReferences: true},
	"keys":              {HonoursKeys: true, KeyLifetime: 10 * time.Minute, Linger: time.Minute},
	"keys, short":       {HonoursKeys: true, KeyLifetime: 4 * time.Minute, Linger: 100 * time.Second},
	"keys for ever":     {HonoursKeys: true, Linger: 30 * time.Second},
	"keys, searchable":  {HonoursKeys: true, KeyLifetime: 10 * time.Minute, Searchable: true, Linger: time.Minute},
	"blind":             {Linger: time.Minute},
}

var personalityNames = []string{"searchable", "searchable, lags", "searchable, slow", "unique references", "keys", "keys, short", "keys for ever", "keys, searchable", "blind"}

// moods let some runs dwell on what is rare in others.
var moods = [][]sendPlan{sendPlans, {planLate, planReject, planLostBefore}, {planLate, planOK, planReject}, {planLate, planLostBefore}, {planDefer, planLate, planNoID}}

func newWorld(t *rapid.T, seen *coverage) *world {
	w := &world{now: epoch, db: newDatabase(), spent: map[int64]int{}, seen: seen}
	w.kind = rapid.SampledFrom(personalityNames).Draw(t, "system")
	caps := personalities[w.kind]
	w.out = &outside{caps: caps, now: epoch, firstUse: map[string]time.Time{}, made: map[string]string{},
		content: map[string]string{}, blinked: map[string]time.Time{}}
	w.plans = rapid.SampledFrom(moods).Draw(t, "mood")
	w.slow = rapid.IntRange(0, 2).Draw(t, "slow workers") == 2
	w.accepts = rapid.Bool().Draw(t, "accepts in the end")
	w.people = rapid.SampledFrom([]int{3, 0, 15}).Draw(t, "people")
	limit := mustAmount("500", "EUR")
	w.rules = work.Rules{Capabilities: caps, Policy: work.Policy{
		Sends: rapid.IntRange(1, 3).Draw(t, "sends"), Lookups: rapid.IntRange(1, 6).Draw(t, "lookups"),
		FirstDelay: 10 * time.Second, Growth: 2, LongestDelay: 2 * time.Minute, Jitter: 0.2,
		RequestTimeout: 30 * time.Second, SendWindow: 5 * time.Second, SettleWithin: time.Hour, ApprovalLimit: &limit,
		Settle: rapid.SampledFrom([]time.Duration{0, 90 * time.Second}).Draw(t, "settle"),
		Misses: rapid.IntRange(0, 2).Draw(t, "misses")}}
	steps := []string{"create"}
	if rapid.Bool().Draw(t, "two steps") {
		steps = []string{"create", "post"}
	}
	w.recordNew(t, "INV-1", "100.00", steps)
	if rapid.IntRange(0, 3).Draw(t, "second item") == 0 {
		w.recordNew(t, "INV-2", "900.00", steps)
		w.recordNew(t, "inv-1", "100.00", steps) // another automation with the same key
	}
	w.db.history = nil
	return w
}

func (w *world) recordNew(t *rapid.T, key, total string, steps []string) {
	it, err := work.NewItem(work.New{CompanyID: 1, Automation: "monthly", BusinessKey: key, SystemID: "books", Steps: steps,
		Invoice: work.Invoice{CustomerID: "C1", Total: mustAmount(total, "EUR")}, By: anna}, w.rules.Capabilities, w.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, taken := w.holder(it); taken {
		return
	}
	m, err := work.Decide(it, work.Recorded{}, w.rules, w.now)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, m)
}

func (w *world) holder(it work.Item) (work.Item, bool) {
	trial := database{state: w.db.state}
	have, isNew := trial.record(it)
	return have, !isNew
}

func (w *world) write(t *rapid.T, m work.Move) {
	if err := w.db.commit(m, w.now); err != nil {
		t.Fatalf("%s: %v", m.Item.Status, err)
	}
	w.seen.move(m)
}

// decide applies an event to an item; false if it is refused.
func (w *world) decide(t *rapid.T, id int64, ev work.Event) (work.Move, bool) {
	it := w.db.item(id)
	m, err := work.Decide(it, ev, w.rules, w.now)
	if err != nil {
		var refusal *work.Refusal
		if !errors.As(err, &refusal) {
			t.Fatalf("%s on %s: %v", ev.Name(), it.Status, err)
		}
		return m, false
	}
	w.count(it, m, ev)
	w.write(t, m)
	return m, true
}

// count keeps the number of sends in the present allowance, by other means than the item does.
func (w *world) count(it work.Item, m work.Move, ev work.Event) {
	switch ev := ev.(type) {
	case work.Claimed:
		if m.Op == work.OpenAttempt && m.Attempt.Kind == work.Send {
			w.spent[it.ID]++
		}
	case work.SendClosed:
		if ev.Answer.Outcome == work.Deferred {
			w.spent[it.ID]--
		}
	case work.Retry:
		if it.Status == work.Review {
			w.spent[it.ID] = 0
		}
	case work.Correct:
		if m.Item.Revision > it.Revision {
			w.spent[it.ID] = 0
		}
	}
}

func (w *world) advance(d time.Duration) {
	w.now = w.now.Add(d)
	w.out.advance(w.now)
}
