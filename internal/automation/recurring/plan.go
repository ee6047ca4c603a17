package recurring

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// Automation is the name under which plans record their items.
const Automation = "recurring"

// Term is what a plan says from a day on, until the next term begins. A term begins where a period would begin, so
// periods never overlap and leave no day out.
type Term struct {
	From     time.Time // a day; the first term's is the plan's start
	Schedule Schedule
	Lines    []work.Line // prices as they stand on the invoice; never empty
}

// State says whether a plan runs.
type State string

const (
	Active  State = "active"
	Waiting State = "waiting" // it waits for approval: a twin, or too many periods at once
	Paused  State = "paused"
)

// Plan is one invoice that comes again.
type Plan struct {
	ID           int64
	CompanyID    int64
	Code         string // unique in the company; begins every business key, for example "PLAN-042"
	SystemID     string
	CustomerID   string
	CustomerName string
	Currency     string
	Terms        []Term    // in order of From; never empty
	End          time.Time // the last day on which a period may begin; zero: none
	PayWithin    int       // days until the invoice is due; 0: no due date
	Prorate      bool      // bill the part before the first regular period
	Note         string    // stands on each invoice
	State        State
	Why          string    // of Waiting: "twin" or "catch_up"
	CaughtUpTo   time.Time // periods up to this day were agreed to although they are late; zero: none
	Version      int64     // grows with every change
	CreatedBy    work.Actor
	CreatedAt    time.Time
}

// maxCode keeps business keys readable and short.
const maxCode = 60

// Validate returns an error in the user's words, naming what must be mended first.
func (p Plan) Validate() error {
	switch {
	case strings.TrimSpace(p.Code) == "" || len([]rune(p.Code)) > maxCode:
		return fmt.Errorf("the plan needs a code of at most %d characters, for example PLAN-042", maxCode)
	case p.SystemID == "":
		return errors.New("choose the accounting system")
	case strings.TrimSpace(p.CustomerID) == "":
		return errors.New("name the customer as the accounting system knows it")
	case !currency.IsValid(p.Currency):
		return fmt.Errorf("the currency %q is not known: use a three-letter code such as EUR", p.Currency)
	case len(p.Terms) == 0:
		return errors.New("the plan needs a start and at least one line")
	case p.PayWithin < 0 || p.PayWithin > 365:
		return fmt.Errorf("the days to pay must be between 0 and 365, not %d", p.PayWithin)
	case !p.End.IsZero() && p.End.Before(p.Terms[0].From):
		return errors.New("the plan ends before it starts")
	}
	if _, err := work.CleanKey(p.Code + "-2026-11-30"); err != nil {
		return err
	}
	for i, t := range p.Terms {
		if err := t.Schedule.Validate(); err != nil {
			return err
		}
		if _, err := p.total(t.Lines); err != nil {
			return err
		}
		if i > 0 {
			if err := p.boundary(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// boundary checks that term i begins where a period of the term before it would begin.
func (p Plan) boundary(i int) error {
	t, before := p.Terms[i], p.Terms[i-1]
	starts, err := before.Schedule.Starts(before.From, t.From, maxPeriods)
	if err != nil {
		return err
	}
	if len(starts) < 2 || !starts[len(starts)-1].Equal(t.From) {
		next, _ := before.Schedule.Starts(before.From, t.From.AddDate(20, 0, 0), len(starts)+1)
		hint := ""
		if len(next) > len(starts) {
			hint = ": the next one begins on " + next[len(starts)].Format(time.DateOnly)
		}
		return fmt.Errorf("a change must begin with a period, and none begins on %s%s", t.From.Format(time.DateOnly), hint)
	}
	first, err := t.Schedule.Starts(t.From, t.From, 1)
	if err != nil || len(first) == 0 {
		return errors.Join(err, fmt.Errorf("the new schedule must have a period that begins on %s, the day of the change", t.From.Format(time.DateOnly)))
	}
	return nil
}

// maxPeriods bounds what one plan may count: weeks of a hundred years.
const maxPeriods = 5300

// Periods returns the plan's periods that begin up to and including the day, in order. They touch and never overlap.
func (p Plan) Periods(last time.Time) ([]Period, error) {
	if !p.End.IsZero() && p.End.Before(last) {
		last = p.End
	}
	var all []Period
	for i, t := range p.Terms {
		ends := time.Time{}
		if i+1 < len(p.Terms) {
			ends = p.Terms[i+1].From
		}
		more, err := t.periods(last, ends)
		if err != nil {
			return nil, err
		}
		if i == 0 && p.Prorate {
			more, err = t.withPart(more, last)
			if err != nil {
				return nil, err
			}
		}
		all = append(all, more...)
	}
	return all, nil
}

// periods are those of the term that begin up to and including last and before ends (zero: the last term).
func (t Term) periods(last, ends time.Time) ([]Period, error) {
	starts, err := t.Schedule.Starts(t.From, last, maxPeriods)
	if err != nil {
		return nil, err
	}
	if !ends.IsZero() {
		starts = slices.DeleteFunc(starts, func(d time.Time) bool { return !d.Before(ends) })
	}
	all := make([]Period, len(starts))
	for i, from := range starts {
		all[i] = Period{From: from}
		if i > 0 {
			all[i-1].Until = from
		}
	}
	if n := len(all); n > 0 {
		next, err := t.Schedule.Starts(t.From, all[n-1].From.AddDate(maxEvery+1, 0, 0), n+1)
		if err != nil || len(next) <= n {
			return nil, errors.Join(err, errors.New("the plan's last period has no end"))
		}
		all[n-1].Until = next[n]
	}
	return all, nil
}

// withPart puts the days before the first regular period before it, if there are any.
func (t Term) withPart(all []Period, last time.Time) ([]Period, error) {
	if t.From.After(last) {
		return all, nil
	}
	next, err := t.Schedule.Starts(t.From, t.From.AddDate(maxEvery+1, 0, 0), 1)
	if err != nil || len(next) == 0 || next[0].Equal(t.From) {
		return all, err
	}
	whole, err := t.Schedule.before(next[0])
	if err != nil {
		return all, err
	}
	part := Period{From: t.From, Until: next[0], Part: true, Days: days(t.From, next[0]), Of: days(whole, next[0])}
	return append([]Period{part}, all...), nil
}

// before is the day on which the period before the one that begins on the day would have begun.
func (s Schedule) before(start time.Time) (time.Time, error) {
	if s.Unit == Weeks {
		return start.AddDate(0, 0, -7*s.Every), nil
	}
	months := s.Every
	if s.Unit == Years {
		months *= 12
	}
	first := time.Date(start.Year(), start.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	day := s.Day
	if day == 0 {
		day = start.Day()
	}
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day, last)-1), nil
}

func days(from, until time.Time) int { return int(until.Sub(from) / (24 * time.Hour)) }

// term is the one that the day belongs to.
func (p Plan) term(day time.Time) Term {
	t := p.Terms[0]
	for _, next := range p.Terms[1:] {
		if !next.From.After(day) {
			t = next
		}
	}
	return t
}

// Invoice is what the period's invoice says. It is the same whenever and wherever it is asked for.
func (p Plan) Invoice(of Period) (work.Invoice, error) {
	t := p.term(of.From)
	lines := slices.Clone(t.Lines)
	for i := range lines {
		lines[i].Description = fill(lines[i].Description, of)
		if of.Part {
			price, err := share(lines[i].UnitPrice, p.Currency, of)
			if err != nil {
				return work.Invoice{}, err
			}
			lines[i].UnitPrice = price
		}
	}
	total, err := p.total(lines)
	if err != nil {
		return work.Invoice{}, err
	}
	v := work.Invoice{CustomerID: p.CustomerID, CustomerName: p.CustomerName, Total: total, IssueDate: of.From.Format(time.DateOnly),
		Lines: lines, Note: p.Note}
	if p.PayWithin > 0 {
		v.DueDate = of.From.AddDate(0, 0, p.PayWithin).Format(time.DateOnly)
	}
	return v, v.Validate()
}

// fill puts the period into a line's text: {period}, {from} and {to}.
func fill(text string, of Period) string {
	return strings.NewReplacer("{period}", of.From.Format("January 2006"), "{from}", of.From.Format(time.DateOnly),
		"{to}", of.Until.AddDate(0, 0, -1).Format(time.DateOnly)).Replace(text)
}

// share is the part of a price that falls on the period's days, rounded as the currency is.
func share(price, code string, of Period) (string, error) {
	a, err := currency.NewAmount(price, code)
	if err != nil {
		return "", fmt.Errorf("the price %q is not a number", price)
	}
	if a, err = a.Mul(fmt.Sprint(of.Days)); err == nil {
		a, err = a.Div(fmt.Sprint(of.Of))
	}
	return a.Round().Number(), err
}

// total adds the lines up: quantity times price each, rounded a line.
func (p Plan) total(lines []work.Line) (currency.Amount, error) {
	if len(lines) == 0 {
		return currency.Amount{}, errors.New("the plan needs at least one line")
	}
	sum, err := currency.NewAmount("0", p.Currency)
	if err != nil {
		return sum, fmt.Errorf("the currency %q is not known", p.Currency)
	}
	for i, l := range lines {
		price, err := currency.NewAmount(l.UnitPrice, p.Currency)
		if err != nil {
			return sum, fmt.Errorf("line %d: the price %q is not a number", i+1, l.UnitPrice)
		}
		amount, err := price.Mul(l.Quantity)
		if err != nil {
			return sum, fmt.Errorf("line %d: the quantity %q is not a number", i+1, l.Quantity)
		}
		if sum, err = sum.Add(amount.Round()); err != nil {
			return sum, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := (work.Invoice{CustomerID: "-", Total: sum}).Validate(); err != nil {
		return sum, err
	}
	return sum, nil
}

// Key is the business key of a period: PLAN-042-2026-11. It names the day if a month may hold more than one period.
func (p Plan) Key(of Period) string {
	if of.Part || p.term(of.From).Schedule.Unit == Weeks {
		return p.Code + "-" + of.From.Format(time.DateOnly)
	}
	return p.Code + "-" + of.From.Format("2006-01")
}

// New is the period's item before it is recorded.
func (p Plan) New(of Period) (work.New, error) {
	v, err := p.Invoice(of)
	if err != nil {
		return work.New{}, err
	}
	return work.New{CompanyID: p.CompanyID, Automation: Automation, BusinessKey: p.Key(of), SystemID: p.SystemID,
		Invoice: v, Source: "plan:" + p.Code, Period: of.From.Format("2006-01"), By: work.Actor{Kind: work.Automation, ID: Automation, Name: "Recurring invoices"}}, nil
}

// Twin reports whether both plans bill the same customer for the same lines in days that both cover.
func (p Plan) Twin(o Plan) bool {
	if p.ID == o.ID || p.CompanyID != o.CompanyID || p.SystemID != o.SystemID || p.CustomerID != o.CustomerID || p.Currency != o.Currency ||
		len(p.Terms) == 0 || len(o.Terms) == 0 {
		return false
	}
	if !p.End.IsZero() && p.End.Before(o.Terms[0].From) || !o.End.IsZero() && o.End.Before(p.Terms[0].From) {
		return false
	}
	for _, a := range p.Terms {
		for _, b := range o.Terms {
			if slices.Equal(a.Lines, b.Lines) {
				return true
			}
		}
	}
	return false
}
