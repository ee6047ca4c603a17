package review

import (
	"context"
	"iter"
	"strings"
	"time"

	"onefold/internal/work"
)

// AttemptQuery is a search of the attempts of all items. The zero query lists everything, newest start first. All conditions
// must hold.
type AttemptQuery struct {
	CompanyID  int64
	Key        string // a business key, or how it begins; empty: any. Attempts of exactly this key: newest number first
	SystemID   string
	Automation string
	Kind       AttemptKind
	Result     string // an outcome or a finding, or ResultOpen
	// The HTTP status is in this range; 0 and 0: any. NoStatus: no answer had one.
	StatusFrom, StatusTo int
	NoStatus             bool
	Node                 string
	AskedBy              string        // who asked, as "person:7", or AskedByAnybody
	From, To             time.Time     // started in [From, To); zero: no bound
	Longer               time.Duration // the call took longer than this, or is open for longer by Now; 0: any
	Now                  time.Time     // the service fills it in
	After                AttemptCursor // zero: from the newest
	Limit                int           // rows on a page; 1 to 500
}

// AttemptKind is what kind of a call an attempt was.
type AttemptKind string

const (
	KindSend   AttemptKind = "send"
	KindFind   AttemptKind = "find"   // a lookup at the accounting system
	KindLate   AttemptKind = "late"   // an answer that came after its attempt was over
	KindReport AttemptKind = "report" // what a report of the accounting system held
)

// AttemptKinds are all of them.
var AttemptKinds = []AttemptKind{KindSend, KindFind, KindLate, KindReport}

// KindOf says what kind of a call it was.
func KindOf(a work.Attempt) AttemptKind {
	switch {
	case a.LateFor != 0:
		return KindLate
	case a.FromReport():
		return KindReport
	}
	return AttemptKind(a.Kind)
}

// ResultOpen finds attempts that are not over.
const ResultOpen = "open"

// ResultOf is the outcome or the finding, or ResultOpen.
func ResultOf(a work.Attempt) string {
	switch {
	case a.EndedAt.IsZero():
		return ResultOpen
	case a.Kind == work.Find:
		return string(a.Finding)
	}
	return string(a.Outcome)
}

// AskedByAnybody finds what a person or a token asked for.
const AskedByAnybody = "*"

// AttemptCursor is the place after an attempt in the list.
type AttemptCursor struct {
	At     time.Time
	ItemID int64
	Number int
}

// AttemptRow is an attempt with what names its item. It has no request, response or record: those are large.
type AttemptRow struct {
	work.Attempt
	BusinessKey string
	Automation  string
	Step        string
	Steps       []string
	SystemID    string
}

// AttemptPage is one page of the list.
type AttemptPage struct {
	Rows []AttemptRow
	How  How           // how the key was found: HowExact, HowPrefix or HowNone; HowAll if none was asked for
	Next AttemptCursor // zero: no more, as far as was looked
	// Further is set if so many attempts were looked through that the page ends before it is full: so far was looked, and
	// there are older ones.
	Further AttemptCursor
}

// AttemptStore is what the pages of attempts need from the database.
type AttemptStore interface {
	// AttemptList returns one page of the attempts of a company, newest start first. Its cost does not grow with the number
	// of attempts, whatever the filter.
	AttemptList(ctx context.Context, q AttemptQuery) (AttemptPage, error)
}

// AttemptList lists attempts. The key is trimmed.
func (s *Service) AttemptList(ctx context.Context, by work.Actor, q AttemptQuery) (AttemptPage, error) {
	if !MayRead(by) {
		return AttemptPage{}, ErrForbidden
	}
	var err error
	if q.Now, err = s.store.Now(ctx); err != nil {
		return AttemptPage{}, err
	}
	q.CompanyID, q.Key = s.company, strings.TrimSpace(q.Key)
	return s.store.AttemptList(ctx, q)
}

// AttemptsFurther goes on with a list from q.After, part by part, until one has a row, there are no older ones or so much time
// has passed. It returns where that part begins: the page from there is as cheap as any.
func (s *Service) AttemptsFurther(ctx context.Context, by work.Actor, q AttemptQuery, most time.Duration) (AttemptCursor, error) {
	q.Limit = 1
	var began time.Time
	for {
		now, err := s.store.Now(ctx)
		if err != nil {
			return q.After, err
		}
		if began.IsZero() {
			began = now
		}
		page, err := s.AttemptList(ctx, by, q)
		if err != nil || len(page.Rows) > 0 || page.Further == (AttemptCursor{}) || now.Sub(began) >= most {
			return q.After, err
		}
		q.After = page.Further
	}
}

const attemptsExported = 500 // at a time

// ExportAttempts returns all attempts that the query lists, however far back, by the same filter and rights as AttemptList.
// What begins meanwhile is above what was read already: it is left out and nothing comes twice. One page is held in memory.
func (s *Service) ExportAttempts(ctx context.Context, by work.Actor, q AttemptQuery) (iter.Seq2[AttemptRow, error], error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	q.Limit, q.After = attemptsExported, AttemptCursor{}
	return func(yield func(AttemptRow, error) bool) {
		for {
			page, err := s.AttemptList(ctx, by, q)
			if err != nil {
				yield(AttemptRow{}, err)
				return
			}
			for _, row := range page.Rows {
				if !yield(row, nil) {
					return
				}
			}
			q.After = page.Next
			if q.After == (AttemptCursor{}) {
				q.After = page.Further
			}
			if q.After == (AttemptCursor{}) {
				return
			}
		}
	}, nil
}

// AttemptDetail is everything that the page of one attempt shows.
type AttemptDetail struct {
	Detail  // the item, its system and the clock; of its history only the attempt itself
	Attempt work.Attempt
	Before  int // the number of the attempt before it; 0: it is the first
	After   int // the number of the one after it; 0: it is the newest
}

// Attempt returns one attempt of an item, or ErrNotFound.
func (s *Service) Attempt(ctx context.Context, by work.Actor, itemID int64, number int) (AttemptDetail, error) {
	var d AttemptDetail
	if !MayRead(by) {
		return d, ErrForbidden
	}
	var err error
	if d.Now, err = s.store.Now(ctx); err != nil {
		return d, err
	}
	if d.Item, err = s.store.Item(ctx, s.company, itemID); err != nil {
		return d, err
	}
	if d.System, err = s.store.System(ctx, d.Item.SystemID); err != nil {
		return d, err
	}
	found, err := s.store.Attempts(ctx, itemID, number+1, 2)
	if err != nil {
		return d, err
	}
	if number < 1 || len(found) == 0 || found[0].Number != number {
		return AttemptDetail{}, ErrNotFound
	}
	d.Attempt, d.Attempts = found[0], found[:1]
	if len(found) > 1 {
		d.Before = found[1].Number
	}
	if d.Item.Attempts > number {
		d.After, err = s.attemptAfter(ctx, itemID, number)
	}
	return d, err
}

// attemptAfter is the number of the next attempt that is still there; 0: none is. Those between were removed as too old.
func (s *Service) attemptAfter(ctx context.Context, itemID int64, number int) (after int, err error) {
	for _, look := range []struct{ before, most int }{{number + 2, 1}, {0, 500}} { // where there are gaps little is left
		list, err := s.store.Attempts(ctx, itemID, look.before, look.most)
		for _, a := range list { // newest first
			if a.Number > number {
				after = a.Number
			}
		}
		if err != nil || after > 0 {
			return after, err
		}
	}
	return 0, nil
}
