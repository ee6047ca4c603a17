package review

import (
	"context"
	"strconv"
	"strings"
	"time"

	"onefold/internal/work"
)

// Reports lets staff compare an accounting system's own export with what we know, and apply what it shows. It is safe
// for concurrent use.
type Reports struct {
	store   ReportStore
	files   ReportFiles
	company int64
}

// NewReports returns the service for a company.
func NewReports(store ReportStore, files ReportFiles, companyID int64) *Reports {
	return &Reports{store: store, files: files, company: companyID}
}

// MayReport reports whether the actor may upload and apply reports: a signed-in person who may act on items.
func MayReport(by work.Actor) bool { return by.Kind == work.Person && mayAct(by) }

// Upload keeps a report of a system and lays it beside the items, read as the last report of the system was. Nothing else
// is changed. A file that cannot be read is kept as well, and its Problem says why.
func (s *Reports) Upload(ctx context.Context, by work.Actor, systemID, name string, content []byte) (Report, error) {
	if !MayReport(by) {
		return Report{}, ErrForbidden
	}
	systems, err := s.store.Systems(ctx)
	if err != nil {
		return Report{}, err
	}
	known := false
	for _, sys := range systems {
		known = known || sys.ID == systemID && sys.CompanyID == s.company
	}
	if !known {
		return Report{}, ErrNotFound
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return Report{}, err
	}
	r := Report{CompanyID: s.company, SystemID: systemID, Name: Input{Note: name}.clean().Note, State: ReportOpen, Version: 1, By: by.Label(), At: now}
	before, err := s.store.Reports(ctx, s.company, systemID, 20)
	if err != nil {
		return Report{}, err
	}
	for _, b := range before {
		if b.Input.Settings.Chosen {
			r.Input.Settings = b.Input.Settings
			break
		}
	}
	// The rows show themselves how they are written; and whether there was a filter is asked each time.
	r.Input.Settings.Delimiter, r.Input.Settings.Decimal, r.Input.Settings.DateOrder = "", "", ""
	lines, err := s.compare(ctx, &r, content)
	if err != nil {
		return Report{}, err
	}
	if r.Input.Made.IsZero() && !r.FileMade.IsZero() && !r.FileMade.After(now) {
		r.Input.Made = r.FileMade.Truncate(time.Minute)
		if lines, err = s.compare(ctx, &r, content); err != nil {
			return Report{}, err
		}
	}
	added, err := s.store.AddReport(ctx, r, content)
	if err != nil {
		return Report{}, err
	}
	if err := s.store.SaveReport(ctx, added, lines); err != nil {
		return Report{}, err
	}
	added.Version++
	return added, nil
}

// Refusals of what somebody says about a report.
const (
	RefusedFuture work.RefusalCode = "report_future" // the time of the export has not come yet
	RefusedPeriod work.RefusalCode = "report_period" // the period is no period
)

// Compare lays the report beside the items again, as the input says. It returns ErrReportChanged if the report is not as the
// person saw it, or a *work.Refusal if the input cannot be right.
func (s *Reports) Compare(ctx context.Context, by work.Actor, id, version int64, in ReportInput) (Report, error) {
	r, err := s.open(ctx, by, id, version)
	if err != nil {
		return Report{}, err
	}
	if in.Made.After(r.At) {
		return Report{}, &work.Refusal{Code: RefusedFuture}
	}
	for _, day := range []string{in.From, in.To} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return Report{}, &work.Refusal{Code: RefusedPeriod}
		}
	}
	if in.From != "" && in.To != "" && in.From > in.To {
		return Report{}, &work.Refusal{Code: RefusedPeriod}
	}
	content, err := s.store.ReportFile(ctx, s.company, id)
	if err != nil {
		return Report{}, err
	}
	in.Settings.Chosen = true
	r.Input = in
	lines, err := s.compare(ctx, &r, content)
	if err != nil {
		return Report{}, err
	}
	if err := s.store.SaveReport(ctx, r, lines); err != nil {
		return Report{}, err
	}
	r.Version++
	return r, nil
}

// Apply begins to apply what was shown. Items that changed since are left out and reported.
func (s *Reports) Apply(ctx context.Context, by work.Actor, id, version int64) error {
	r, err := s.open(ctx, by, id, version)
	if err != nil {
		return err
	}
	applies := 0
	for _, sum := range r.Sums {
		applies += sum.Applies
	}
	if applies == 0 {
		return ErrReportNotReady
	}
	return s.store.MoveReport(ctx, s.company, id, version, ReportOpen, ReportApplying, by)
}

// Remove gives up a report that was not applied.
func (s *Reports) Remove(ctx context.Context, by work.Actor, id, version int64) error {
	if _, err := s.open(ctx, by, id, version); err != nil {
		return err
	}
	return s.store.MoveReport(ctx, s.company, id, version, ReportOpen, ReportRemoved, by)
}

// open is a report that nothing was done with since the person saw it.
func (s *Reports) open(ctx context.Context, by work.Actor, id, version int64) (Report, error) {
	r, err := s.Report(ctx, by, id)
	if err == nil && (r.State != ReportOpen || r.Version != version) {
		err = ErrReportChanged
	}
	return r, err
}

// Report returns one report, or ErrNotFound.
func (s *Reports) Report(ctx context.Context, by work.Actor, id int64) (Report, error) {
	if !MayReport(by) {
		return Report{}, ErrForbidden
	}
	return s.store.Report(ctx, s.company, id)
}

// List returns the newest reports of a system; empty: of any.
func (s *Reports) List(ctx context.Context, by work.Actor, systemID string) ([]Report, error) {
	if !MayReport(by) {
		return nil, ErrForbidden
	}
	return s.store.Reports(ctx, s.company, systemID, 20)
}

// Lines returns lines of a report's kind (empty: of any) with a number above after, at most limit.
func (s *Reports) Lines(ctx context.Context, by work.Actor, id int64, kind LineKind, after, limit int) ([]ReportLine, error) {
	if _, err := s.Report(ctx, by, id); err != nil {
		return nil, err
	}
	return s.store.ReportLines(ctx, id, kind, after, limit)
}

// Results counts the lines that apply, by what came of them; "" counts those that are left.
func (s *Reports) Results(ctx context.Context, by work.Actor, id int64) (map[string]int, error) {
	if _, err := s.Report(ctx, by, id); err != nil {
		return nil, err
	}
	return s.store.ReportResults(ctx, id)
}

// label is the report's name in the history of items.
func (r *Report) label() string {
	if r.ID == 0 {
		return "report"
	}
	return "report:" + strconv.FormatInt(r.ID, 10)
}

// ReportNumber reads the number of the report from the detail of an act; false: it is none.
func ReportNumber(detail string) (int64, bool) {
	text, is := strings.CutPrefix(detail, "report:")
	n, err := strconv.ParseInt(text, 10, 64)
	return n, is && err == nil
}
