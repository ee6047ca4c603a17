//go:build unix

package crash

import (
	"strings"
	"testing"
	"time"

	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

// good is a world in which one invoice was created and posted, as it should be.
func good() *world {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	send := func(item int64, at time.Time, idem string) try {
		return try{item: item, number: 1, kind: "send", node: "node-a", idem: idem, started: at, sendBy: at.Add(sendWindow), ended: at.Add(time.Second), outcome: "accepted"}
	}
	create := &row{id: 1, version: 3, key: key{"search", "INV-1", "create"}, business: "INV-1", steps: []string{"create", "post"}, status: work.Confirmed,
		sends: 1, attempts: 1, external: "inv_1", evidence: "answer", tries: []try{send(1, at, "K1")}}
	post := &row{id: 2, previous: 1, version: 3, key: key{"search", "INV-1", "post"}, business: "INV-1", steps: create.steps, status: work.Confirmed,
		sends: 1, attempts: 1, external: "inv_1", evidence: "answer", tries: []try{send(2, at.Add(2*time.Second), "K2")}}
	return &world{asked: []invoice{{System: "search", Key: "INV-1"}}, rows: []*row{create, post}, settles: settle, effects: []sandboxserver.Effect{
		{Effect: "created", Books: "search", ID: "inv_1", Reference: "INV-1", Key: "K1", At: at.Add(100 * time.Millisecond)},
		{Effect: "posted", Books: "search", ID: "inv_1", Reference: "INV-1", Key: "K2", At: at.Add(2100 * time.Millisecond)}}}
}

// What the judge must see: each of these worlds is wrong in one way.
func TestJudgeSees(t *testing.T) {
	again := func(w *world, late time.Duration) {
		e := w.effects[0]
		e.ID, e.At = "inv_2", e.At.Add(late)
		w.effects = append(w.effects, e)
	}
	freezeInWrite := func(w *world) {
		r := w.rows[0]
		first := r.tries[0]
		from := first.started.Add(10 * time.Millisecond)
		w.freezes = []freeze{{node: "node-a", from: from, still: from, to: from.Add(lease + settle + 3*time.Second)}}
		again(w, lease+settle+3100*time.Millisecond)
		look := try{item: 1, number: 2, kind: "find", node: "node-b", started: first.started.Add(lease + settle + time.Second),
			ended: first.started.Add(lease + settle + 1100*time.Millisecond), finding: "not_found"}
		second := first
		second.number, second.node, second.started = 3, "node-b", look.ended
		second.sendBy, second.ended = second.started.Add(sendWindow), second.started.Add(time.Second)
		r.tries[0].outcome, r.tries[0].ended = "unknown", first.started.Add(lease)
		r.tries, r.attempts, r.sends = append(r.tries, look, second), 3, 2
	}
	for name, c := range map[string]struct {
		bend func(w *world)
		want string // empty: nothing is wrong
	}{
		"nothing":          {func(*world) {}, ""},
		"two records":      {func(w *world) { again(w, time.Second) }, "happened 2 times"},
		"posted twice":     {func(w *world) { w.effects = append(w.effects, w.effects[1]) }, "happened 2 times"},
		"frozen, not told": {freezeInWrite, "nobody is told"},
		"frozen, and told": {func(w *world) {
			freezeInWrite(w)
			w.rows[0].status, w.rows[0].reason = work.Review, work.ReasonDuplicates
		}, ""},
		"frozen, looked too early": {func(w *world) {
			freezeInWrite(w)
			w.rows[0].tries[1].started = w.rows[0].tries[0].started.Add(lease + settle - time.Second)
		}, "happened 2 times"},
		"another froze": {func(w *world) { freezeInWrite(w); w.freezes[0].node = "node-b" }, "happened 2 times"},
		"froze long before": {func(w *world) {
			freezeInWrite(w)
			w.freezes[0].from, w.freezes[0].still = w.freezes[0].from.Add(-time.Minute), w.freezes[0].from.Add(-time.Minute)
		}, "happened 2 times"},
		"missing outside": {func(w *world) { w.effects = w.effects[:1] }, "not in the accounting system"},
		"nobody asked":    {func(w *world) { w.effects[0].Reference = "INV-2" }, "no item asks for it"},
		"not recorded":    {func(w *world) { w.rows = w.rows[1:] }, "not in the database"},
		"no next step":    {func(w *world) { w.rows = w.rows[:1] }, "next step post is not recorded"},
		"sent before it was on record": {func(w *world) { w.rows[0].tries[0].started = w.effects[0].At.Add(time.Millisecond) },
			"no send with it was on record"},
		"another key":      {func(w *world) { w.effects[0].Key = "K9" }, "no send with it was on record"},
		"still queued":     {func(w *world) { w.rows[1].status = work.Queued }, "waits for nothing"},
		"open attempt":     {func(w *world) { w.rows[1].open = 1 }, "is open though"},
		"unclosed row":     {func(w *world) { w.rows[1].tries[0].ended = time.Time{} }, "never closed"},
		"owed last look":   {func(w *world) { w.rows[0].last = "owed" }, "owes its last look"},
		"lost attempt":     {func(w *world) { w.rows[0].tries = nil }, "counts 1 attempts"},
		"no reason":        {func(w *world) { w.rows[1].status = work.Review }, "not why"},
		"no such reason":   {func(w *world) { w.rows[1].status, w.rows[1].reason = work.Review, work.ReasonContradiction }, "gives a reason"},
		"wrongly absent":   {func(w *world) { w.rows[1].status, w.rows[1].reason = work.Review, work.ReasonRejected }, "called absent"},
		"can be searched":  {func(w *world) { w.rows[1].status, w.rows[1].reason = work.Review, work.ReasonCannotLookUp }, "can be searched"},
		"closed but there": {func(w *world) { w.rows[1].status = work.Closed }, "closed, but"},
		"resent unseen": {func(w *world) {
			r := w.rows[0]
			second := r.tries[0]
			second.number, r.tries[0].outcome, r.sends, r.attempts = 2, "unknown", 2, 2
			r.tries = append(r.tries, second)
		}, "without a look in between"},
	} {
		t.Run(name, func(t *testing.T) {
			w := good()
			c.bend(w)
			got := strings.Join(judge(*w).problems, "\n")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("want %q, the judge says:\n%s", c.want, got)
			}
		})
	}
}
