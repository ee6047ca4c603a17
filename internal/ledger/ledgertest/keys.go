package ledgertest

import (
	"testing"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

func testKeys(t *testing.T, target Target) {
	t.Run("Trial80_And_81_TheSameKeyOnEverySend", func(t *testing.T) { testSameKey(t, target) })
	t.Run("Trial84_SameKeyChangedContent", func(t *testing.T) { testChanged(t, target) })
}

// testSameKey: the answer is lost, the send is repeated. The key that travels is the one that was given, both times;
// where keys are honoured there is one record and the repeat says so.
func testSameKey(t *testing.T, target Target) {
	for _, step := range newBench(t, target, Setup{}).steps {
		t.Run(step, func(t *testing.T) {
			b := newBench(t, target, Setup{})
			b.reach(step, "INV-1")
			before := len(b.out.Writes())
			b.misbehave(work.Send, "drop_after")
			b.send(step, "INV-1")
			b.out.Misbehave(work.Send, NoFault)
			again := b.send(step, "INV-1")
			checkRepeat(t, b, step, b.out.Writes()[before:], again)
		})
	}
}

func checkRepeat(t *testing.T, b *bench, step string, writes []Write, again work.Answer) {
	t.Helper()
	if len(writes) != 2 {
		t.Fatalf("%d writing requests, want 2", len(writes))
	}
	want := b.request(step, "INV-1").Key
	caps := b.sys.Capabilities()
	for _, w := range writes {
		if w.Key != want && (caps.HonoursKeys || w.Key != "") {
			t.Errorf("the key %q travelled, not %q", w.Key, want)
		}
	}
	effects := b.out.Effects(step, "INV-1")
	switch {
	case caps.HonoursKeys && (effects != 1 || again.Outcome != work.Accepted):
		t.Errorf("%d effects, the repeat is %s", effects, again.Outcome)
	case caps.UniqueReferences && !caps.HonoursKeys && step != b.steps[0] && effects == 1 && again.Outcome == work.Accepted:
		// The reference is unique when the record is made; a later step may find itself done and change nothing.
	case caps.UniqueReferences && !caps.HonoursKeys && (effects != 1 || again.Outcome != work.AlreadyExists):
		t.Errorf("%d effects, the repeat is %s", effects, again.Outcome)
	}
}

// testChanged: what was sent first is what is there; the changed content must not be taken for it.
func testChanged(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	if !b.sys.Capabilities().HonoursKeys {
		t.Skip("keys are not honoured")
	}
	step := b.steps[0]
	b.issue(step, "INV-1")
	more, err := currency.NewAmount("120.00", b.invoice.Total.CurrencyCode())
	if err != nil {
		t.Fatal(err)
	}
	b.invoice.Total = more
	a := b.send(step, "INV-1")
	if n := b.out.Effects(step, "INV-1"); n != 1 {
		t.Errorf("%d effects", n)
	}
	if a.Outcome == work.Accepted && a.Match != work.MatchDifferent {
		t.Errorf("the changed content was taken for accepted: %+v", a)
	}
	if a.Outcome == work.Rejected && !a.Final {
		t.Error("no retry can cure this, and the answer does not say so")
	}
}
