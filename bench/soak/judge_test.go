package soak

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"onefold/internal/ledger/sandbox/server"
)

// world is a soak that went well: one document of two steps that is there, one that a person has.
func world() ([]item, *journal) {
	j := newJournal("")
	j.add(server.Effect{Effect: "created", Books: "search", ID: "inv_1", Reference: "A"})
	j.add(server.Effect{Effect: "posted", Books: "search", ID: "inv_1", Reference: "A"})
	return []item{
		{ID: 1, System: "search", Reference: "A", Step: "create", Status: "confirmed", External: "inv_1"},
		{ID: 2, System: "search", Reference: "A", Step: "post", Status: "confirmed", External: "inv_1"},
		{ID: 3, System: "blind", Reference: "B", Step: "create", Status: "review", Reason: "cannot_look_up"},
	}, j
}

func TestTheJudgeIsSatisfied(t *testing.T) {
	items, j := world()
	if v := judge(items, j, 2); v.failed() {
		t.Errorf("%+v", v)
	}
}

// The judge sees each thing that must never happen.
func TestTheJudgeSees(t *testing.T) {
	for name, c := range map[string]struct {
		spoil                    func(items []item, j *journal) []item
		duplicates, stuck, wrong int
	}{
		"a second record": {duplicates: 1, wrong: 1, spoil: func(items []item, j *journal) []item {
			j.add(server.Effect{Effect: "created", Books: "search", ID: "inv_2", Reference: "A"})
			return items
		}},
		"a second record under a changed reference": {duplicates: 1, wrong: 1, spoil: func(items []item, j *journal) []item {
			j.add(server.Effect{Effect: "created", Books: "search", ID: "inv_2", Reference: "a", Asked: "A"})
			return items
		}},
		"a second posting": {duplicates: 1, wrong: 1, spoil: func(items []item, j *journal) []item {
			j.add(server.Effect{Effect: "posted", Books: "search", ID: "inv_1", Reference: "A"})
			return items
		}},
		"two records of something that nobody asked for": {duplicates: 1, wrong: 1, spoil: func(items []item, j *journal) []item {
			j.add(server.Effect{Effect: "created", Books: "keys", ID: "inv_8", Reference: "X"})
			j.add(server.Effect{Effect: "created", Books: "keys", ID: "inv_9", Reference: "X"})
			return items
		}},
		"an item that waits": {stuck: 1, spoil: func(items []item, _ *journal) []item {
			items[2].Status, items[2].Reason, items[2].Moves = "pending", "", true
			return items
		}},
		"an item with a person, without a reason": {stuck: 1, spoil: func(items []item, _ *journal) []item {
			items[2].Reason = ""
			return items
		}},
		"confirmed and not there": {wrong: 1, spoil: func(items []item, j *journal) []item {
			delete(j.effects, key{"search", "A", "post"})
			return items
		}},
		"confirmed as another record": {wrong: 1, spoil: func(items []item, _ *journal) []item {
			items[0].External = "inv_7"
			return items
		}},
		"called absent and there": {wrong: 1, spoil: func(items []item, j *journal) []item {
			items[2].Reason = "attempts_exhausted"
			j.add(server.Effect{Effect: "created", Books: "blind", ID: "inv_3", Reference: "B"})
			return items
		}},
		"a document that was taken and lost": {wrong: 1, spoil: func(items []item, _ *journal) []item { return items[:2] }},
	} {
		items, j := world()
		items = c.spoil(items, j)
		v := judge(items, j, 2)
		if len(v.duplicates) != c.duplicates || len(v.stuck) != c.stuck || len(v.wrong) != c.wrong || !v.failed() {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestWhatGrowsIsNotLevel(t *testing.T) {
	soak := func(at func(i int) vitals) map[string]bool {
		var samples []sample
		for i := range 180 {
			samples = append(samples, sample{servers: map[string]vitals{steady: at(i)}, connections: 36})
		}
		holds := map[string]bool{}
		for _, l := range levels(samples, sample{servers: map[string]vitals{steady: at(1800)}, connections: 36}) {
			holds[l.what] = l.holds()
		}
		return holds
	}
	const memory, files, connections = "resident memory, MB", "open files and sockets", "connections to the database"
	even := soak(func(i int) vitals {
		v := vitals{memory: min(90, 50+float64(i)) + float64(i%7), heap: 60, goroutines: 90, files: 40, connections: 12}
		if i > 120 && i < 180 { // much work at the end of the soak, none at rest
			v.files = 90
		}
		return v
	})
	for what, holds := range even {
		if !holds {
			t.Errorf("%s: warmed up, then even, or gone with the work", what)
		}
	}
	grown := soak(func(i int) vitals {
		return vitals{memory: 90 + float64(i)/3, heap: 60, goroutines: 90, files: 40 + float64(i)/3, connections: 12 + float64(i/12)}
	})
	for _, what := range []string{memory, files, connections} {
		if grown[what] {
			t.Errorf("%s grows all the time and is called level", what)
		}
	}
}

// A line that is still being written is read once it is whole, and once only.
func TestTheJournalIsReadAsItGrows(t *testing.T) {
	j := newJournal(filepath.Join(t.TempDir(), "journal"))
	line := `{"effect":"created","books":"search","id":"inv_1","reference":"A","at":"` + time.Now().UTC().Format(time.RFC3339Nano) + `"}` + "\n"
	for _, text := range []string{line[:20], line, line + strings.Replace(line, "inv_1", "inv_2", 1)} {
		if err := os.WriteFile(j.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := j.read(); err != nil {
			t.Fatal(err)
		}
	}
	if j.records != 2 || j.doubles != 1 {
		t.Errorf("%d records, %d keys with two", j.records, j.doubles)
	}
}

// Every fault of the sandbox is on, except the one that comes in phases; what is new there is on too.
func TestAllFaultsAreOn(t *testing.T) {
	on := map[server.Fault]bool{}
	p := faults(stickyReferences(time.Hour), 1)
	for _, r := range p.Rules {
		on[r.Fault] = true
	}
	for _, f := range server.Faults {
		if !on[f] && f != server.SearchEmpty {
			t.Errorf("%s is never thrown", f)
		}
	}
	if s, err := server.New(server.Options{Plan: p}); err != nil {
		t.Error(err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
}
