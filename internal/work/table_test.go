package work_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"onefold/internal/work"
	"onefold/internal/work/statedoc"
)

// TestEveryStatusAndEvent compares what Next does with what it must do, line by line.
func TestEveryStatusAndEvent(t *testing.T) {
	want := expectations(t)
	met := map[string]bool{}
	for _, d := range statedoc.Derive() {
		id := strings.Join([]string{from(d.From), d.Event, d.When}, " | ")
		switch expected, ok := want[id]; {
		case met[id]:
			t.Errorf("two samples are called %q", id)
		case !ok:
			t.Errorf("nothing is expected of %q, it came to %q", id, d.Result())
		case expected != d.Result():
			t.Errorf("%s: got %q, want %q", id, d.Result(), expected)
		}
		met[id] = true
	}
	for id := range want {
		if !met[id] {
			t.Errorf("expected but never tried: %s", id)
		}
	}
}

// TestTheTableIsComplete fails when a status, an event, an outcome, a finding or a reason has no line.
func TestTheTableIsComplete(t *testing.T) {
	pairs, all := map[string]bool{}, ""
	for id, to := range expectations(t) {
		parts := strings.Split(id, " | ")
		pairs[parts[0]+" | "+parts[1]] = true
		all += id + " -> " + to + "\n"
	}
	events := eventNames(t)
	if len(events) < 17 {
		t.Fatalf("only %d events found in event.go", len(events))
	}
	for _, s := range work.Statuses {
		for _, ev := range events {
			if !pairs[string(s)+" | "+ev] {
				t.Errorf("no expectation for %s with the event %q", s, ev)
			}
		}
	}
	for _, o := range work.Outcomes {
		if !strings.Contains(all, "send closed | "+string(o)) {
			t.Errorf("no send ends as %s", o)
		}
	}
	for _, f := range work.Findings {
		if !strings.Contains(all, "find closed | "+string(f)) {
			t.Errorf("no lookup ends as %s", f)
		}
	}
	for _, why := range work.Reasons {
		if !strings.Contains(all, "review ("+string(why)+")") {
			t.Errorf("nothing leads to the reason %s", why)
		}
	}
}

// TestARefusalChangesNothing: Next returns the item as it was, and never changes the one it was given.
func TestARefusalChangesNothing(t *testing.T) {
	for _, s := range statedoc.Samples() {
		before := s.Item
		unsettled := append([]int(nil), s.Item.Unsettled...)
		next, err := work.Next(s.Item, s.Event, s.Rules, statedoc.Now)
		if err != nil && (next.Version != before.Version || next.Status != before.Status || !next.DueAt.Equal(before.DueAt)) {
			t.Errorf("%s on %s was refused but changed the item", s.Event.Name(), s.From)
		}
		if err == nil && (next.Version <= before.Version || !next.ChangedAt.Equal(statedoc.Now)) {
			t.Errorf("%s on %s: version %d after %d", s.Event.Name(), s.From, next.Version, before.Version)
		}
		for i, n := range unsettled {
			if s.Item.Unsettled[i] != n {
				t.Errorf("%s on %s changed the item it was given", s.Event.Name(), s.From)
			}
		}
	}
}

func from(s work.Status) string {
	if s == "" {
		return "(new)"
	}
	return string(s)
}

func expectations(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/transitions.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndex(line, " | ")
		if at < 0 || strings.Count(line, " | ") != 3 {
			t.Fatalf("unreadable line %q", line)
		}
		want[line[:at]] = line[at+3:]
	}
	return want
}

// eventNames reads from the source what Name returns, so that a new event cannot be forgotten here.
func eventNames(t *testing.T) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Name.Name != "Name" || f.Recv == nil {
			return true
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				name, _ := strconv.Unquote(lit.Value)
				names = append(names, name)
			}
			return true
		})
		return false
	})
	return names
}
