package review

import (
	"context"
	"errors"
	"strings"
	"time"

	"onefold/internal/work"
)

const holdBite = 200

// HoldSource takes everything that waits and came from the source, for example "import:7", out of the automation's hands,
// in small changes, and returns how many items it stopped. What is on its way at that moment is let finish. It may be
// repeated: what it stopped before does not wait any more. It returns ErrForbidden, ErrNotFound if no source is named, or
// a *work.Refusal if the note is missing; with any other error some items may have been stopped.
func (s *Service) HoldSource(ctx context.Context, by work.Actor, source, note string) (int, error) {
	note = Input{Note: note}.clean().Note
	switch {
	case !mayAct(by):
		return 0, ErrForbidden
	case strings.TrimSpace(source) == "":
		return 0, ErrNotFound
	case note == "":
		return 0, &work.Refusal{Code: work.RefusedNote}
	case len([]rune(note)) > MaxNote:
		return 0, &work.Refusal{Code: RefusedTooLong}
	}
	stopped, after := 0, int64(0)
	for {
		last := int64(0)
		moves, err := s.store.Change(ctx, work.Pick{System: &work.PickWaiting{Source: source, After: after, Limit: holdBite}},
			func(now time.Time, picked []work.Picked) ([]work.Move, error) {
				moves := make([]work.Move, 0, len(picked))
				last = 0
				for _, p := range picked {
					last = max(last, p.Item.ID)
					if p.Item.CompanyID != s.company {
						continue
					}
					move, err := decide(Hold, Input{Note: note}, by, p.Item, p.Rules, now)
					var refusal *work.Refusal
					if errors.As(err, &refusal) {
						continue
					}
					if err != nil {
						return nil, err
					}
					moves = append(moves, move)
				}
				return moves, nil
			})
		if err != nil {
			return stopped, err
		}
		stopped += len(moves)
		if last == 0 {
			return stopped, nil
		}
		after = last
	}
}
