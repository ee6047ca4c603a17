package review

import (
	"context"
	"errors"

	"onefold/internal/work"
)

// Corrected is a new version of an item's content beside the one that it replaced.
type Corrected struct {
	Before work.Invoice
	work.Revision
}

// correctionsOnPage is more than a person makes.
const correctionsOnPage = 20

// corrections returns the newest corrections of an item, one that waits too, newest first.
func (s *Service) corrections(ctx context.Context, it work.Item) (list []Corrected, err error) {
	number := max(it.Revision, it.Proposed)
	if number < 2 {
		return nil, nil
	}
	is, err := s.store.Revision(ctx, it.ID, number)
	for err == nil && number > 1 && len(list) < correctionsOnPage {
		var was work.Revision
		number--
		if was, err = s.store.Revision(ctx, it.ID, number); err == nil {
			list = append(list, Corrected{Before: was.Invoice, Revision: is})
			is = was
		}
	}
	if errors.Is(err, ErrNotFound) {
		err = nil // what is not there any more is not shown
	}
	return list, err
}

// Correction returns what an act corrected; nil: nothing, or it was replaced by a later correction.
func (d Detail) Correction(a work.Act) *Corrected {
	for i, c := range d.Corrected {
		if c.At.Equal(a.At) && c.By == a.By.Label() {
			return &d.Corrected[i]
		}
	}
	return nil
}
