package work

import (
	"slices"
	"time"
)

// Course is how things may go for one item, for a forecast.
type Course string

// The courses.
const (
	RefusedCourse    Course = "refused"    // every send is refused, at once but not for good
	LostCourse       Course = "lost"       // every send is lost; every lookup answers at once and finds nothing
	UncheckedCourse  Course = "unchecked"  // every send is lost, and every lookup is lost too
	UnsearchedCourse Course = "unsearched" // every send is lost, and the system cannot be searched
)

// Courses lists the courses that things may take with a system.
func Courses(c Capabilities) []Course {
	if !c.Searchable {
		return []Course{UnsearchedCourse, RefusedCourse}
	}
	return []Course{LostCourse, UncheckedCourse, RefusedCourse}
}

// Span is when something happens, from the begin of the first call: the range is that of the jitter.
type Span struct{ Earliest, Latest time.Duration }

// Forecast is what the limits mean for an item whose calls go such a course until it reaches a person.
type Forecast struct {
	Course  Course
	Sends   []Span // the begin of each
	Looks   []Span // likewise; those that only the late ones among the items need are left out
	Person  Span
	Reasons []Reason // why a person gets it; more than one if it depends on the jitter
}

// Foresee says when an item is sent and looked up, and when it reaches a person, if things go this course. A lost call is
// counted with the whole request timeout, an answer comes at once, and each call begins when it is due.
func Foresee(c Course, r Rules) Forecast {
	r.LookFirst, r.NoSends = time.Time{}, false // about the limits, not about today
	early := foresee(c, r, func(string, int) float64 { return 0 })
	late := foresee(c, r, func(string, int) float64 { return 1 })
	f := Forecast{Course: c, Sends: spans(early.sends, late.sends), Looks: spans(early.looks, late.looks),
		Person: span(early.now, late.now), Reasons: []Reason{early.reason}}
	if !slices.Contains(f.Reasons, late.reason) {
		f.Reasons = append(f.Reasons, late.reason)
	}
	return f
}

func span(a, b time.Duration) Span { return Span{min(a, b), max(a, b)} }

func spans(a, b []time.Duration) []Span {
	list := make([]Span, min(len(a), len(b)))
	for i := range list {
		list[i] = span(a[i], b[i])
	}
	return list
}

// foreseen is a course under way: what Next would do, in a few numbers. A test holds it against Next.
type foreseen struct {
	Rules
	spread       func(series string, n int) float64
	now          time.Duration
	sends, looks []time.Duration
	calls        int
	settled      time.Duration
	sendAfter    time.Duration
	misses       int
	lastMiss     time.Duration
	absent       bool
	absentAt     time.Duration
	reason       Reason // of review, where a course ends
}

func foresee(c Course, r Rules, spread func(series string, n int) float64) *foreseen {
	f := &foreseen{Rules: r, spread: spread}
	for f.reason == "" {
		switch {
		case c == RefusedCourse:
			f.refused()
		case c == UnsearchedCourse:
			f.unsearched()
		case len(f.sends) == 0 || f.absent && f.now-f.absentAt <= ProofLife:
			f.lost()
			f.now = f.settled + time.Duration(f.spread("", f.calls)*f.Policy.Jitter*float64(f.Policy.FirstDelay))
		case len(f.looks) >= f.Policy.Lookups:
			f.reason = ReasonCouldNotCheck
		case c == LostCourse:
			f.looked()
			f.missed()
		default:
			f.looked()
			f.unanswered()
		}
	}
	return f
}

func (f *foreseen) sent() {
	f.calls++
	f.sends = append(f.sends, f.now)
}

func (f *foreseen) looked() {
	f.calls++
	f.looks = append(f.looks, f.now)
}

// refused is one send that is refused.
func (f *foreseen) refused() {
	f.sent()
	if len(f.sends) >= f.Policy.Sends {
		f.reason = ReasonRejected
		return
	}
	f.now += f.delay("", len(f.sends))
}

// lost is one send without an answer.
func (f *foreseen) lost() {
	f.sent()
	f.now += f.Policy.RequestTimeout
	f.settled = f.now + f.Settle()
	f.sendAfter = f.now + f.delay("", len(f.sends))
	f.misses, f.absent = 0, false
}

// missed is what follows from a lookup that found nothing.
func (f *foreseen) missed() {
	visible, apart := f.settled+f.SearchLag(), max(f.SearchLag(), minApart)
	if f.now >= visible && (f.misses == 0 || f.now >= f.lastMiss+apart) {
		f.misses++
		f.lastMiss = f.now
		if f.misses >= f.Misses() {
			f.absent, f.absentAt = true, f.now
		}
	}
	switch {
	case f.absent && len(f.sends) >= f.Policy.Sends:
		f.reason = ReasonAttemptsExhausted
	case f.absent:
		f.now = max(f.now, f.sendAfter)
	case f.misses > 0:
		f.now = max(f.now, visible, f.lastMiss+apart)
	default:
		f.now = max(f.now, visible)
	}
}

// unanswered is what follows from a lookup that could not tell.
func (f *foreseen) unanswered() {
	f.now += f.Policy.RequestTimeout
	if len(f.looks) >= f.Policy.Lookups {
		f.reason = ReasonCouldNotCheck
		return
	}
	f.now += f.delay("/look", len(f.looks))
}

// unsearched is one send without an answer where only the key allows another.
func (f *foreseen) unsearched() {
	f.lost()
	again := max(f.settled, f.sendAfter)
	first := time.Unix(0, 0)
	if !f.Capabilities.HonoursKeys || !f.keyLives(first, first.Add(again)) || len(f.sends) >= f.Policy.Sends {
		f.reason = ReasonCannotLookUp
		return
	}
	f.now = again
}

func (f *foreseen) delay(series string, n int) time.Duration {
	return f.Policy.delay(n, f.spread(series, n))
}
