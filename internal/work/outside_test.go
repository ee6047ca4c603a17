package work_test

import (
	"fmt"
	"sort"
	"time"

	"onefold/internal/work"
)

// outside is a model of an accounting system. It knows the whole truth, which the code under test never sees: what was
// handed over, what is still at work, and what was made.
type outside struct {
	caps     work.Capabilities
	now      time.Time
	requests []*request
	records  []*record
	firstUse map[string]time.Time // of an idempotency key
	made     map[string]string    // idempotency key -> id of its record
	content  map[string]string    // idempotency key -> fingerprint of what was sent under it
	fault    string               // something that must never reach a system
	blinked  map[string]time.Time // reference -> when the search first failed to see what is there
}

// request is one writing request that reached the system.
type request struct {
	step, ref, key string
	invoice        work.Invoice
	handed         time.Time
	endAt          time.Time // when the client has its answer, or gave up
	commitAt       time.Time // zero: it never commits
	plan           sendPlan
	lag            time.Duration
	different      bool // the system alters what it stores
	committed      bool
	result         work.Outcome // of a committed one: accepted or already_exists
	id             string
}

type record struct {
	id, step, ref string
	fingerprint   string
	different     bool
	void          bool
	byHand        bool      // not by us
	visible       time.Time // to the search
}

// sendPlan is what happens to a request.
type sendPlan string

const (
	planOK         sendPlan = "ok"
	planReject     sendPlan = "reject"
	planFinal      sendPlan = "reject for good"
	planDefer      sendPlan = "defer"
	planLostBefore sendPlan = "lost before the commit"
	planLostAfter  sendPlan = "lost after the commit"
	planLate       sendPlan = "commit after we hung up"
	planNoID       sendPlan = "success without an id"
)

var sendPlans = []sendPlan{planOK, planReject, planFinal, planDefer, planLostBefore, planLostAfter, planLate, planNoID}

func (p sendPlan) commits() bool {
	return p == planOK || p == planLostAfter || p == planLate || p == planNoID
}

// hand takes in a request. Whether it makes a record is decided when it commits.
func (o *outside) hand(q *request) {
	o.requests = append(o.requests, q)
	if _, seen := o.firstUse[q.key]; !seen {
		o.firstUse[q.key] = q.handed
		o.content[q.key] = q.invoice.Fingerprint()
	}
	if q.step == "create" && o.content[q.key] != q.invoice.Fingerprint() {
		o.fault = "two contents were sent under the key " + q.key
	}
}

// advance carries out what commits until to, in order.
func (o *outside) advance(to time.Time) {
	var ripe []*request
	for _, q := range o.requests {
		if !q.committed && !q.commitAt.IsZero() && !q.commitAt.After(to) {
			ripe = append(ripe, q)
		}
	}
	sort.SliceStable(ripe, func(i, j int) bool { return ripe[i].commitAt.Before(ripe[j].commitAt) })
	for _, q := range ripe {
		o.commit(q)
	}
	o.now = to
}

func (o *outside) commit(q *request) {
	q.committed, q.result = true, work.Accepted
	if id := o.made[q.key]; o.caps.HonoursKeys && id != "" &&
		(o.caps.KeyLifetime == 0 || q.commitAt.Before(o.firstUse[q.key].Add(o.caps.KeyLifetime))) {
		q.id = id // a replay
		return
	}
	if have := o.all(q.step, q.ref); o.caps.UniqueReferences && len(have) > 0 {
		q.result, q.id = work.AlreadyExists, have[0].id
		return
	}
	q.id = fmt.Sprintf("R%d", len(o.records)+1)
	o.made[q.key] = q.id
	o.records = append(o.records, &record{id: q.id, step: q.step, ref: q.ref, fingerprint: q.invoice.Fingerprint(),
		different: q.different, visible: q.commitAt.Add(q.lag)})
}

// answer is what the client reads at endAt.
func (o *outside) answer(q *request) work.Answer {
	switch {
	case q.plan == planReject:
		return work.Answer{Outcome: work.Rejected}
	case q.plan == planFinal:
		return work.Answer{Outcome: work.Rejected, Final: true}
	case q.plan == planDefer:
		return work.Answer{Outcome: work.Deferred, RetryAfter: 20 * time.Second}
	case q.plan == planOK && q.result == work.AlreadyExists:
		return work.Answer{Outcome: work.AlreadyExists, Record: work.Record{Number: "N" + q.id}}
	case q.plan == planOK && q.different:
		return work.Answer{Outcome: work.Accepted, Record: work.Record{ID: q.id}, Match: work.MatchDifferent}
	case q.plan == planOK:
		return work.Answer{Outcome: work.Accepted, Record: work.Record{ID: q.id}, Match: work.MatchSame}
	case q.plan == planNoID:
		return work.Answer{Outcome: work.Unknown, Positive: true}
	}
	return work.Answer{Outcome: work.Unknown}
}

// search is what a lookup that is carried out at now shows.
func (o *outside) search(it work.Item, now time.Time) work.Lookup {
	var live, void []*record
	for _, rec := range o.all(it.Step, it.Reference) {
		switch {
		case rec.visible.After(now):
		case rec.void:
			void = append(void, rec)
		default:
			live = append(live, rec)
		}
	}
	switch {
	case len(live) > 1:
		return work.Lookup{Finding: work.FoundSeveral, Record: work.Record{ID: live[0].id}, Count: len(live)}
	case len(live) == 1 && (live[0].different || live[0].fingerprint != it.Invoice.Fingerprint()):
		return work.Lookup{Finding: work.FoundDifferent, Record: work.Record{ID: live[0].id}, Count: 1}
	case len(live) == 1:
		return work.Lookup{Finding: work.FoundMatching, Record: work.Record{ID: live[0].id}, Count: 1}
	case len(void) > 0:
		return work.Lookup{Finding: work.FoundVoid, Record: work.Record{ID: void[0].id}, Count: len(void)}
	}
	return work.Lookup{Finding: work.NotFound}
}

// blink reports whether the search may fail to see what is there, as systems do that ask for two misses: never twice as
// far apart as their lag.
func (o *outside) blink(ref string, now time.Time) bool {
	first, before := o.blinked[ref]
	if !before {
		o.blinked[ref] = now
	}
	return o.caps.Misses > 1 && (!before || now.Before(first.Add(o.caps.SearchLag)))
}

// enter makes a record by hand, as an impatient colleague does.
func (o *outside) enter(it work.Item) {
	o.records = append(o.records, &record{id: fmt.Sprintf("R%d", len(o.records)+1), step: it.Step, ref: it.Reference,
		fingerprint: it.Invoice.Fingerprint(), visible: o.now, byHand: true})
}

// ours are the records under the reference that our sends made.
func (o *outside) ours(step, ref string) (out []*record) {
	for _, rec := range o.all(step, ref) {
		if !rec.byHand {
			out = append(out, rec)
		}
	}
	return out
}

// atWork reports whether a request is still at work and will commit.
func (o *outside) atWork(step, ref string) bool {
	for _, q := range o.requests {
		if q.step == step && q.ref == ref && !q.committed && !q.commitAt.IsZero() {
			return true
		}
	}
	return false
}

// all are the records ever made under the reference, void ones included.
func (o *outside) all(step, ref string) (out []*record) {
	for _, rec := range o.records {
		if rec.step == step && rec.ref == ref {
			out = append(out, rec)
		}
	}
	return out
}

// absent reports the truth: we made nothing, and nothing that is at work will make it.
func (o *outside) absent(step, ref string) bool {
	return !o.atWork(step, ref) && len(o.ours(step, ref)) == 0
}

func (o *outside) byID(id string) *record {
	for _, rec := range o.records {
		if rec.id == id {
			return rec
		}
	}
	return nil
}
