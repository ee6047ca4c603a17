package recurring

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// Expected is an invoice that a plan will bring, or brought.
type Expected struct {
	Period
	PlanID       int64
	Code         string
	CustomerID   string
	CustomerName string
	Key          string // the business key
	Total        currency.Amount
	DueDate      string   // 2006-01-02; empty: none
	State        State    // of the plan
	Late         bool     // it was due before today, or before it was made
	Covered      *Covered // what became of it; nil: not taken up
}

// Stage says how far an expected invoice is.
type Stage string

const (
	Coming   Stage = "coming"   // it will be recorded on its day
	Held     Stage = "held"     // its plan is paused or waits for a person
	Recorded Stage = "recorded" // it was
	Skipped  Stage = "left_out" // a person decided that there is none
	Stuck    Stage = "stuck"    // it was taken up and cannot be recorded: see Covered.Problem
)

// Stage says how far the invoice is.
func (e Expected) Stage() Stage {
	switch c := e.Covered; {
	case c == nil && e.State == Active:
		return Coming
	case c == nil:
		return Held
	case c.LeftOut:
		return Skipped
	case c.ItemID == 0 && c.Problem != "":
		return Stuck
	case c.ItemID == 0:
		return Coming
	}
	return Recorded
}

func (p Plan) expected(of Period, today time.Time) (Expected, error) {
	v, err := p.Invoice(of)
	if err != nil {
		return Expected{}, fmt.Errorf("plan %s: %w", p.Code, err)
	}
	return Expected{Period: of, PlanID: p.ID, Code: p.Code, CustomerID: p.CustomerID, CustomerName: p.CustomerName, Key: p.Key(of), Total: v.Total,
		DueDate: v.DueDate, State: p.State, Late: of.From.Before(today)}, nil
}

// Expect returns the first n invoices for periods that begin on the day or later. It works for a plan that is being typed,
// once Problems finds nothing.
func (p Plan) Expect(day time.Time, n int, today time.Time) ([]Expected, error) {
	periods, err := p.Upcoming(day, n)
	if err != nil {
		return nil, err
	}
	list := make([]Expected, len(periods))
	for i, of := range periods {
		if list[i], err = p.expected(of, today); err != nil {
			return nil, err
		}
	}
	return list, nil
}

const maxCalendar = 120

// Calendar returns the next n invoices of a plan that were not taken up, with their amounts; n is kept between 1 and 120.
func (s Plans) Calendar(ctx context.Context, by work.Actor, id int64, n int) ([]Expected, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	p, err := s.Store.Plan(ctx, s.CompanyID, id)
	if err != nil {
		return nil, err
	}
	today, err := s.Today(ctx)
	if err != nil {
		return nil, err
	}
	return p.Expect(p.CoveredTo, min(max(n, 1), maxCalendar), today)
}

// Month is what plans bring in a month.
type Month struct {
	Month    string // 2006-01
	Today    time.Time
	Invoices []Expected // by first day, then by code
	Totals   []MonthTotal
	Problems []error // plans that cannot be counted, in the user's words
}

// MonthTotal adds up the invoices of one currency and stage.
type MonthTotal struct {
	Currency string
	Stage    Stage
	Invoices int
	Amount   currency.Amount
}

// Preview returns the invoices whose periods begin in a month, whether they were made or not. Amounts are as planned:
// an invoice that a person corrected later has its own on its page.
func (s Plans) Preview(ctx context.Context, by work.Actor, month string) (Month, error) {
	if !MayRead(by) {
		return Month{}, ErrForbidden
	}
	first, err := work.ParsePeriod(month)
	if err != nil {
		return Month{}, err
	}
	m := Month{Month: month}
	last := first.AddDate(0, 1, -1)
	if m.Today, err = s.Today(ctx); err != nil {
		return m, err
	}
	covered, err := s.Store.CoveredBetween(ctx, s.CompanyID, first, last)
	if err != nil {
		return m, err
	}
	for q := (ListQuery{Limit: 500}); ; {
		plans, err := s.Store.PlanList(ctx, s.CompanyID, q)
		if err != nil {
			return m, err
		}
		for _, p := range plans {
			m.add(p, covered[p.ID], first, last)
		}
		if len(plans) < q.Limit {
			break
		}
		q.After = plans[len(plans)-1].Code
	}
	slices.SortFunc(m.Invoices, func(a, b Expected) int {
		if c := a.From.Compare(b.From); c != 0 {
			return c
		}
		return strings.Compare(a.Code, b.Code)
	})
	m.sum()
	return m, nil
}

func (m *Month) add(p Plan, covered []Covered, first, last time.Time) {
	open := p
	open.End = time.Time{} // what was made stays, also if the plan was ended before it later
	periods, err := open.Periods(last)
	if err != nil {
		m.Problems = append(m.Problems, fmt.Errorf("plan %s: %w", p.Code, err))
		return
	}
	for _, of := range periods {
		if of.From.Before(first) {
			continue
		}
		e, err := p.expected(of, m.Today)
		if err != nil {
			m.Problems = append(m.Problems, err)
			continue
		}
		for i := range covered {
			if covered[i].From.Equal(of.From) {
				e.Covered, e.Late = &covered[i], covered[i].Late
			}
		}
		if e.Covered == nil && !p.End.IsZero() && of.From.After(p.End) {
			continue
		}
		m.Invoices = append(m.Invoices, e)
	}
}

// sum adds up by currency, then by stage.
func (m *Month) sum() {
	type group struct {
		code  string
		stage Stage
	}
	at := map[group]int{}
	for _, e := range m.Invoices {
		g := group{e.Total.CurrencyCode(), e.Stage()}
		i, ok := at[g]
		if !ok {
			zero, _ := currency.NewAmountFromInt64(0, g.code)
			i, at[g] = len(m.Totals), len(m.Totals)
			m.Totals = append(m.Totals, MonthTotal{Currency: g.code, Stage: g.stage, Amount: zero})
		}
		m.Totals[i].Invoices++
		m.Totals[i].Amount, _ = m.Totals[i].Amount.Add(e.Total) // the same currency: cannot fail
	}
	order := []Stage{Coming, Recorded, Held, Stuck, Skipped}
	slices.SortFunc(m.Totals, func(a, b MonthTotal) int {
		if c := strings.Compare(a.Currency, b.Currency); c != 0 {
			return c
		}
		return slices.Index(order, a.Stage) - slices.Index(order, b.Stage)
	})
}
