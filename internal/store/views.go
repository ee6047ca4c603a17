package store

import (
	"context"
	"errors"

	"onefold/internal/review"
)

var errNotBuilt = errors.New("not built yet")

// Groups implements review.Store.
func (s *Store) Groups(context.Context, review.Query, int) ([]review.Group, error) {
	return nil, errNotBuilt
}

// Count implements review.Store.
func (s *Store) Count(context.Context, review.Query, int64) (int64, error) { return 0, errNotBuilt }

// Views implements review.Store.
func (s *Store) Views(context.Context, int64, string) ([]review.View, error) { return nil, errNotBuilt }

// SaveView implements review.Store.
func (s *Store) SaveView(context.Context, int64, review.View) error { return errNotBuilt }

// DeleteView implements review.Store.
func (s *Store) DeleteView(context.Context, int64, int64, string) error { return errNotBuilt }
