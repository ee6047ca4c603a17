package review

import (
	"context"

	"onefold/internal/work"
)

// Accepted is a difference that somebody let count at an earlier step of the same document.
type Accepted struct {
	Step string
	Act  work.Act
}

// accepted returns who let the same other amount count at an earlier step; nil: nobody did. It settles nothing by itself.
func (s *Service) accepted(ctx context.Context, it work.Item, seen *Sighting, chain []work.Item) (*Accepted, error) {
	if it.PreviousID == 0 || !seen.AmountDiffers(it) {
		return nil, nil
	}
	for _, before := range chain {
		if before.ID == it.ID || before.Status != work.Resolved || !before.Invoice.Total.Equal(it.Invoice.Total) {
			continue
		}
		there, err := s.sighting(ctx, before)
		if err != nil {
			return nil, err
		}
		if !there.AmountDiffers(before) || !there.Record.Total.Equal(seen.Record.Total) {
			continue
		}
		acts, err := s.store.Acts(ctx, before.ID, recentActs)
		if err != nil {
			return nil, err
		}
		for _, a := range acts { // newest first
			if a.What == Resolve.Event() && there.Is(a.Detail) {
				return &Accepted{before.Step, a}, nil
			}
		}
	}
	return nil, nil
}
