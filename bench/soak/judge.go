package soak

import (
	"fmt"
	"slices"
	"strings"

	"onefold/internal/work"
)

// verdict is what came of the items.
type verdict struct {
	documents int
	items     int
	statuses  map[string]int
	reviews   map[string]int // items with a person, by reason and books
	records   int
	byLookup  int // confirmed by a lookup
	resent    int // sent more than once
	astray    int // records that the accounting system made in somebody else's books: a fault, each with a person

	duplicates []problem // keys that took effect twice
	stuck      []problem // items that nobody has and nothing moves on
	wrong      []problem // what else must not be
}

// problem is about one item; 0: about none.
type problem struct {
	item int64
	what string
}

func (v *verdict) failed() bool { return len(v.duplicates)+len(v.stuck)+len(v.wrong) > 0 }

// judge compares the database with the accounting system's own file, when nothing moves any more.
func judge(items []item, j *journal, documents int) verdict {
	v := verdict{documents: documents, items: len(items), statuses: map[string]int{}, reviews: map[string]int{}, records: j.records}
	known := map[key]bool{}
	created := 0
	for _, it := range items {
		k := key{it.System, it.Reference, it.Step}
		known[k] = true
		if it.Step == "create" {
			created++
		}
		v.item(it, j.effects[k])
	}
	for k, happened := range j.effects {
		switch {
		case strings.HasSuffix(k.system, "~other"):
			v.astray += len(happened)
		case !known[k]:
			v.wrong = append(v.wrong, problem{what: fmt.Sprintf("%s of %s in %s happened, and no item asks for it", k.step, k.reference, k.system)})
		}
		if len(happened) > 1 && !known[k] {
			v.duplicates = append(v.duplicates, problem{what: fmt.Sprintf("%s of %s in %s happened %d times", k.step, k.reference, k.system, len(happened))})
		}
	}
	if created != documents {
		v.wrong = append(v.wrong, problem{what: fmt.Sprintf("%d documents were taken, %d are in the database", documents, created)})
	}
	return v
}

func (v *verdict) item(it item, happened []effect) {
	v.statuses[it.Status]++
	if it.Sends > 1 {
		v.resent++
	}
	about := func(format string, args ...any) problem {
		return problem{it.ID, fmt.Sprintf("item %d, %s of %s in %s (%s %s): ", it.ID, it.Step, it.Reference, it.System, it.Status, it.Reason) + fmt.Sprintf(format, args...)}
	}
	if len(happened) > 1 {
		var at []string
		for _, e := range happened {
			at = append(at, e.at.Format("15:04:05.000")+" as "+e.id)
		}
		v.duplicates = append(v.duplicates, about("happened %d times: %s", len(happened), join(at)))
	}
	if it.Moves {
		v.stuck = append(v.stuck, about("not settled, and with nobody"))
	}
	reason := work.Reason(it.Reason)
	switch work.Status(it.Status) {
	case work.Confirmed:
		if it.Evidence == "lookup" {
			v.byLookup++
		}
		if len(happened) != 1 || happened[0].id != it.External {
			v.wrong = append(v.wrong, about("confirmed as %s, and the accounting system made %d", it.External, len(happened)))
		}
	case work.Review:
		v.reviews[it.Reason+" ("+it.System+")"]++
		absent := reason == work.ReasonRejected || reason == work.ReasonAttemptsExhausted
		searchable := it.System == "search" || it.System == "unique"
		switch {
		case reason == "":
			v.stuck = append(v.stuck, about("needs a person, but not why"))
		case absent && len(happened) > 0:
			v.wrong = append(v.wrong, about("called absent, but it is there"))
		case reason == work.ReasonCannotLookUp && searchable:
			v.wrong = append(v.wrong, about("these books can be searched"))
		case reason == work.ReasonDuplicates && len(happened) < 2:
			v.wrong = append(v.wrong, about("there is one record only"))
		}
	case work.Resolved, work.Closed: // nobody acts in a soak
		v.wrong = append(v.wrong, about("no person was there to decide that"))
	}
}

// median of the values; 0 without any.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// level is how a figure of one process went: its median in each third of the soak.
type level struct {
	what                string
	first, middle, last float64
	rest                float64 // when everything had settled
	slack               float64 // by so much it may be higher in the last third
	comesAndGoes        bool    // with the work: what leaked is still there when everything has settled
	most                float64 // so many are always right; 0: none
}

// mostConnections are those of one server: its pool, which keeps for half an hour what it once opened, and one to be woken up.
const mostConnections = 16 + 1

// holds reports whether it has not grown.
func (l level) holds() bool {
	return l.last <= l.middle+max(l.slack, l.middle/10) || l.comesAndGoes && l.rest <= l.middle || l.last <= l.most
}

// levels judges the samples of the server that was never killed, and the connections of all.
func levels(samples []sample, rest sample) []level {
	of := func(what string, slack float64, read func(sample) (float64, bool)) level {
		var thirds [3][]float64
		for i, s := range samples {
			if v, ok := read(s); ok {
				third := i * 3 / len(samples)
				thirds[third] = append(thirds[third], v)
			}
		}
		l := level{what: what, slack: slack, first: median(thirds[0]), middle: median(thirds[1]), last: median(thirds[2])}
		l.rest, _ = read(rest)
		return l
	}
	watched := func(read func(vitals) float64) func(sample) (float64, bool) {
		return func(s sample) (float64, bool) {
			v, ok := s.servers[steady]
			return read(v), ok && read(v) > 0
		}
	}
	all := []level{
		of("resident memory, MB", 10, watched(func(v vitals) float64 { return v.memory })),
		of("heap goal of the collector, MB", 10, watched(func(v vitals) float64 { return v.heap })),
		of("goroutines", 20, watched(func(v vitals) float64 { return v.goroutines })),
		of("open files and sockets", 10, watched(func(v vitals) float64 { return v.files })),
		of("connections to the database", 3, watched(func(v vitals) float64 { return v.connections })),
		of("connections to the database, all servers", 6, func(s sample) (float64, bool) { return float64(s.connections), s.connections > 0 }),
	}
	all[2].comesAndGoes, all[3].comesAndGoes = true, true
	all[4].most, all[5].most = mostConnections, float64(mostConnections*max(len(rest.servers), 1))
	return all
}
