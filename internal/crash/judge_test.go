//go:build unix

package crash

import (
	"fmt"
	"slices"
	"strings"
	"time"

	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

// world is everything that a run is judged by, read when nothing moves any more.
type world struct {
	asked   []invoice // what the planners recorded
	rows    []*row
	effects []sandboxserver.Effect
	freezes []freeze
	settles time.Duration
}

// verdict is what came of it.
type verdict struct {
	problems  []string
	statuses  map[string]int // items by system, status and reason
	sends     int            // send attempts opened
	outcomes  map[string]int
	lookups   int
	effects   int
	resent    int      // items sent again after an outcome was unknown
	byLookup  int      // items confirmed by a lookup
	lateRows  int      // answers that came after the lease
	excused   []string // effects that happened twice because a machine was frozen inside the write call itself
	flagged   int      // of them, those that are shown to a person as duplicates
	exposed   int      // sends that were under way in a server when it was frozen: each might have been one of them
	slowest   time.Duration
	overstays int // effects that took longer than the accounting system says: then nothing it promises holds
}

func (v *verdict) problem(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// judge compares the accounting system's own file with the database.
func judge(w world) verdict {
	v := verdict{statuses: map[string]int{}, outcomes: map[string]int{}, effects: len(w.effects)}
	byKey := map[key][]sandboxserver.Effect{}
	for _, e := range w.effects {
		switch e.Effect {
		case "created":
			k := key{e.Books, e.Reference, "create"}
			byKey[k] = append(byKey[k], e)
		case "posted":
			k := key{e.Books, e.Reference, "post"}
			byKey[k] = append(byKey[k], e)
		default:
			v.problem("the journal has an effect that nobody asked for: %s of %s", e.Effect, e.Reference)
		}
	}
	known := map[key]*row{}
	steps := map[string]map[string]*row{} // by system and business key, then by step
	for _, r := range w.rows {
		known[r.key] = r
		name := r.key.system + "/" + r.business
		if steps[name] == nil {
			steps[name] = map[string]*row{}
		}
		steps[name][r.key.step] = r
		v.item(w, r, byKey[r.key])
	}
	for k, happened := range byKey {
		before := known[key{k.system, k.reference, "create"}]
		if waits := before != nil && before.forgotten && before.status == work.Review; known[k] == nil && !waits {
			v.problem("%v happened %d times outside and no item asks for it", k, len(happened))
		}
	}
	for _, a := range w.asked {
		v.chain(a, steps[a.System+"/"+a.Key])
	}
	slices.Sort(v.problems)
	return v
}

// chain checks that what was recorded is there with all its steps.
func (v *verdict) chain(a invoice, chain map[string]*row) {
	first := chain["create"]
	if first == nil {
		v.problem("%s was recorded in %s and is not in the database", a.Key, a.System)
		return
	}
	for i, step := range first.steps[1:] {
		before := chain[first.steps[i]]
		switch next := chain[step]; {
		case before.status.Done() && next == nil:
			v.problem("%s: %s is %s and the next step %s is not recorded", a.Key, before.key.step, before.status, step)
			return
		case next == nil:
			return
		case next.previous != before.id:
			v.problem("%s: %s follows item %d instead of %d", a.Key, step, next.previous, before.id)
		}
	}
}

func (v *verdict) item(w world, r *row, happened []sandboxserver.Effect) {
	name := fmt.Sprintf("item %d %v (%s %s)", r.id, r.key, r.status, r.reason)
	v.statuses[strings.TrimSpace(r.key.system+" "+string(r.status)+" "+string(r.reason))]++
	v.attempts(w, name, r)
	v.owner(name, r)
	for _, e := range happened {
		if r.forgotten {
			break
		}
		v.openedBefore(name, r, e)
		v.overstay(w, r, e)
	}
	if len(happened) > 1 {
		v.twice(w, name, r, happened)
	}
	there := func(id string) bool {
		return slices.ContainsFunc(happened, func(e sandboxserver.Effect) bool { return e.ID == id })
	}
	switch {
	case r.status == work.Confirmed && !there(r.external):
		v.problem("%s: confirmed as %s, which is not in the accounting system", name, r.external)
	case r.status == work.Resolved && len(happened) > 0 && !there(r.external):
		v.problem("%s: resolved as %s, which is another record than the one that is there", name, r.external)
	case r.status == work.Closed && len(happened) > 0:
		v.problem("%s: closed, but it is there", name)
	case !r.status.Settled() && r.status != work.Review:
		v.problem("%s: not settled in the end", name)
	case r.status == work.Review:
		v.reviewed(name, r, happened, there)
	}
}

// reviewed checks that the reason why a person is needed is true.
func (v *verdict) reviewed(name string, r *row, happened []sandboxserver.Effect, there func(string) bool) {
	searchable := r.key.system == "unique" || r.key.system == "search"
	switch r.reason {
	case work.ReasonRejected, work.ReasonAttemptsExhausted:
		if len(happened) > 0 {
			v.problem("%s: called absent, but it is there", name)
		}
	case work.ReasonCannotLookUp:
		if searchable {
			v.problem("%s: these books can be searched", name)
		}
	case work.ReasonLateEvidence:
		if !there(r.seen) {
			v.problem("%s: the evidence %q is not in the accounting system", name, r.seen)
		}
	case work.ReasonDuplicates:
		if len(happened) < 2 {
			v.problem("%s: there is one record only", name)
		}
	case work.ReasonCouldNotCheck, work.ReasonHeld:
	default:
		v.problem("%s: nothing in this run gives a reason for that", name)
	}
}

// owner checks that somebody or something moves the item on.
func (v *verdict) owner(name string, r *row) {
	switch {
	case r.open > 0:
		v.problem("%s: attempt %d is open though every server has stopped", name, r.open)
	case r.status == work.Review && r.reason == "":
		v.problem("%s: needs a person, but not why", name)
	case (r.status == work.Queued || r.status == work.Pending || r.status == work.Failed) && r.due.IsZero():
		v.problem("%s: waits for nothing", name)
	case r.status == work.Confirmed && (r.external == "" || r.evidence == ""):
		v.problem("%s: confirmed without evidence", name)
	case r.last == string(work.LastLookOwed):
		v.problem("%s: still owes its last look", name)
	}
}

// attempts counts, and checks that the history is whole and that nothing was sent again without proof of absence.
func (v *verdict) attempts(w world, name string, r *row) {
	sends := 0
	unknown := map[int]bool{} // sends before that may or may not have had their effect
	for i, a := range r.tries {
		if a.number != i+1 {
			v.problem("%s: attempt %d is missing", name, i+1)
			return
		}
		if a.ended.IsZero() {
			v.problem("%s: attempt %d was never closed", name, a.number)
		}
		switch {
		case a.lateFor > 0:
			v.lateRows++
			if a.kind == string(work.Send) && work.Outcome(a.outcome).SettlesAbsent() {
				delete(unknown, a.lateFor)
			}
		case a.kind == string(work.Find):
			v.lookups++
			if a.finding == string(work.NotFound) {
				clear(unknown) // whether it was proof is checked in the state machine's own runs
			}
		default:
			sends++
			v.outcomes[a.outcome]++
			if slices.ContainsFunc(w.freezes, func(f freeze) bool {
				return f.node == a.node && f.still.After(a.started) && (f.from.Before(a.ended) || a.ended.IsZero())
			}) {
				v.exposed++
			}
			v.sentAgain(name, r, a, len(unknown) > 0)
			if a.outcome == string(work.Unknown) {
				unknown[a.number] = true
			}
		}
	}
	if r.evidence == "lookup" {
		v.byLookup++
	}
	v.sends += sends
	if sends > 1 {
		v.resent++
	}
	if len(r.tries) != r.attempts || sends != r.sends {
		v.problem("%s: counts %d attempts and %d sends, its history has %d and %d", name, r.attempts, r.sends, len(r.tries), sends)
	}
}

// sentAgain checks that a send that may be the second one had a proof.
func (v *verdict) sentAgain(name string, r *row, a try, doubt bool) {
	switch {
	case !doubt || r.attested || r.key.system == "keys":
	case r.key.system == "blind":
		v.problem("%s: attempt %d sent it again into books that neither know keys nor can be searched", name, a.number)
	default:
		v.problem("%s: attempt %d sent it again without a look in between", name, a.number)
	}
}

// openedBefore checks that a send was on record before it can have had this effect, with the key that it carried.
func (v *verdict) openedBefore(name string, r *row, e sandboxserver.Effect) {
	for _, a := range r.tries {
		if a.kind == string(work.Send) && a.lateFor == 0 && !a.started.After(e.At) && a.idem == e.Key {
			return
		}
	}
	v.problem("%s: %s at %s with the key %q, and no send with it was on record by then", name, e.Effect, e.At.Format(time.RFC3339Nano), e.Key)
}

// overstay checks the other side: whether the accounting system kept its promise not to work on a request for longer
// than it says. If it did not, as on a machine without time for it, a second record would be its fault.
func (v *verdict) overstay(w world, r *row, e sandboxserver.Effect) {
	least := time.Duration(1<<63 - 1)
	for _, a := range r.tries {
		if a.kind == string(work.Send) && a.lateFor == 0 && !a.started.After(e.At) {
			least = min(least, e.At.Sub(a.ended))
		}
	}
	if least > v.slowest && least < time.Hour {
		v.slowest = least
	}
	if least > w.settles {
		v.overstays++
	}
}

// twice judges what happened more than once. The one excuse is a server that was frozen inside the write call itself:
// the freeze began in the send window of an attempt of that server and lasted until a lookup, begun after the attempt's
// lease and the settling time, had rightly not found it; and an effect came right after the freeze.
func (v *verdict) twice(w world, name string, r *row, happened []sandboxserver.Effect) {
	var at []string
	for _, e := range happened {
		at = append(at, e.At.Format("15:04:05.000")+" as "+e.ID)
	}
	what := fmt.Sprintf("%s: happened %d times: %s", name, len(happened), strings.Join(at, ", "))
	if len(happened) > 2 || !frozenInWrite(w, r, happened) {
		v.problem("%s", what)
		return
	}
	v.excused = append(v.excused, what)
	switch {
	case r.status == work.Review && r.reason == work.ReasonDuplicates:
		v.flagged++
	case r.key.step == "create":
		v.problem("%s: two records, and nobody is told", what)
	}
}

func frozenInWrite(w world, r *row, happened []sandboxserver.Effect) bool {
	const near = 20 * time.Millisecond // send-by is checked a little before the call that it allows
	for _, a := range r.tries {
		for _, f := range w.freezes {
			if a.kind != string(work.Send) || f.node != a.node || f.still.Before(a.started) || f.from.After(a.sendBy.Add(near)) {
				continue
			}
			after := slices.ContainsFunc(happened, func(e sandboxserver.Effect) bool {
				return e.At.After(f.to) && e.At.Before(f.to.Add(requestTimeout+w.settles))
			})
			proof := slices.ContainsFunc(r.tries, func(b try) bool {
				return b.finding == string(work.NotFound) && !b.started.Before(a.started.Add(lease+w.settles)) && b.started.Before(f.to.Add(searchLag))
			})
			if after && proof {
				return true
			}
		}
	}
	return false
}

// String is the closing table.
func (v verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d effects outside, %d sends, %d lookups, %d items sent more than once, %d confirmed by lookup, %d late answers\n", v.effects,
		v.sends, v.lookups, v.resent, v.byLookup, v.lateRows)
	fmt.Fprintf(&b, "what came of the sends: %v\n", v.outcomes)
	fmt.Fprintf(&b, "latest effect after its send had ended: %s\n", v.slowest.Round(time.Millisecond))
	fmt.Fprintf(&b, "happened twice because a server was frozen inside the write call itself: %d, of which flagged as duplicates: %d (%d sends were under way in a server when it was frozen)\n",
		len(v.excused), v.flagged, v.exposed)
	names := make([]string, 0, len(v.statuses))
	for name := range v.statuses {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%8d  %s\n", v.statuses[name], name)
	}
	return b.String()
}
