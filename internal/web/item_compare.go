package web

import (
	"net/url"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// The verdicts on one fact of a record; the codes of their wording.
const (
	same      = "same"
	different = "different"
	rounding  = "rounding"
	void      = "void"
)

// fact is one fact of both sides.
type fact struct {
	name, asked, there string
	verdict            string // empty: nothing can be said
}

// facts puts an item and a record side by side; matched: the lookup took the record for a match, within the rounding of
// the system.
func facts(it work.Item, r work.Record, matched bool) []fact {
	list := []fact{{name: "reference", asked: it.Reference, there: r.Reference}, {name: "customer", asked: it.Invoice.CustomerID, there: r.Customer}}
	for i := range list {
		switch f := &list[i]; {
		case f.there == "":
		case work.FoldKey(f.asked) == work.FoldKey(f.there):
			f.verdict = same
		default:
			f.verdict = different
		}
	}
	total := fact{name: "total", asked: amount(it.Invoice.Total)}
	if r.Total.CurrencyCode() != "" {
		total.there, total.verdict = amount(r.Total), different
		switch {
		case sameAmount(r.Total, it.Invoice.Total):
			total.verdict = same
		case matched && r.Total.CurrencyCode() == it.Invoice.Total.CurrencyCode():
			total.verdict = rounding
		}
	}
	return append(list, total)
}

func sameAmount(a, b currency.Amount) bool {
	order, err := a.Cmp(b)
	return err == nil && order == 0
}

// compare is what we asked for beside what the accounting system was last seen to hold and beside a correction that waits;
// nil: there is neither.
func (v view) compare(d review.Detail) *templates.Compare {
	w := templates.ItemWords
	if d.Seen == nil && d.Proposal == nil {
		return nil
	}
	vals := map[string]any{"system": d.System.Name}
	c := &templates.Compare{Asked: w.CompareAsked}
	var record work.Record
	matched := false
	if d.Seen != nil {
		record, matched = d.Seen.Record, d.Seen.Attempt.Finding == work.FoundMatching && d.Seen.Attempt.Revision == d.Item.Revision
		c.There = templates.Say(w.CompareThere, vals).String()
		c.Seen = templates.Say(w.CompareSeen, map[string]any{"at": v.ago(review.Moment(d.Seen.Attempt))})
		if u, err := url.Parse(record.URL); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
			c.Open, c.Link = u.String(), templates.Say(w.OpenThere, vals).String()
		}
	}
	row := func(f fact, waits string) {
		if f.there == "" && f.asked == waits && d.Seen == nil { // the same in the correction, and nothing to compare it with
			return
		}
		r := templates.CompareRow{Name: w.Field[f.name], Asked: text(f.asked, 200), There: text(f.there, 200), Waits: text(waits, 200), Same: f.verdict == same || f.verdict == rounding}
		if d.Seen != nil {
			r.There = orText(r.There, w.State[""])
			r.Verdict, r.Sign = w.Verdict[f.verdict], w.VerdictSign[f.verdict]
			if f.verdict == "" {
				r.Verdict, r.Sign = "", ""
			}
		}
		c.Rows = append(c.Rows, r)
	}
	waits := func(of func(work.Invoice) string) string {
		if d.Proposal == nil {
			return ""
		}
		return of(d.Proposal.Invoice)
	}
	if d.Proposal != nil {
		c.Waits = w.CompareWaits
	}
	for _, f := range facts(d.Item, record, matched) {
		switch f.name {
		case "customer":
			row(f, waits(func(i work.Invoice) string { return i.CustomerID }))
		case "total":
			row(f, waits(func(i work.Invoice) string { return amount(i.Total) }))
		default:
			row(f, waits(func(work.Invoice) string { return d.Item.Reference }))
		}
	}
	if d.Seen != nil {
		state := fact{name: "state", there: w.State[string(record.State)]}
		if record.State == work.StateVoid {
			state.verdict = void
		}
		row(state, "")
		row(fact{name: "number", there: orText(record.Number, record.ID)}, "")
	}
	return c
}
