package work_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

// soundProof asks the outside whether a send that the gate allowed is right.
func (w *world) soundProof(t *rapid.T, it work.Item, proof work.Proof) {
	if proof == "" {
		t.Fatalf("a send of item %d was opened though the gate is closed", it.ID)
	}
	if it.PreviousID != 0 && !w.db.item(it.PreviousID).Status.Done() {
		t.Fatalf("item %d is sent before its previous step is done", it.ID)
	}
	if proof == work.ProofKey {
		if w.rules.Capabilities.Searchable || !w.rules.Capabilities.HonoursKeys {
			t.Fatalf("a key opened the gate of a system that can be searched or ignores keys")
		}
		if w.out.atWork(it.Step, it.Reference) {
			t.Fatalf("item %d is sent again under its key while a send is still at work", it.ID)
		}
		return // the outside itself must then make no second record
	}
	if !w.out.absent(it.Step, it.Reference) {
		t.Fatalf("proof %q is wrong: item %d (%s) is there or still at work", proof, it.ID, it.Status)
	}
}

// noReport: once the system said that it has it, only a person who looked may open the way again.
func (w *world) noReport(t *rapid.T, it work.Item) {
	for _, row := range w.db.state.rows {
		if row.ItemID != it.ID || row.Outcome != work.AlreadyExists {
			continue
		}
		attested := false
		for _, a := range w.db.state.acts {
			attested = attested || a.ItemID == it.ID && a.What == "attest" && !a.At.Before(row.EndedAt)
		}
		if !attested {
			t.Fatalf("item %d is sent though the system said that it has it", it.ID)
		}
	}
}

// check holds after every step.
func (w *world) check(t *rapid.T) {
	// A forgotten correction leaves its number, and so its key, to the next one: the system then refuses or replays, which
	// is safe, so it counts only while nothing was forgotten.
	if w.out.fault != "" && !w.forgot {
		t.Fatal(w.out.fault)
	}
	for _, it := range w.db.state.items {
		if n := len(w.out.ours(it.Step, it.Reference)); n > 1 {
			t.Fatalf("%d records outside for %s %s", n, it.BusinessKey, it.Step)
		}
		if w.spent[it.ID] > w.rules.Policy.Sends {
			t.Fatalf("item %d was sent %d times, allowed are %d", it.ID, w.spent[it.ID], w.rules.Policy.Sends)
		}
		w.owned(t, it)
		w.evidenced(t, it)
	}
	for _, c := range w.calls {
		if c.request == nil {
			continue
		}
		if row, known := w.row(c); known && row.Key != c.request.key {
			t.Fatalf("sent under key %q, recorded was %q", c.request.key, row.Key)
		}
	}
}

// owned: somebody will move every open item on.
func (w *world) owned(t *rapid.T, it work.Item) {
	open := it.OpenAttempt != 0
	row := w.db.state.rows[rowID{it.ID, it.OpenAttempt}]
	switch {
	case open && (it.LeaseUntil.IsZero() || it.OpenNode == "" || it.OpenKind == ""):
		t.Fatalf("item %d has an open attempt without a lease", it.ID)
	case open && (row.Number != it.OpenAttempt || !row.EndedAt.IsZero()):
		t.Fatalf("item %d has an open attempt without an open row", it.ID)
	case open != (it.Status == work.InProgress) && (!open || !it.Before.Settled() || it.Status != it.Before):
		t.Fatalf("item %d is %s, open attempt %d", it.ID, it.Status, it.OpenAttempt)
	case open && it.OpenKind == work.Send && it.Before.Settled():
		t.Fatalf("item %d is sent though it was %s", it.ID, it.Before)
	case !open && (it.Before != "" || !it.LeaseUntil.IsZero() || it.OpenKind != "" || !it.OpenSince.IsZero()):
		t.Fatalf("item %d has leftovers of a closed attempt", it.ID)
	case !open && it.DueAt.IsZero() && (it.Status == work.Queued || it.Status == work.Failed || it.Status == work.Pending):
		t.Fatalf("item %d is %s and nobody moves it on", it.ID, it.Status)
	case it.Status == work.Review && it.Reason == "":
		t.Fatalf("item %d is in review without a reason", it.ID)
	case it.Reason != "" && (it.Status == work.Queued || it.Status == work.Failed || it.Status == work.Pending || it.Status == work.Confirmed):
		t.Fatalf("item %d is %s with the reason %s", it.ID, it.Status, it.Reason)
	case !open && it.Status.Settled() && it.LastLook == work.LastLookOwed && it.DueAt.IsZero():
		t.Fatalf("item %d owes a last look at no time", it.ID)
	case it.SettleBy.IsZero():
		t.Fatalf("item %d has no time by which it should be settled", it.ID)
	}
}

// evidenced: what a status says is backed by what is stored.
func (w *world) evidenced(t *rapid.T, it work.Item) {
	absent := len(it.Unsettled) == 0 || !it.AbsentAt.IsZero()
	switch {
	case it.Status == work.Confirmed && (it.ExternalID == "" || it.Evidence == ""):
		t.Fatalf("item %d is confirmed without id or evidence", it.ID)
	case it.Status == work.Confirmed && w.out.byID(it.ExternalID) == nil:
		t.Fatalf("item %d is confirmed by %s, which does not exist", it.ID, it.ExternalID)
	case it.Status == work.Resolved && (it.ExternalID == "" || it.Evidence == "" || !w.acted(it.ID, "resolve")):
		t.Fatalf("item %d is resolved without a person's act", it.ID)
	case it.Status == work.Closed && !w.acted(it.ID, "close"):
		t.Fatalf("item %d is closed without a person's act", it.ID)
	case it.Status == work.Failed && !absent:
		t.Fatalf("item %d is failed with unsettled sends %v and no proof of absence", it.ID, it.Unsettled)
	case it.Status == work.Failed && it.Positive != work.NoEvidence && (it.AbsentAt.IsZero() || it.AbsentBy == "lookup"):
		t.Fatalf("item %d is failed though %s", it.ID, it.Positive)
	case it.Status == work.Confirmed && it.Proposed > 0:
		t.Fatalf("item %d is confirmed as first sent, though a correction waits", it.ID)
	case it.Status == work.Review && it.Reason == work.ReasonContradiction && len(w.out.ours(it.Step, it.Reference)) > 0:
		t.Fatalf("item %d is called a contradiction, but the record is there", it.ID)
	case it.Status == work.Queued && it.Positive == work.RecordWasFound:
		t.Fatalf("item %d waits to be sent though it was found", it.ID)
	}
}

func (w *world) acted(id int64, what string) bool {
	for _, a := range w.db.state.acts {
		if a.ItemID == id && a.What == what {
			return true
		}
	}
	return false
}

// drain lets the run go on without new disturbances until nothing is left to do: every item is then settled or waits
// for a person, and what is settled is true outside.
func (w *world) drain(t *rapid.T) {
	w.calm, w.rules.NoSends = true, false
	t.Logf("%s: calm", w.now.Format("15:04:05"))
	for round := 0; ; round++ {
		if round > 1500 {
			t.Fatalf("nothing comes to an end: %+v", w.db.state.items)
		}
		moved := false
		for _, c := range w.where(func(c *call) bool { return c.begun.IsZero() }) {
			w.beginCall(t, c)
			moved = true
		}
		for _, c := range w.where(w.ended) {
			w.deliverCall(t, c)
			moved = true
		}
		for _, id := range w.expired() {
			w.decide(t, id, work.LeaseExpired{})
			moved = true
		}
		for _, id := range w.due() {
			w.claimItem(t, id)
			moved = true
		}
		w.check(t)
		if moved {
			continue
		}
		next, more := w.nextMoment()
		if !more {
			break
		}
		w.advance(next.Sub(w.now))
	}
	for _, it := range w.db.state.items {
		w.over(t, it)
	}
}

func (w *world) nextMoment() (next time.Time, more bool) {
	consider := func(at time.Time) {
		if at.After(w.now) && (!more || at.Before(next)) {
			next, more = at, true
		}
	}
	for _, it := range w.db.state.items {
		consider(it.DueAt)
		consider(it.LeaseUntil)
	}
	for _, c := range w.calls {
		consider(c.endAt)
	}
	for _, q := range w.out.requests {
		if !q.committed {
			consider(q.commitAt)
		}
	}
	return next, more
}

// over holds when a run has come to its end.
func (w *world) over(t *rapid.T, it work.Item) {
	live := 0
	for _, rec := range w.out.ours(it.Step, it.Reference) {
		if !rec.void {
			live++
		}
	}
	switch {
	case it.OpenAttempt != 0 || !it.Status.Settled() && it.Status != work.Review:
		t.Fatalf("item %d ends as %s", it.ID, it.Status)
	case it.LastLook == work.LastLookOwed:
		t.Fatalf("item %d (%s) still owes a last look", it.ID, it.Status)
	case it.Status == work.Closed && it.LastLook == work.LastLookDone && live > 0:
		t.Fatalf("item %d is closed after a last look, but a record is there", it.ID)
	}
}

// coverage notes what the runs reached, so that they cannot pass by doing nothing.
type coverage struct {
	statuses map[work.Status]int
	reasons  map[work.Reason]int
	proofs   map[work.Proof]int
	late     int
	unlooked int // items that nobody had looked for when look-first ended

	byReport, absentByReport int // items that reports confirmed, and proved absent
}

func (c *coverage) move(m work.Move) {
	if c.statuses == nil {
		c.statuses, c.reasons, c.proofs = map[work.Status]int{}, map[work.Reason]int{}, map[work.Proof]int{}
	}
	c.statuses[m.Item.Status]++
	c.reasons[m.Item.Reason]++
	if m.Op == work.LateAttempt {
		c.late++
	}
}

func (c *coverage) proof(p work.Proof) { c.proofs[p]++ }

func (c *coverage) demand(t *testing.T) {
	t.Helper()
	for _, s := range work.Statuses {
		if c.statuses[s] == 0 {
			t.Errorf("no run reached the status %s", s)
		}
	}
	for _, why := range work.Reasons {
		if c.reasons[why] == 0 && why != work.ReasonDuplicates { // there must never be two records
			t.Errorf("no run reached the reason %s", why)
		}
	}
	for _, p := range []work.Proof{work.ProofNeverSent, work.ProofSettled, work.ProofLookup, work.ProofKey, work.ProofAttested} {
		if c.proofs[p] == 0 {
			t.Errorf("no run sent under the proof %s", p)
		}
	}
	if c.late == 0 || c.unlooked == 0 {
		t.Errorf("%d runs had a late answer, look-first ended for %d items that nobody had looked for", c.late, c.unlooked)
	}
	if c.byReport == 0 || c.absentByReport == 0 {
		t.Errorf("reports confirmed %d items and proved %d absent", c.byReport, c.absentByReport)
	}
	t.Logf("statuses %v, reasons %v, proofs %v, late answers %d, reports %d %d", c.statuses, c.reasons, c.proofs, c.late, c.byReport, c.absentByReport)
}
