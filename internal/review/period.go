package review

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// PeriodStore is what the page of a month needs from the database.
type PeriodStore interface {
	// PeriodCounts adds up the documents of a month, each by its first unfinished step.
	PeriodCounts(ctx context.Context, companyID int64, period string) ([]PeriodCount, error)
	// Periods returns the months in which something is recorded, newest first.
	Periods(ctx context.Context, companyID int64) ([]string, error)
	// PeriodDocuments returns at most limit documents of a month, in the order of automation and recording, and where to go
	// on: the zero cursor at the end.
	PeriodDocuments(ctx context.Context, companyID int64, period string, after PeriodCursor, limit int) ([]Document, PeriodCursor, error)
}

// PeriodCount is a number of documents of one automation, currency and state, and their exact sum.
type PeriodCount struct {
	Automation string
	Status     work.Status
	OpenKind   work.Kind
	Reason     work.Reason
	Count      int64
	Total      currency.Amount
}

// PeriodCursor is the place after a document: its automation and its first item.
type PeriodCursor struct {
	Automation string
	ID         int64
}

// Document is an automation and business key as it stands, by its first unfinished step.
type Document struct {
	Item      work.Item
	SettledAt time.Time  // when it was confirmed, resolved or closed; zero: it is open
	SettledBy work.Actor // the person who settled it; empty: the automation did
	Note      string     // theirs
}

// Sum is a number of documents and their amounts, one for each currency.
type Sum struct {
	Count   int64
	Amounts map[string]currency.Amount
}

// In is the amount in a currency; zero if there is none.
func (s Sum) In(code string) currency.Amount {
	if a, ok := s.Amounts[code]; ok {
		return a
	}
	zero, _ := currency.NewAmountFromInt64(0, code)
	return zero
}

func (s *Sum) add(n int64, total currency.Amount) error {
	code := total.CurrencyCode()
	sum, err := s.In(code).Add(total)
	if err != nil {
		return err
	}
	if s.Amounts == nil {
		s.Amounts = map[string]currency.Amount{}
	}
	s.Count += n
	s.Amounts[code] = sum
	return nil
}

// MonthLine is one automation in a month.
type MonthLine struct {
	Automation string // empty: all of them
	Expected   Sum    // what the month should have
	Tabs       map[Tab]*Sum
	Different  Sum                  // of those in TabReview: what is outside is not what was asked for
	Differing  map[work.Reason]*Sum // the same by reason
}

// MonthTabs are the lists that a month is divided into: each document is in exactly one.
var MonthTabs = []Tab{TabFinished, TabReview, TabUnknown, TabWaiting, TabClosed}

// Differing are the reasons that say that what is outside is not what was asked for.
var Differing = []work.Reason{work.ReasonMismatch, work.ReasonDuplicates}

func newMonthLine(automation string) *MonthLine {
	l := &MonthLine{Automation: automation, Tabs: map[Tab]*Sum{}, Differing: map[work.Reason]*Sum{}}
	for _, t := range MonthTabs {
		l.Tabs[t] = &Sum{}
	}
	for _, r := range Differing {
		l.Differing[r] = &Sum{}
	}
	return l
}

// Currencies lists the currencies of what is expected, in order of code.
func (l *MonthLine) Currencies() []string { return slices.Sorted(maps.Keys(l.Expected.Amounts)) }

// Settled counts the documents for which nothing more is to be done.
func (l *MonthLine) Settled() int64 { return l.Tabs[TabFinished].Count + l.Tabs[TabClosed].Count }

// Open counts what is expected and not settled.
func (l *MonthLine) Open() int64 { return l.Expected.Count - l.Settled() }

func (l *MonthLine) add(c PeriodCount) error {
	sums := []*Sum{&l.Expected, l.Tabs[TabOf(c.Status, c.OpenKind)]}
	if c.Status == work.Review && l.Differing[c.Reason] != nil {
		sums = append(sums, &l.Different, l.Differing[c.Reason])
	}
	for _, s := range sums {
		if err := s.add(c.Count, c.Total); err != nil {
			return err
		}
	}
	return nil
}

// TabOf is the list that an item in the status belongs to, as Search and Counts see it; kind is that of its open call.
func TabOf(status work.Status, kind work.Kind) Tab {
	switch status {
	case work.Confirmed, work.Resolved:
		return TabFinished
	case work.Closed:
		return TabClosed
	case work.Review:
		return TabReview
	case work.Pending:
		return TabUnknown
	case work.InProgress:
		if kind == work.Find {
			return TabUnknown
		}
	}
	return TabWaiting
}

// Month is everything that the page of a month shows.
type Month struct {
	Period string
	Lines  []*MonthLine // by automation
	All    *MonthLine
}

// Complete reports whether everything that is expected is settled; a month without anything is not.
func (m Month) Complete() bool { return m.All.Expected.Count > 0 && m.All.Open() == 0 }

// Periods answers whether a month is complete. It is safe for concurrent use.
type Periods struct {
	store   PeriodStore
	company int64
}

// NewPeriods returns the service for a company.
func NewPeriods(store PeriodStore, companyID int64) *Periods { return &Periods{store, companyID} }

// Month adds up a month, written like 2026-11; ErrNotFound if it is none.
func (p *Periods) Month(ctx context.Context, by work.Actor, period string) (Month, error) {
	if err := p.mayRead(by, period); err != nil {
		return Month{}, err
	}
	counts, err := p.store.PeriodCounts(ctx, p.company, period)
	if err != nil {
		return Month{}, err
	}
	lines := map[string]*MonthLine{}
	m := Month{Period: period, All: newMonthLine("")}
	for _, c := range counts {
		l := lines[c.Automation]
		if l == nil {
			l = newMonthLine(c.Automation)
			lines[c.Automation] = l
		}
		// What is recorded is expected. Plans will add to Expected what they have not recorded yet.
		for _, to := range []*MonthLine{l, m.All} {
			if err := to.add(c); err != nil {
				return Month{}, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		m.Lines = append(m.Lines, lines[name])
	}
	return m, nil
}

// List returns the months in which something is recorded, newest first.
func (p *Periods) List(ctx context.Context, by work.Actor) ([]string, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return p.store.Periods(ctx, p.company)
}

const documentsAtOnce = 500

// Documents returns the documents of a month in the order of automation and recording, each exactly once whatever moves
// meanwhile. ErrNotFound: it is no month.
func (p *Periods) Documents(ctx context.Context, by work.Actor, period string) (iter.Seq2[Document, error], error) {
	if err := p.mayRead(by, period); err != nil {
		return nil, err
	}
	return func(yield func(Document, error) bool) {
		for after := (PeriodCursor{}); ; {
			some, next, err := p.store.PeriodDocuments(ctx, p.company, period, after, documentsAtOnce)
			if err != nil {
				yield(Document{}, err)
				return
			}
			for _, d := range some {
				if !yield(d, nil) {
					return
				}
			}
			if next == (PeriodCursor{}) {
				return
			}
			after = next
		}
	}, nil
}

func (p *Periods) mayRead(by work.Actor, period string) error {
	if !MayRead(by) {
		return ErrForbidden
	}
	if _, err := work.ParsePeriod(period); err != nil {
		return ErrNotFound
	}
	return nil
}
