package review

import (
	"cmp"
	"slices"
	"time"

	"onefold/internal/work"
)

// countBatch says what a batch adds to the figures, in the order of their keys. Hours that began before hoursFrom are left out.
func countBatch(b FigureBatch, zone *time.Location, hoursFrom time.Time) []Figure {
	t := tally{batch: b, zone: zone, hoursFrom: hoursFrom, sums: map[Figure]int64{}}
	for _, a := range b.Calls {
		t.call(a)
	}
	for _, a := range b.Acts {
		t.act(a)
	}
	list := make([]Figure, 0, len(t.sums))
	for f, n := range t.sums {
		f.Count = n
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Figure) int {
		return cmp.Or(cmp.Compare(a.CompanyID, b.CompanyID), cmp.Compare(a.Grain, b.Grain), a.StartsAt.Compare(b.StartsAt), cmp.Compare(a.Measure, b.Measure),
			cmp.Compare(a.SystemID, b.SystemID), cmp.Compare(a.Automation, b.Automation), cmp.Compare(a.Bucket, b.Bucket))
	})
	return list
}

type tally struct {
	batch FigureBatch
	zone  *time.Location
	sums  map[Figure]int64 // by the figure without its count

	hoursFrom time.Time

	// The last instant and where its stretches begin: most calls of a batch end in the same hour.
	hour, until time.Time
	begins      [4]time.Time
}

// add counts one in the stretches that at is in.
func (t *tally) add(itemID int64, at time.Time, m Measure, bucket int) {
	if at.Before(t.hour) || !at.Before(t.until) {
		for i, g := range grains {
			t.begins[i] = g.Begin(at, t.zone)
		}
		t.hour, t.until = t.begins[0], t.begins[0].Add(15*time.Minute)
		for !at.Before(t.until) { // no zone moves its clocks within a quarter of an hour
			t.hour, t.until = t.until, t.until.Add(15*time.Minute)
		}
	}
	it := t.batch.Items[itemID]
	if m.isDuration() {
		it.Automation = ""
	}
	for i, g := range grains {
		if g == GrainHour && t.begins[i].Before(t.hoursFrom) {
			continue
		}
		t.sums[Figure{CompanyID: it.CompanyID, Grain: g, StartsAt: t.begins[i], Measure: m, SystemID: it.SystemID, Automation: it.Automation, Bucket: bucket}]++
	}
}

func (t *tally) call(a work.Attempt) {
	if a.LateFor == 0 && !a.FromReport() {
		if a.Kind == work.Send {
			t.add(a.ItemID, a.EndedAt, SentWith(a.Outcome), 0)
		} else {
			t.add(a.ItemID, a.EndedAt, LookedWith(a.Finding), 0)
		}
		if a.HTTPStatus != 0 {
			t.add(a.ItemID, a.EndedAt, Answered, Bucket(a.EndedAt.Sub(a.StartedAt)))
		}
		if a.HTTPStatus == 429 && (a.Outcome == work.Deferred || a.Finding == work.FindDeferred) {
			t.add(a.ItemID, a.EndedAt, Limited, 0)
		}
		if (a.HTTPStatus == 401 || a.HTTPStatus == 403) && (a.Outcome == work.Deferred || a.Finding == work.FindDeferred) {
			t.add(a.ItemID, a.EndedAt, Barred, 0)
		}
	}
	all := t.batch.Attempts[a.ItemID]
	if len(all) == 0 {
		all = []work.Attempt{a}
	}
	if it := t.batch.Items[a.ItemID]; it.Confirmed && isFirstProof(a, all) {
		t.add(a.ItemID, a.EndedAt, Confirmed, Bucket(a.EndedAt.Sub(it.RecordedAt)))
		sends := 0
		for _, s := range all {
			if isSend(s) && s.Number <= a.Number {
				sends++
			}
		}
		t.add(a.ItemID, a.EndedAt, Sends, min(sends, mostSends))
	}
	for _, s := range all {
		if s.Number < a.Number && isUnknown(s) {
			if by := settledBy(s, all, t.batch.Decided[a.ItemID]); by.number == a.Number {
				if by.how.Prevents() && !t.batch.Items[a.ItemID].Confirmed {
					by.how = SettledShown
				}
				t.add(a.ItemID, by.at, SettledBy(by.how), Bucket(by.at.Sub(s.EndedAt)))
			}
		}
	}
}

// act counts what a decision settled. A report's is followed to the attempt that it left, which began before it was known.
func (t *tally) act(d Decision) {
	if d.What == (work.Reported{}).Name() {
		for _, a := range t.batch.Attempts[d.ItemID] {
			if a.FromReport() && a.EndedAt.Equal(d.At) {
				t.call(a)
			}
		}
		return
	}
	all, acts := t.batch.Attempts[d.ItemID], t.batch.Decided[d.ItemID]
	for _, s := range all {
		if isUnknown(s) {
			if by := settledBy(s, all, acts); by.number == 0 && by.act == d.ID && by.how != "" {
				t.add(d.ItemID, by.at, SettledBy(by.how), Bucket(by.at.Sub(s.EndedAt)))
			}
		}
	}
}

func isSend(a work.Attempt) bool { return a.Kind == work.Send && a.LateFor == 0 }

func isUnknown(a work.Attempt) bool { return isSend(a) && a.Outcome == work.Unknown }

// isProof reports whether an attempt may have confirmed its item. After a late lookup it is looked again.
func isProof(a work.Attempt) bool {
	return a.Outcome == work.Accepted || a.Finding == work.FoundMatching && a.LateFor == 0
}

// isFirstProof reports whether the attempt is the first that showed the record of an item.
func isFirstProof(a work.Attempt, all []work.Attempt) bool {
	for _, b := range all {
		if isProof(b) && (b.EndedAt.Before(a.EndedAt) || b.EndedAt.Equal(a.EndedAt) && b.Number < a.Number) {
			return false
		}
	}
	return isProof(a)
}

// settling is what settled an unknown outcome: an attempt, or an act. The zero settling is none.
type settling struct {
	how    Settled
	at     time.Time
	number int
	act    int64
}

// settledBy finds the first thing that settled the outcome of a send. Whatever shows the record settles it, and whatever
// allowed the next send had to: there is no send without proof of absence. Everything that happened up to the end of the
// attempt that is counted is in the lists, so a settlement is found once, when its own turn comes.
func settledBy(s work.Attempt, all []work.Attempt, acts []Decision) settling {
	var first settling
	take := func(c settling) {
		if c.how != "" && (first.how == "" || c.at.Before(first.at)) {
			first = c
		}
	}
	for _, a := range all {
		if a.Number <= s.Number || a.EndedAt.IsZero() && !isSend(a) {
			continue
		}
		c := settling{at: a.EndedAt, number: a.Number}
		switch {
		case isSend(a):
			c.how, c.at = allowed(s, a, all, acts), a.StartedAt
		case a.LateFor != 0 && a.LateFor != s.Number:
		case a.LateFor != 0 && a.Outcome == work.Accepted:
			c.how = SettledLate
		case a.LateFor != 0 && a.Kind == work.Send && a.Outcome.SettlesAbsent():
			c.how = SettledRefused
		case a.Finding == work.FoundMatching && a.FromReport():
			c.how = SettledReport
		case a.Finding == work.FoundMatching:
			c.how = SettledFound
		}
		take(c)
	}
	for _, d := range acts {
		if (d.To == work.Resolved || d.To == work.Closed) && !d.At.Before(s.EndedAt) {
			take(settling{how: SettledPerson, at: d.At, act: d.ID})
		}
	}
	return first
}

// allowed says what allowed the send after one whose outcome was unknown.
func allowed(s, next work.Attempt, all []work.Attempt, acts []Decision) Settled {
	for _, d := range acts {
		if d.What == (work.Attest{}).Name() && !d.At.Before(s.EndedAt) && !d.At.After(next.StartedAt) {
			return SettledPerson
		}
	}
	for _, a := range all {
		if a.Number > s.Number && a.Number < next.Number && a.Finding == work.NotFound {
			return SettledAbsent
		}
	}
	return SettledKey
}
