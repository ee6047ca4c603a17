package review

import (
	"context"
	"strconv"
)

// Mark is the state of what people see, cheap to read and good only for comparing with another Mark.
type Mark struct {
	All   string          // another text after every change of an item, a system or an alert; never empty
	Items map[int64]int64 // the versions of the items that were asked for; one that does not exist is missing
}

// Of is the state of one item, as its version in words; empty if it is not known. Item 0 stands for everything.
func (m Mark) Of(item int64) string {
	if item == 0 {
		return m.All
	}
	if v, ok := m.Items[item]; ok {
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// MarkStore is what live pages need from the database.
type MarkStore interface {
	// Mark returns the company's state, with the versions of these items. Its cost does not grow with the number of items.
	Mark(ctx context.Context, companyID int64, items []int64) (Mark, error)
}

// Live tells whether anything changed, for pages that are open.
type Live struct {
	store   MarkStore
	company int64
}

// NewLive returns the service for a company.
func NewLive(store MarkStore, companyID int64) *Live { return &Live{store, companyID} }

// Mark returns the state. One reading serves everybody who looks: who is told of it must hold MayRead.
func (l *Live) Mark(ctx context.Context, items []int64) (Mark, error) {
	return l.store.Mark(ctx, l.company, items)
}
