package work_test

import (
	"fmt"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

var (
	anna = work.Actor{Kind: work.Person, ID: "1", Name: "Anna", Roles: []work.Role{work.Operator}}
	bert = work.Actor{Kind: work.Person, ID: "2", Name: "Bert", Roles: []work.Role{work.Operator}}
)

var acts = []string{"check", "check", "retry", "retry", "retry", "hold", "approve", "resolve", "close", "reopen", "attest", "attest", "correct", "assign", "note"}

// person lets somebody act on an item. People may press anything at any time, but they do not lie: they attest only
// when they looked and nothing is there.
func (w *world) person(t *rapid.T) {
	id := int64(rapid.IntRange(1, len(w.db.state.items)).Draw(t, "item"))
	it := w.db.item(id)
	there := w.out.all(it.Step, it.Reference)
	var ev work.Event
	switch what := rapid.SampledFrom(acts).Draw(t, "act"); what {
	case "check":
		ev = work.Check{By: anna}
	case "retry":
		ev = work.Retry{By: anna}
	case "hold":
		ev = work.Hold{By: anna, Note: "stop"}
	case "approve":
		ev = work.Approve{By: bert}
	case "resolve":
		ref := "by hand"
		if len(there) > 0 {
			ref = there[0].id
		}
		ev = work.Resolve{By: anna, Reference: ref, Note: "done"}
	case "close":
		ev = work.Close{By: anna, Note: "not needed"}
	case "reopen":
		ev = work.Reopen{By: anna, Note: "after all"}
	case "attest":
		if len(there) > 0 {
			return
		}
		ev = work.Attest{By: anna, Note: "I looked in the books and it is not there"}
	case "correct":
		total := fmt.Sprintf("%d.00", 100+rapid.IntRange(0, 3).Draw(t, "total"))
		ev = work.Correct{By: anna, Invoice: work.Invoice{CustomerID: "C1", Total: mustAmount(total, "EUR")}, Note: "typo"}
	case "assign":
		ev = work.Assign{By: anna, To: "Bert"}
	case "note":
		ev = work.Note{By: anna, Text: "asked the customer"}
	}
	m, ok := w.decide(t, id, ev)
	t.Logf("  %s item %d (%s): %t", ev.Name(), id, it.Status, ok)
	if ok && (m.Act == nil || m.Act.What != ev.Name() || m.Act.From != it.Status || m.Act.To != m.Item.Status) {
		t.Fatalf("%s left no row: %+v", ev.Name(), m.Act)
	}
}
