package review

import (
	"context"
	"errors"
	"slices"
	"strings"

	"onefold/internal/work"
)

// Evidence is what an item's decisions rest on, beside its own row.
type Evidence interface {
	// Revision returns one version of an item's content, or ErrNotFound.
	Revision(ctx context.Context, itemID int64, number int) (work.Revision, error)
	// Seen returns the newest attempt with a higher number that kept a record of what the accounting system holds, or ErrNotFound.
	Seen(ctx context.Context, itemID int64, above int) (work.Attempt, error)
}

// Sighting is the newest record that was seen outside, and the attempt that saw it.
type Sighting struct {
	Attempt work.Attempt
	Record  work.Record
}

// mostUnseen is how many attempts are looked through for a record if the item does not say that one was ever seen.
const mostUnseen = 200

// sighting returns what was last seen of the item outside; nil: nothing.
func (s *Service) sighting(ctx context.Context, it work.Item) (*Sighting, error) {
	above := 0
	if it.Positive == work.NoEvidence && it.SeenID == "" && it.LateID == "" && it.ExternalID == "" {
		above = max(it.Attempts-mostUnseen, 0) // looks that were never answered may be thousands
	}
	a, err := s.store.Seen(ctx, it.ID, above)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	record, ok := work.ReadRecord(a.Record)
	if !ok {
		return nil, nil
	}
	return &Sighting{a, record}, nil
}

// AmountDiffers reports whether the record has another total than the item asks for. What a lookup took for a match, within
// the system's rounding, does not differ.
func (s *Sighting) AmountDiffers(it work.Item) bool {
	if s == nil || s.Record.Total.CurrencyCode() == "" || s.Attempt.Finding == work.FoundMatching && s.Attempt.Revision == it.Revision {
		return false
	}
	return !s.Record.Total.Equal(it.Invoice.Total)
}

// Is reports whether people know the record under the reference: its id or its number.
func (s *Sighting) Is(reference string) bool {
	if s == nil {
		return false
	}
	names := []string{work.FoldKey(s.Record.ID), work.FoldKey(s.Record.Number)}
	return strings.TrimSpace(reference) != "" && slices.Contains(names, work.FoldKey(reference))
}
