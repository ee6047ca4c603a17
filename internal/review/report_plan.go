package review

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// Bounds of a comparison.
const (
	maxUnknown       = 20_000 // items whose outcome is open
	maxListed        = 500    // missing items and strangers that are listed; the rest is counted
	maxBad           = 100    // rows that could not be read
	referencesAtOnce = 500
)

// comparison is one report laid beside the items of its system.
type comparison struct {
	store ReportStore
	files ReportFiles
	sys   work.System
	now   time.Time

	report  *Report
	rows    map[string][]work.ReportRow // by reference
	named   map[string]bool             // the system's own numbers in the report
	ignored []work.ReportRow
	items   map[string][]work.Item // by reference
	lines   []ReportLine
	sums    map[LineKind]*sum
}

type sum struct {
	LineSum
	totals map[string]currency.Amount
}

// compare reads the report as its input says and lays it beside the items. It fills the report's body and returns the
// lines. Nothing is written.
func (s *Reports) compare(ctx context.Context, r *Report, content []byte) ([]ReportLine, error) {
	c := &comparison{store: s.store, files: s.files, report: r, sums: map[LineKind]*sum{}, rows: map[string][]work.ReportRow{},
		named: map[string]bool{}, items: map[string][]work.Item{}}
	var err error
	if c.sys, err = s.store.System(ctx, r.SystemID); err != nil {
		return nil, err
	}
	if c.now, err = s.store.Now(ctx); err != nil {
		return nil, err
	}
	var asked error
	table, err := s.files.Read(ctx, content, r.Input.Settings, func(cells []string) int {
		found, err := s.store.ItemsByReference(ctx, r.CompanyID, r.SystemID, cells)
		asked = errors.Join(asked, err)
		return len(found)
	})
	if err = errors.Join(err, asked); err != nil {
		return nil, err
	}
	in := r.Input
	in.Settings = table.Settings
	r.ReportBody = ReportBody{Input: in, Problem: table.Problem, Headings: table.Headings, Samples: table.Samples, Statuses: table.Statuses,
		Format: table.Format, FileMade: table.Made, Rows: len(table.Rows), From: in.From, To: in.To}
	if r.Problem != "" {
		r.Doubts = []ReportDoubt{DoubtProblem}
		return nil, nil
	}
	return c.lay(ctx, table.Rows)
}

func (c *comparison) lay(ctx context.Context, rows []work.ReportRow) ([]ReportLine, error) {
	r := c.report
	rows = c.sort(rows)
	references := make([]string, 0, len(c.rows))
	for ref := range c.rows {
		references = append(references, ref)
	}
	slices.Sort(references)
	for some := range slices.Chunk(references, referencesAtOnce) {
		found, err := c.store.ItemsByReference(ctx, r.CompanyID, r.SystemID, some)
		if err != nil {
			return nil, err
		}
		for _, it := range found {
			c.items[it.Reference] = append(c.items[it.Reference], it)
		}
	}
	strangers := c.strangers(rows)
	if err := c.known(ctx); err != nil {
		return nil, err
	}
	c.doubts(rows)
	for _, ref := range references {
		for _, it := range c.items[ref] {
			if err := c.inReport(ctx, it, c.rows[ref]); err != nil {
				return nil, err
			}
		}
	}
	if err := c.notInReport(ctx, newSimilar(append(strangers, c.ignored...))); err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.lines, func(a, b ReportLine) int {
		return slices.Index(LineKinds, a.Kind) - slices.Index(LineKinds, b.Kind)
	})
	for i := range c.lines {
		c.lines[i].Number = i + 1
	}
	r.Sums = map[string]LineSum{}
	for kind, s := range c.sums {
		s.Totals = map[string]string{}
		for code, total := range s.totals {
			s.Totals[code] = total.Number()
		}
		r.Sums[string(kind)] = s.LineSum
	}
	return c.lines, nil
}

// sort leaves out rows that name no document, such as totals, and orders the rest by reference. It finds the period.
func (c *comparison) sort(all []work.ReportRow) (rows []work.ReportRow) {
	r := c.report
	from, to := "", ""
	for _, row := range all {
		if row.Reference == "" && row.Number == "" && row.Text != "" {
			c.ignored = append(c.ignored, row)
			continue
		}
		rows = append(rows, row)
		if row.Reference != "" {
			c.rows[row.Reference] = append(c.rows[row.Reference], row)
		}
		if row.Number != "" {
			c.named[row.Number] = true
		}
		if row.Date != "" && (from == "" || row.Date < from) {
			from = row.Date
		}
		to = max(to, row.Date)
		if row.Problem != "" {
			r.BadRows++
			if len(r.Bad) < maxBad {
				r.Bad = append(r.Bad, ReportBadRow{row.Line, row.Problem})
			}
		}
	}
	if r.From == "" && r.To == "" {
		r.From, r.To = from, to
	}
	return rows
}

// strangers are the rows that belong to no item of ours.
func (c *comparison) strangers(rows []work.ReportRow) (out []work.ReportRow) {
	for _, row := range rows {
		if row.Reference != "" && len(c.items[row.Reference]) > 0 {
			continue
		}
		out = append(out, row)
		asked, code := "", row.Total.CurrencyCode()
		if code != "" {
			asked = row.Total.Number()
		}
		c.add(ReportLine{Kind: LineStranger, LineBody: LineBody{Key: orText(row.Reference, row.Number), Customer: row.Customer, Asked: asked,
			Currency: code, Rows: []int{row.Line}, Text: row.Text}}, len(out) <= maxListed)
	}
	return out
}

// known looks for every confirmed item of the period in the report.
func (c *comparison) known(ctx context.Context) error {
	r := c.report
	since := r.Input.Made
	if since.IsZero() {
		since = r.At
	}
	found, missing := 0, 0
	err := c.store.KnownItems(ctx, r.CompanyID, r.SystemID, since, func(k KnownItem) error {
		if !c.covers(k.IssueDate, k.RecordedAt) {
			return nil
		}
		if len(c.rows[k.Reference]) > 0 || c.named[k.ExternalID] || k.ExternalNumber != "" && c.named[k.ExternalNumber] {
			found++
			return nil
		}
		missing++
		c.add(ReportLine{Kind: LineMissing, LineBody: LineBody{ItemID: k.ID, Status: work.Confirmed, Key: k.Key, Customer: k.Customer, Asked: k.Total,
			Currency: k.Currency}}, missing <= maxListed)
		return nil
	})
	if missing > 0 {
		r.Doubts = append(r.Doubts, DoubtMissing)
	} else if found == 0 {
		r.Doubts = append(r.Doubts, DoubtNoneKnown)
	}
	return err
}

func (c *comparison) doubts(rows []work.ReportRow) {
	r := c.report
	if r.Input.Made.IsZero() {
		r.Doubts = append(r.Doubts, DoubtTime)
	}
	if !r.Input.Everything {
		r.Doubts = append(r.Doubts, DoubtEverything)
	}
	// A row that cannot be read may be any item's, unless it tells whose it is.
	if slices.ContainsFunc(rows, func(row work.ReportRow) bool { return row.Problem != "" && len(c.items[row.Reference]) == 0 }) {
		r.Doubts = append(r.Doubts, DoubtRows)
	}
}

// covers reports whether a document of that date belongs to the report's period. Without a date it might be of any day
// since it was recorded.
func (c *comparison) covers(issued string, recorded time.Time) bool {
	first, last := issued, issued
	if issued == "" {
		first, last = recorded.AddDate(0, 0, -1).Format(time.DateOnly), c.now.AddDate(0, 0, 1).Format(time.DateOnly)
	}
	return (c.report.From == "" || first >= c.report.From) && (c.report.To == "" || last <= c.report.To)
}

// add counts a line and lists it.
func (c *comparison) add(l ReportLine, list bool) {
	s := c.sums[l.Kind]
	if s == nil {
		s = &sum{totals: map[string]currency.Amount{}}
		c.sums[l.Kind] = s
	}
	s.Count++
	if l.Applies {
		s.Applies++
	}
	if total, err := currency.NewAmount(l.Asked, l.Currency); err == nil {
		if before, ok := s.totals[l.Currency]; ok {
			total, _ = total.Add(before) // the same currency: cannot fail
		}
		s.totals[l.Currency] = total
	}
	if list {
		c.lines = append(c.lines, l)
	}
}

func itemLine(it work.Item) ReportLine {
	customer := orText(it.Invoice.CustomerName, it.Invoice.CustomerID)
	return ReportLine{LineBody: LineBody{ItemID: it.ID, Version: it.Version, Status: it.Status, Key: it.BusinessKey, Customer: customer,
		Asked: it.Invoice.Total.Number(), Currency: it.Invoice.Total.CurrencyCode()}}
}

// inReport is an item whose reference the report holds.
func (c *comparison) inReport(ctx context.Context, it work.Item, rows []work.ReportRow) error {
	l := itemLine(it)
	look := c.files.Judge(it, rows, c.sys.ReliedOn())
	if look.Finding == work.FoundMatching && it.Status.Open() {
		taken, err := c.store.TakenRecords(ctx, it.CompanyID, it.SystemID, []string{look.Record.ID})
		if err != nil {
			return err
		}
		owner, there := taken[look.Record.ID]
		look.Taken = there && !slices.ContainsFunc(c.items[it.Reference], func(o work.Item) bool { return o.ID == owner })
	}
	l.found(look)
	for _, row := range rows[:min(len(rows), 20)] {
		l.Rows = append(l.Rows, row.Line)
	}
	m, err := work.Decide(it, l.event(c.report), c.sys.Rules(), c.now)
	var refusal *work.Refusal
	switch {
	case err != nil && !errors.As(err, &refusal):
		return err
	case refusal == nil:
		l.Applies, l.Kind = true, LineDifferent
		if look.Finding == work.FoundMatching && !look.Taken && it.Status.Open() {
			if l.Kind = LineMatch; m.Item.Status != work.Confirmed {
				l.Why = "evidence"
			}
		}
	case it.Status.Settled() && look.Finding != work.CouldNotTell:
		c.report.Agree++ // or a person has settled it otherwise, and knows why
		return nil
	case it.Status.Settled() || it.PreviousID != 0 && look.Finding == work.CouldNotTell && !unreadable(rows):
		return nil // nothing was asked of the report
	default:
		l.Kind, l.Why, l.Until = LineUnclear, string(refusal.Code), refusal.Until
		if look.Finding == work.CouldNotTell {
			l.Why = "row"
		}
	}
	c.add(l, true)
	return nil
}

func unreadable(rows []work.ReportRow) bool {
	return slices.ContainsFunc(rows, func(r work.ReportRow) bool { return r.Problem != "" })
}

// notInReport are the items whose outcome is open and that the report does not hold.
func (c *comparison) notInReport(ctx context.Context, near *similar) error {
	r := c.report
	open, err := c.store.UnknownItems(ctx, r.CompanyID, r.SystemID, maxUnknown)
	if err != nil {
		return err
	}
	for _, it := range open {
		asked := it.Sends > 0 || it.Positive != work.NoEvidence || it.Reason == work.ReasonCannotLookUp
		if len(c.rows[it.Reference]) > 0 || !asked {
			continue
		}
		l := itemLine(it)
		l.found(work.Lookup{Finding: work.NotFound})
		m, err := work.Decide(it, l.event(r), c.sys.Rules(), c.now)
		var refusal *work.Refusal
		if err != nil && !errors.As(err, &refusal) {
			return err
		}
		line := near.line(it.Reference)
		l.Kind = LineUnclear
		switch {
		case line != 0:
			l.Why, l.Rows = "similar", []int{line}
		case it.PreviousID != 0:
			l.Why = "step"
		case len(r.Doubts) > 0:
			l.Why = "doubts"
		case !c.covers(it.Invoice.IssueDate, it.RecordedAt):
			l.Why = "period"
		case refusal != nil:
			l.Why, l.Until = string(refusal.Code), refusal.Until
		default:
			l.Kind, l.Applies = LineAbsent, true
			if m.Item.AbsentAt.IsZero() {
				l.Kind, l.Why = LineUnclear, "miss"
			}
			if m.Item.Reason == work.ReasonContradiction && m.Item.Status == work.Review {
				l.Kind, l.Why = LineDifferent, "contradiction"
			}
		}
		c.add(l, true)
	}
	return nil
}

// found keeps what the report holds for the item.
func (l *ReportLine) found(look work.Lookup) {
	l.Finding, l.Record, l.Count, l.Remark, l.Text = string(look.Finding), look.Record.JSON(), look.Count, look.Remark, look.Exchange.Response
	if look.Taken {
		l.Why = "taken"
	}
}

// event is what the line says to the item. Absence is said only by a report without a doubt.
func (l *ReportLine) event(r *Report) work.Reported {
	rec, _ := work.ReadRecord(l.Record)
	made := r.Input.Made
	if made.IsZero() {
		made = r.At // it is not younger; only what it holds counts
	}
	by := r.AppliedBy
	if by.Kind == "" {
		by.Kind = work.Person // as if somebody applied it
	}
	return work.Reported{By: by, Report: r.label(), Exported: made, Whole: len(r.Doubts) == 0,
		Lookup: work.Lookup{Finding: work.Finding(l.Finding), Record: rec, Count: l.Count, Remark: l.Remark, Taken: l.Why == "taken",
			Exchange: work.Exchange{Response: strings.TrimSpace(r.Name + "\n" + l.Text)}}}
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
