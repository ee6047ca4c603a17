package recurring

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

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
	total, err := p.Total(Term{Lines: lines})
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

// Key is the business key of a period: PLAN-042-2026-11. It names the day if a month may hold more than one period.
func (p Plan) Key(of Period) string {
	if of.Part || p.term(of.From).Schedule.Unit == Weeks {
		return p.Code + "-" + of.From.Format(time.DateOnly)
	}
	return p.Code + "-" + of.From.Format("2006-01")
}

// Self is who records what plans bring.
var Self = work.Actor{Kind: work.Automation, ID: Automation, Name: "Recurring invoices"}

// Source is what items of the plan name as where they come from.
func (p Plan) Source() string { return "plan:" + p.Code }

// New is the period's item before it is recorded.
func (p Plan) New(of Period) (work.New, error) {
	v, err := p.Invoice(of)
	if err != nil {
		return work.New{}, err
	}
	return work.New{CompanyID: p.CompanyID, Automation: Automation, BusinessKey: p.Key(of), SystemID: p.SystemID,
		Invoice: v, Source: p.Source(), Period: of.From.Format("2006-01"), By: Self}, nil
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
			if slices.EqualFunc(a.Lines, b.Lines, sameLine) {
				return true
			}
		}
	}
	return false
}

// sameLine compares what is billed, not how it was typed: 100 and 100.00 are one price.
func sameLine(a, b work.Line) bool {
	return work.FoldKey(a.Description) == work.FoldKey(b.Description) && bare(a.Quantity) == bare(b.Quantity) && bare(a.UnitPrice) == bare(b.UnitPrice) &&
		work.FoldKey(a.TaxCode) == work.FoldKey(b.TaxCode)
}

func bare(number string) string {
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimLeft(number, "0")
}
