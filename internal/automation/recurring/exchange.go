package recurring

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"onefold/internal/work"
)

// ImportOptions say how a file of plans is read.
type ImportOptions struct {
	SystemID  string // for rows that name no system
	CheckOnly bool   // nothing is added
}

// ImportReport says what became of a file of plans. Only its good plans are added; importing it again adds nothing twice.
type ImportReport struct {
	Plans   int // with CheckOnly the good ones count as New
	New     int
	Known   int // they were there with this content
	Bad     []RowProblem
	Waiting int      // of New: they resemble another plan and wait for approval
	Ignored []string // headings that are not known
}

// RowProblem names a row by its line in the file, counted from 1.
type RowProblem struct {
	Line   int
	Code   string // may be empty
	Reason string // in the user's words
}

// maxPlanRows bounds one plan of a file.
const maxPlanRows = 2000

// ImportCSV adds the plans of a CSV file, which is read row by row: see Columns. A *FileError says that nothing was added.
// Any other error comes with the report so far: import the same file again.
func (s Plans) ImportCSV(ctx context.Context, by work.Actor, r io.Reader, o ImportOptions) (ImportReport, error) {
	if !MayChange(by) {
		return ImportReport{}, ErrForbidden
	}
	t, err := openTable(r)
	if err != nil {
		return ImportReport{}, err
	}
	in := planImport{plans: s, by: by, options: o, seen: map[string]int{}}
	in.report.Ignored = t.Ignored
	for {
		row, err := t.next()
		if errors.Is(err, io.EOF) {
			return in.report, in.finish(ctx)
		}
		if err != nil {
			return in.report, fmt.Errorf("read the file: %w", err)
		}
		if err := in.add(ctx, row); err != nil {
			return in.report, err
		}
	}
}

// planImport puts rows together to plans.
type planImport struct {
	plans   Plans
	by      work.Actor
	options ImportOptions
	report  ImportReport
	seen    map[string]int // the line of each plan, by folded code

	plan  Plan // in the making
	lines []int
	bad   bool // a row of it is bad: the plan is not added
}

func (in *planImport) problem(line int, code string, err error) {
	in.report.Bad = append(in.report.Bad, RowProblem{Line: line, Code: code, Reason: err.Error()})
}

// add adds a row to the plan in the making, or begins the next one.
func (in *planImport) add(ctx context.Context, row fileRow) error {
	code := row.cells["code"]
	if row.broken != nil && code == "" { // it could belong to the plan before it: that one is not added without it
		in.bad = true
		in.problem(row.line, in.plan.Code, row.broken)
		return nil
	}
	if len(in.lines) == 0 || work.FoldKey(code) != work.FoldKey(in.plan.Code) {
		if err := in.finish(ctx); err != nil {
			return err
		}
		in.begin(row, code)
	}
	if in.lines = append(in.lines, row.line); len(in.lines) > maxPlanRows {
		return &FileError{fmt.Sprintf("line %d: the plan %s has more than %d rows", row.line, code, maxPlanRows)}
	}
	if err := in.row(row); err != nil {
		in.bad = true
		in.problem(row.line, code, err)
	}
	return nil
}

func (in *planImport) begin(row fileRow, code string) {
	in.report.Plans++
	in.plan = Plan{Code: code}
	folded := work.FoldKey(code)
	if first, again := in.seen[folded]; again {
		in.bad = true
		in.problem(row.line, code, fmt.Errorf("the plan began in line %d: its rows must stand one after the other", first))
		return
	}
	in.seen[folded] = row.line
}

func (in *planImport) row(row fileRow) error {
	if row.broken != nil {
		return row.broken
	}
	head, err := row.planOf(in.options.SystemID)
	if err != nil {
		return err
	}
	term, err := row.termOf()
	if err != nil {
		return err
	}
	if len(in.plan.Terms) == 0 {
		head.Terms = []Term{term}
		in.plan = head
		if start, err := ParseDay(row.cells["start"]); err != nil || !start.Equal(term.From) {
			return fmt.Errorf("the first row of a plan must begin on its start, %s", row.cells["start"])
		}
		return nil
	}
	terms := in.plan.Terms
	head.Terms = terms
	if !head.sameContent(in.plan) || head.State != in.plan.State {
		return errors.New("the row says something else about the plan than the row before: only from, every, unit, day and the line may differ")
	}
	last := &terms[len(terms)-1]
	if term.From.Equal(last.From) {
		if term.Schedule != last.Schedule {
			return errors.New("the row has another schedule than the row before, but begins on the same day")
		}
		last.Lines = append(last.Lines, term.Lines...)
		return nil
	}
	in.plan.Terms = append(terms, term)
	return nil
}

// finish adds the plan in the making.
func (in *planImport) finish(ctx context.Context) error {
	p, lines, bad := in.plan, in.lines, in.bad
	in.plan, in.lines, in.bad = Plan{}, nil, false
	if len(lines) == 0 || bad {
		return nil
	}
	if in.options.CheckOnly {
		if p, all := in.plans.Check(ctx, p); len(all) > 0 {
			for _, e := range all {
				in.problem(lines[0], p.Code, e)
			}
			return nil
		}
		in.report.New++
		return nil
	}
	added, known, err := in.plans.add(ctx, in.by, p, Imported)
	if _, isField := IsField(err); isField {
		in.problem(lines[0], p.Code, err)
		return nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("the import stopped before line %d, import the file again to go on: %w", lines[0], err)
	case known:
		in.report.Known++
	default:
		in.report.New++
		if added.Why == Twin {
			in.report.Waiting++
		}
	}
	return nil
}

// ExportCSV writes all plans for spreadsheets while they are read, as ImportCSV reads them.
func (s Plans) ExportCSV(ctx context.Context, by work.Actor, w io.Writer) error {
	if !MayRead(by) {
		return ErrForbidden
	}
	if _, err := io.WriteString(w, "\ufeff"); err != nil { // spreadsheets know UTF-8 by the mark
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(Columns); err != nil {
		return err
	}
	for q := (ListQuery{Limit: 200}); ; {
		plans, err := s.Store.PlanList(ctx, s.CompanyID, q)
		if err != nil {
			return err
		}
		for _, p := range plans {
			for _, row := range rowsOf(p) {
				if err := out.Write(row); err != nil {
					return err
				}
			}
		}
		if out.Flush(); out.Error() != nil || len(plans) < q.Limit {
			return out.Error()
		}
		q.After = plans[len(plans)-1].Code
	}
}
