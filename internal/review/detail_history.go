package review

import (
	"context"
	"time"

	"onefold/internal/work"
)

// NumberedAct is an act with its id, which grows with the time.
type NumberedAct struct {
	ID int64
	work.Act
}

// Place is where a part of an item's history begins: with the attempts and acts below these numbers. The zero place is the
// newest part.
type Place struct {
	Attempt int
	Act     int64 // 0: with the first of these attempts
}

// Line is an attempt or an act in a history.
type Line struct {
	Attempt *work.Attempt
	Act     *work.Act
	Place   Place // the part that begins with this line
}

const (
	attemptsOnPage = 20
	actsOnPage     = 50
	notesOnPage    = 24 << 10 // bytes of what people wrote
	latestActs     = 200      // how far back is looked for what a person did last
)

// part reads the part of the history that begins there.
func (s *Service) part(ctx context.Context, d *Detail, from Place) (err error) {
	if d.Attempts, err = s.store.Attempts(ctx, d.Item.ID, from.Attempt, attemptsOnPage+1); err != nil {
		return err
	}
	newest, err := s.store.ActsBefore(ctx, d.Item.ID, 0, time.Time{}, latestActs)
	if err != nil {
		return err
	}
	for _, a := range newest {
		d.Acts = append(d.Acts, a.Act)
	}
	acts := newest
	if from != (Place{}) {
		var before time.Time
		if from.Act == 0 && len(d.Attempts) > 0 {
			before = Moment(d.Attempts[0])
		}
		if acts, err = s.store.ActsBefore(ctx, d.Item.ID, from.Act, before, actsOnPage+1); err != nil {
			return err
		}
	}
	d.History, d.Next = merged(d.Attempts, acts)
	if len(d.Attempts) > attemptsOnPage {
		d.Attempts, d.Older = d.Attempts[:attemptsOnPage], true
	}
	return nil
}

// merged is one part of a history, and where the next one begins. There is one more of attempts and of acts than it holds, if
// there are so many. What comes next is named by numbers, so that everything is on exactly one part, whatever the clocks said.
func merged(attempts []work.Attempt, acts []NumberedAct) (lines []Line, next Place) {
	tries, did, notes := 0, 0, 0
	for {
		here := Place{1, 1} // nothing is below
		if tries < len(attempts) {
			here.Attempt = attempts[tries].Number + 1
		}
		if did < len(acts) {
			here.Act = acts[did].ID + 1
		}
		switch {
		case here == Place{1, 1}:
			return lines, Place{}
		case did < len(acts) && (tries == len(attempts) || !acts[did].At.Before(Moment(attempts[tries]))):
			if notes += len(acts[did].Note); did == actsOnPage || did > 0 && notes > notesOnPage {
				return lines, here
			}
			lines = append(lines, Line{Act: &acts[did].Act, Place: here})
			did++
		case tries == attemptsOnPage:
			return lines, here
		default:
			lines = append(lines, Line{Attempt: &attempts[tries], Place: here})
			tries++
		}
	}
}
