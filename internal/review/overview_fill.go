package review

import (
	"math"
	"slices"
	"time"

	"onefold/internal/work"
)

// settles tells which way of settling a figure counts.
func (f Figure) settles() (Settled, bool) {
	how, is := f.Measure.cut(settled)
	return Settled(how), is
}

func (o *Overview) fill(begins []time.Time, figures []Figure, systems []work.System) {
	last := len(begins) - 1
	confirmed, all := make([]buckets, last), buckets{}
	for i := range last {
		o.Stretches = append(o.Stretches, Stretch{From: begins[i], To: begins[i+1], Sends: map[work.Outcome]int64{}})
	}
	ways, answering, at := map[Settled]buckets{}, map[string]buckets{}, map[string]*SystemFigures{}
	for _, sys := range systems {
		o.Systems = append(o.Systems, SystemFigures{System: sys})
		answering[sys.ID] = buckets{}
	}
	for i := range o.Systems {
		at[o.Systems[i].ID] = &o.Systems[i]
	}
	for _, how := range SettledWays {
		ways[how] = buckets{}
	}
	for _, f := range figures {
		// A stretch that was counted in another zone belongs to the one that it began in.
		i, exact := slices.BinarySearchFunc(begins[:last], f.StartsAt, time.Time.Compare)
		if !exact {
			i--
		}
		stretch, sys := &o.Stretches[i], at[f.SystemID]
		if sys == nil { // it was removed: its calls count, but not beside a system
			sys = &SystemFigures{}
		}
		outcome, isSend := f.Measure.cut(sent)
		finding, isFind := f.Measure.cut(looked)
		how, isSettled := f.settles()
		switch {
		case isSend:
			stretch.Sends[work.Outcome(outcome)] += f.Count
			sys.Calls += f.Count
			if work.Outcome(outcome) == work.Unknown {
				o.Unknown += f.Count
			}
			if work.Outcome(outcome) == work.Unknown || work.Outcome(outcome) == work.NotSent {
				sys.Failed += f.Count
			}
			if work.Outcome(outcome) == work.Deferred {
				sys.PutOff += f.Count
			}
		case isFind:
			sys.Calls += f.Count
			if work.Finding(finding) == work.CouldNotTell {
				sys.Failed += f.Count
			}
			if work.Finding(finding) == work.FindDeferred {
				sys.PutOff += f.Count
			}
		case isSettled && ways[how] == nil: // of a newer version
		case isSettled:
			ways[how].add(f)
			if how.Prevents() {
				o.Prevented += f.Count
			}
		case f.Measure == Confirmed:
			if confirmed[i] == nil {
				confirmed[i] = buckets{}
			}
			confirmed[i].add(f)
			all.add(f)
		case f.Measure == Sends:
			o.Sends[min(max(f.Bucket, 0), mostSends)] += f.Count
		case f.Measure == Limited:
			sys.Limited += f.Count
		case f.Measure == Barred:
			sys.Barred += f.Count
		case f.Measure == Answered && answering[f.SystemID] != nil:
			answering[f.SystemID].add(f)
		}
	}
	o.Confirmed = all.spread()
	for i := range o.Stretches {
		o.Stretches[i].Confirmed = confirmed[i].spread()
	}
	for _, how := range SettledWays {
		o.Settled = append(o.Settled, SettledSends{how, ways[how].spread()})
	}
	for i := range o.Systems {
		sys := &o.Systems[i]
		sys.Answering = answering[sys.ID].spread()
		sys.PutOff = max(0, sys.PutOff-sys.Limited-sys.Barred)
	}
}

// cut takes a beginning off a measure.
func (m Measure) cut(prefix Measure) (string, bool) {
	if len(m) > len(prefix) && m[:len(prefix)] == prefix {
		return string(m[len(prefix):]), true
	}
	return "", false
}

// buckets are counts of durations.
type buckets map[int]int64

func (b buckets) add(f Figure) { b[f.Bucket] += f.Count }

func (b buckets) spread() (s Spread) {
	for _, n := range b {
		s.Count += n
	}
	if s.Count > 0 {
		s.Median, s.P95 = b.quantile(s.Count, 0.5), b.quantile(s.Count, 0.95)
	}
	return s
}

// quantile is the duration that the part q of all do not exceed.
func (b buckets) quantile(all int64, q float64) time.Duration {
	keys := make([]int, 0, len(b))
	for k := range b {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	need := int64(math.Ceil(q * float64(all)))
	for _, k := range keys {
		if need -= b[k]; need <= 0 {
			return Middle(k)
		}
	}
	return 0
}
