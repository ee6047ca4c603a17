package work_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

// step is one thing that happens. Only what is possible is offered, so that every draw counts.
func (w *world) step(t *rapid.T) {
	type action struct {
		name   string
		weight int
		do     func(*rapid.T)
	}
	deliver := 7
	if w.slow {
		deliver = 1
	}
	possible := []action{{"time passes", 3, w.timePasses}, {"time passes, to the point", 5, w.nextHappens}, {"person", w.people, w.person}, {"outside", 1, w.outsideVoids}, {"pause", 1, w.togglePause}}
	if w.people > 0 {
		possible = append(possible, action{"a person makes a report", 1, w.exportReport})
	}
	if len(w.reports) > 0 {
		possible = append(possible, action{"a person applies a report", 2, w.applyReport})
	}
	if len(w.due()) > 0 {
		possible = append(possible, action{"claim", 8, w.claim})
	}
	if len(w.where(func(c *call) bool { return c.begun.IsZero() })) > 0 {
		possible = append(possible, action{"begin", 7, w.begin})
	}
	if len(w.where(w.ended)) > 0 {
		possible = append(possible, action{"deliver", deliver, w.deliver})
	}
	if len(w.expired()) > 0 {
		possible = append(possible, action{"sweep", 4, w.sweep})
	}
	if len(w.db.history) > 1 && !w.forgot {
		possible = append(possible, action{"forget", 2, w.forget})
	}
	if w.looked() {
		possible = append(possible, action{"look-first ends", 2, w.endLookFirst})
	}
	var lot []action
	for _, a := range possible {
		for range a.weight {
			lot = append(lot, a)
		}
	}
	n := rapid.IntRange(0, len(lot)-1).Draw(t, "what")
	t.Logf("%s: %s", w.now.Format("15:04:05"), lot[n].name)
	lot[n].do(t)
}

var pauses = []time.Duration{time.Second, 4 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, 100 * time.Second, 5 * time.Minute, 20 * time.Minute}

func (w *world) timePasses(t *rapid.T) { w.advance(rapid.SampledFrom(pauses).Draw(t, "time")) }

// nextHappens lets just so much time pass that something can happen: at such moments rules are broken.
func (w *world) nextHappens(*rapid.T) {
	if next, more := w.nextMoment(); more {
		w.advance(next.Sub(w.now))
	}
}

func (w *world) togglePause(*rapid.T) { w.rules.NoSends = !w.rules.NoSends }

func (w *world) outsideVoids(t *rapid.T) {
	if it := w.db.state.items[0]; w.kind == "unique references" && rapid.IntRange(0, 5).Draw(t, "by hand") == 0 {
		w.out.enter(it)
		return
	}
	if len(w.out.records) > 0 && rapid.IntRange(0, 3).Draw(t, "void") == 0 {
		w.out.records[0].void = true
	}
}

// forget puts an older state of the database back. It is not the one we knew, so look-first begins now.
func (w *world) forget(t *rapid.T) {
	w.db.forget(rapid.IntRange(1, 3).Draw(t, "commits"))
	w.advance(time.Second)
	w.rules.LookFirst, w.forgot = w.now, true
	clear(w.spent)
	for _, it := range w.db.state.items {
		w.spent[it.ID] = it.SendsUsed
	}
}

func (w *world) due() (ids []int64) {
	for _, it := range w.db.state.items {
		if it.OpenAttempt == 0 && !it.DueAt.IsZero() && !it.DueAt.After(w.now) {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

func (w *world) expired() (ids []int64) {
	for _, it := range w.db.state.items {
		if it.OpenAttempt != 0 && !it.LeaseUntil.After(w.now) {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

func (w *world) where(is func(*call) bool) (out []*call) {
	for _, c := range w.calls {
		if is(c) {
			out = append(out, c)
		}
	}
	return out
}

func (w *world) ended(c *call) bool { return !c.begun.IsZero() && !c.endAt.After(w.now) }

// claim is what the engine does with a due item.
func (w *world) claim(t *rapid.T) { w.claimItem(t, pick(t, w.due())) }

func (w *world) claimItem(t *rapid.T, id int64) {
	it := w.db.item(id)
	proof, _ := work.Gate(it, w.rules, w.now)
	sendBy := w.now.Add(w.rules.Policy.SendWindow)
	m, ok := w.decide(t, id, work.Claimed{Node: "n1", SendBy: sendBy})
	if !ok || m.Op != work.OpenAttempt {
		return
	}
	if m.Attempt.Kind == work.Find && !it.Status.Settled() && it.Status != work.Review && m.Item.LookupsUsed > w.rules.Policy.Lookups {
		t.Fatalf("item %d is looked up %d times, allowed are %d", id, m.Item.LookupsUsed, w.rules.Policy.Lookups)
	}
	if m.Attempt.Kind == work.Send {
		w.seen.proof(proof)
		w.soundProof(t, it, proof)
		w.noReport(t, it)
		if it.Proposed > 0 && proof != work.ProofKey {
			t.Fatalf("item %d is sent as it was, though a correction waits", id)
		}
	}
	w.calls = append(w.calls, &call{id: id, item: m.Item, attempt: m.Attempt.Number, kind: m.Attempt.Kind, opened: w.now, sendBy: sendBy})
}

// begin lets a worker come to its call, perhaps long after the claim.
func (w *world) begin(t *rapid.T) {
	w.beginCall(t, pick(t, w.where(func(c *call) bool { return c.begun.IsZero() })))
}

func (w *world) beginCall(t *rapid.T, c *call) {
	c.begun, c.endAt = w.now, w.now
	if c.kind == work.Find {
		w.beginFind(t, c)
		return
	}
	if !w.now.Before(c.sendBy) {
		c.answer = work.Answer{Outcome: work.NotSent} // past send-by nothing is written
		return
	}
	it := c.item // as read at the claim: the database may have forgotten it since
	timeout, linger := w.rules.Policy.RequestTimeout, w.rules.Capabilities.Linger
	q := &request{step: it.Step, ref: it.Reference, key: it.CurrentKey(), invoice: it.Invoice, handed: w.now, plan: w.drawPlan(t)}
	q.endAt = w.now.Add(w.share(t, timeout))
	if q.plan == planLate || q.plan == planLostBefore {
		q.endAt = w.now.Add(timeout)
	}
	switch {
	case q.plan == planLate:
		q.commitAt = q.endAt.Add(time.Second + w.share(t, linger-time.Second))
	case q.plan.commits():
		q.commitAt = q.handed.Add(w.share(t, q.endAt.Sub(q.handed)))
	}
	q.lag = w.share(t, w.rules.Capabilities.SearchLag)
	if !w.calm {
		q.different = rapid.IntRange(0, 19).Draw(t, "altered") == 0
	}
	w.out.hand(q)
	w.out.advance(w.now)
	c.request, c.endAt = q, q.endAt
	t.Logf("  send of item %d under %s: %s, answer at %s, commit at %s", c.id, q.key, q.plan, q.endAt.Format("15:04:05"), q.commitAt.Format("15:04:05"))
}

func (w *world) drawPlan(t *rapid.T) sendPlan {
	if !w.calm {
		return rapid.SampledFrom(w.plans).Draw(t, "answer")
	}
	if w.accepts {
		return planOK
	}
	return planReject
}

// share is none of d, all of it, or half; none when all is calm.
func (w *world) share(t *rapid.T, d time.Duration) time.Duration {
	if d <= 0 || w.calm {
		return 0
	}
	return d * time.Duration(rapid.SampledFrom([]int{0, 1, 2, 2}).Draw(t, "share")) / 2
}

func (w *world) beginFind(t *rapid.T, c *call) {
	c.lookup = w.out.search(c.item, w.now)
	if !w.calm {
		c.endAt = w.now.Add(w.share(t, w.rules.Policy.RequestTimeout))
		switch rapid.IntRange(0, 9).Draw(t, "lookup") {
		case 6, 7:
			if w.out.blink(c.item.Step+c.item.Reference, w.now) {
				c.lookup = work.Lookup{Finding: work.NotFound}
			}
		case 8:
			c.lookup = work.Lookup{Finding: work.CouldNotTell}
		case 9:
			c.lookup = work.Lookup{Finding: work.FindDeferred, RetryAfter: 15 * time.Second}
		}
	}
	t.Logf("  lookup of item %d: %s", c.id, c.lookup.Finding)
}

// deliver brings a worker's result to the database, perhaps long after its lease; or the worker is lost with it.
func (w *world) deliver(t *rapid.T) {
	c := pick(t, w.where(w.ended))
	if rapid.IntRange(0, 7).Draw(t, "lost") == 0 {
		w.drop(c)
		return
	}
	w.deliverCall(t, c)
}

func (w *world) drop(c *call) {
	w.calls = slices.DeleteFunc(w.calls, func(o *call) bool { return o == c })
}

func (w *world) deliverCall(t *rapid.T, c *call) {
	w.drop(c)
	if c.request != nil {
		c.answer = w.out.answer(c.request)
	}
	if _, known := w.row(c); !known {
		return // the database forgot this attempt; its number may mean another one by now
	}
	it := w.db.item(c.id)
	mine := it.OpenAttempt == c.attempt
	t.Logf("  item %d attempt %d: %s%s, in time: %t", c.id, c.attempt, c.answer.Outcome, c.lookup.Finding, mine)
	var ev work.Event
	switch {
	case mine && c.kind == work.Send:
		ev = work.SendClosed{Attempt: c.attempt, Ended: c.endAt, Answer: c.answer}
	case mine:
		ev = work.FindClosed{Attempt: c.attempt, Started: c.begun, Ended: c.endAt, Lookup: c.lookup}
	case c.kind == work.Send:
		ev = work.LateAnswer{Attempt: c.attempt, Ended: c.endAt, Answer: c.answer}
	default:
		ev = work.LateLookup{Attempt: c.attempt, Ended: c.endAt, Lookup: c.lookup}
	}
	m, ok := w.decide(t, c.id, ev)
	if !ok {
		t.Fatalf("a worker's result was refused: %s on %s", ev.Name(), it.Status)
	}
	if !mine && (m.Op != work.LateAttempt || m.Attempt.LateFor != c.attempt) {
		t.Fatalf("a late answer was not kept: %+v", m)
	}
}

// row is the attempt row of a call, unless the database forgot it.
func (w *world) row(c *call) (work.Attempt, bool) {
	row, known := w.db.state.rows[rowID{c.id, c.attempt}]
	return row, known && row.StartedAt.Equal(c.opened) && row.Kind == c.kind && row.LateFor == 0
}

func (w *world) sweep(t *rapid.T) {
	if _, ok := w.decide(t, pick(t, w.expired()), work.LeaseExpired{}); !ok {
		t.Fatal("an expired lease was not taken back")
	}
}

func pick[T any](t *rapid.T, from []T) T {
	return from[rapid.IntRange(0, len(from)-1).Draw(t, "which")]
}
