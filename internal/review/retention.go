package review

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"onefold/internal/work"
)

// HistoryKind is a kind of history that is kept for a time and then removed. Items, their keys and revisions, people's decisions,
// reports and the audit trail are no such kind: they stay.
type HistoryKind string

// The kinds of history.
const (
	Excerpts HistoryKind = "excerpts" // of request and answer, of the attempts of finished items; emptied in place
	Attempts HistoryKind = "attempts" // of finished items, without the evidence
	Received HistoryKind = "events"   // that shops and accounting systems sent in
	Outcomes HistoryKind = "outcomes" // that programs were told
	Messages HistoryKind = "notices"  // that people were sent
	BulkSets HistoryKind = "runs"     // the single items of finished bulk runs
	FileRows HistoryKind = "imports"  // the single rows of imported files
)

// Histories are all kinds, in the order in which the page shows them.
var Histories = []HistoryKind{Excerpts, Attempts, Received, Outcomes, Messages, BulkSets, FileRows}

// KeepMonths are the times that can be chosen for a kind, in months; 0 is for ever.
func KeepMonths(k HistoryKind) []int {
	if k == Excerpts {
		return []int{1, 3, 6, 12, 24, 0}
	}
	return []int{6, 12, 24, 36, 60, 120, 0}
}

// Retention says how many months each kind is kept; 0: for ever.
type Retention map[HistoryKind]int

// DefaultRetention is what holds until an admin decides.
func DefaultRetention() Retention {
	r := Retention{Excerpts: 6}
	for _, k := range Histories[1:] {
		r[k] = 24
	}
	return r
}

// Before is the time before which a kind is removed; false: never.
func (r Retention) Before(k HistoryKind, now time.Time) (time.Time, bool) {
	months := r[k]
	return now.AddDate(0, -months, 0), months > 0
}

// String is the form in the audit trail: "attempts 24, events 24".
func (r Retention) String() string {
	var parts []string
	for _, k := range Histories {
		parts = append(parts, fmt.Sprintf("%s %d", k, r[k]))
	}
	return strings.Join(parts, ", ")
}

// ErrKeepTime says that a time is none of those that can be chosen.
var ErrKeepTime = errors.New("choose how long each kind of history is kept from the times that are offered")

// RetentionStore is what retention needs from the database.
type RetentionStore interface {
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Retention returns what an admin decided; a kind without a decision is left out.
	Retention(ctx context.Context, companyID int64) (Retention, error)
	// SetRetention writes all kinds and puts the change on record.
	SetRetention(ctx context.Context, companyID int64, from, to Retention, by work.Actor) error
	// Aged counts what of a kind would go if everything before the time went, but stops at most: for Excerpts and Attempts
	// finished items, for BulkSets and FileRows runs and files, else rows.
	Aged(ctx context.Context, companyID int64, k HistoryKind, before time.Time, most int64) (int64, error)
	// Removed returns what was removed so far and when last, by kind.
	Removed(ctx context.Context, companyID int64) (map[HistoryKind]Removed, error)
	// HoldRetention takes or renews the right to remove until a time; false: another server has it.
	HoldRetention(ctx context.Context, node string, until time.Time) (bool, error)
	// RemoveAged removes from the oldest on, in one short transaction or a few, what is before the time, and remembers how far
	// it came. It looks at no more than limit items or rows. More is true if there may be more to remove.
	RemoveAged(ctx context.Context, companyID int64, k HistoryKind, before time.Time, limit int) (removed int64, more bool, err error)
}

// Removed tells what of a kind is gone.
type Removed struct {
	Rows int64
	At   time.Time // when the last was removed; zero: none was
}

// Keeping is the page on which admins decide how long history is kept. It is safe for concurrent use.
type Keeping struct {
	store   RetentionStore
	company int64
}

// NewKeeping returns it for a company.
func NewKeeping(store RetentionStore, companyID int64) *Keeping {
	return &Keeping{store: store, company: companyID}
}

// AgedUpTo is the most that a preview counts.
const AgedUpTo = 10_000

// Settings returns what holds now, with what was removed so far.
func (k *Keeping) Settings(ctx context.Context, by work.Actor) (Retention, map[HistoryKind]Removed, error) {
	if !MayKeep(by) {
		return nil, nil, ErrForbidden
	}
	r, err := retention(ctx, k.store, k.company)
	if err != nil {
		return nil, nil, err
	}
	gone, err := k.store.Removed(ctx, k.company)
	return r, gone, err
}

// Preview counts what would go with these settings, each kind up to AgedUpTo.
func (k *Keeping) Preview(ctx context.Context, by work.Actor, r Retention) (map[HistoryKind]int64, error) {
	if !MayKeep(by) {
		return nil, ErrForbidden
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	now, err := k.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[HistoryKind]int64{}
	for _, kind := range Histories {
		if before, ends := r.Before(kind, now); ends {
			if counts[kind], err = k.store.Aged(ctx, k.company, kind, before, AgedUpTo); err != nil {
				return nil, err
			}
		}
	}
	return counts, nil
}

// Change decides how long each kind is kept. What is removed by it does not come back when it is changed again.
func (k *Keeping) Change(ctx context.Context, by work.Actor, to Retention) error {
	if !MayKeep(by) {
		return ErrForbidden
	}
	if err := to.check(); err != nil {
		return err
	}
	from, err := retention(ctx, k.store, k.company)
	if err != nil || maps.Equal(from, to) {
		return err
	}
	return k.store.SetRetention(ctx, k.company, from, to, by)
}

// MayKeep reports whether the actor may decide how long history is kept.
func MayKeep(by work.Actor) bool { return by.Kind == work.Person && by.Can(work.Admin) }

func (r Retention) check() error {
	for _, k := range Histories {
		if months, ok := r[k]; !ok || !slices.Contains(KeepMonths(k), months) {
			return ErrKeepTime
		}
	}
	return nil
}

func retention(ctx context.Context, store RetentionStore, companyID int64) (Retention, error) {
	r := DefaultRetention()
	decided, err := store.Retention(ctx, companyID)
	maps.Copy(r, decided)
	return r, err
}
