package review_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

var clerk = work.Actor{Kind: work.Person, ID: "ada", Name: "Ada Brown", Roles: []work.Role{work.Operator}}

const reportHead = "Our reference;Number;Customer;Total;Currency;Status;Date\n"

// desk is a system that cannot be searched, with one confirmed item and one whose outcome is unknown and has settled.
type desk struct {
	*rt.World
	reports *review.Reports
	runner  review.ReportRunner
	known   int64
	unknown int64
}

func newDesk(t *testing.T, db storetest.DB) *desk {
	t.Helper()
	d := &desk{World: rt.New(t, db, unsearchable)}
	d.reports = review.NewReports(d.Store, automation.ReportFiles{}, 1)
	d.runner = review.ReportRunner{Store: d.Store}
	d.known = d.One("INV-2026-11-KNOWN")
	d.Send(d.known, rt.AcceptedAs(1))
	d.unknown = d.One("INV-2026-11-LOST")
	d.Send(d.unknown, rt.NoAnswer)
	d.Later(30 * time.Minute)
	return d
}

func row(ref, number, total, status string) string {
	return fmt.Sprintf("%s;%s;Acme Holdings Ltd;%s;EUR;%s;30.11.2026\n", ref, number, total, status)
}

const knownRow = "INV-2026-11-KNOWN;INV/2026/00001;Acme Holdings Ltd;1.200,00;EUR;Open;30.11.2026\n"

// compared uploads a file that was exported now, without filters unless the input is changed.
func (d *desk) compared(content string, change ...func(*review.ReportInput)) review.Report {
	d.T.Helper()
	r, err := d.reports.Upload(d.T.Context(), clerk, rt.SystemID, "export.csv", []byte(content))
	if err != nil {
		d.T.Fatal(err)
	}
	in := r.Input
	in.Made, in.Everything = d.Clock(), true
	for _, f := range change {
		f(&in)
	}
	r, err = d.reports.Compare(d.T.Context(), clerk, r.ID, r.Version, in)
	if err != nil {
		d.T.Fatal(err)
	}
	return r
}

func (d *desk) apply(r review.Report) {
	d.T.Helper()
	if err := d.reports.Apply(d.T.Context(), clerk, r.ID, r.Version); err != nil {
		d.T.Fatalf("%v: %+v", err, r.ReportBody)
	}
	if err := d.runner.RunOnce(d.T.Context()); err != nil {
		d.T.Fatal(err)
	}
}

// line is the one line about the item.
func (d *desk) line(r review.Report, id int64) review.ReportLine {
	d.T.Helper()
	lines, err := d.reports.Lines(d.T.Context(), clerk, r.ID, "", 0, 100)
	if err != nil {
		d.T.Fatal(err)
	}
	for _, l := range lines {
		if l.ItemID == id {
			return l
		}
	}
	return review.ReportLine{}
}

func (d *desk) gate(id int64) (work.Proof, error) {
	d.T.Helper()
	sys, err := d.System(d.T.Context(), rt.SystemID)
	if err != nil {
		d.T.Fatal(err)
	}
	return work.Gate(d.Get(id), sys.Rules(), d.Clock())
}

func eachDesk(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) { test(t, newDesk(t, db)) })
}

func TestAReportConfirmsWhatItHolds(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		if got := d.Get(d.unknown); got.Status != work.Review || got.Reason != work.ReasonCannotLookUp {
			t.Fatalf("the world is not as it should be: %s %s", got.Status, got.Reason)
		}
		r := d.compared(reportHead + knownRow + row("INV-2026-11-LOST", "INV/2026/00002", "1.200,00", "Paid"))
		if got := d.Get(d.unknown); got.Status != work.Review {
			t.Fatalf("comparing changed the item: %s", got.Status)
		}
		if l := d.line(r, d.unknown); l.Kind != review.LineMatch || !l.Applies {
			t.Fatalf("%+v in %+v", l, r.ReportBody)
		}
		d.apply(r)
		got := d.Get(d.unknown)
		if got.Status != work.Confirmed || got.Evidence != "report" || got.ExternalNumber != "INV/2026/00002" {
			t.Fatalf("%s by %q as %q", got.Status, got.Evidence, got.ExternalNumber)
		}
		if l := d.line(r, d.unknown); l.Result != "confirmed" {
			t.Errorf("result %q", l.Result)
		}
		attempts, err := d.Attempts(t.Context(), d.unknown, 0, 1)
		if err != nil || len(attempts) != 1 || attempts[0].Kind != work.Find || attempts[0].Finding != work.FoundMatching ||
			attempts[0].AskedBy != clerk.Label() || attempts[0].Node != "" || !strings.Contains(attempts[0].Response, "line 3") {
			t.Errorf("%+v %v", attempts, err)
		}
		if after, err := d.reports.Report(t.Context(), clerk, r.ID); err != nil || after.State != review.ReportApplied || after.DoneAt.IsZero() {
			t.Errorf("%s %v", after.State, err)
		}
	})
}

func TestAWholeReportProvesAbsence(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		r := d.compared(reportHead + knownRow)
		if l := d.line(r, d.unknown); l.Kind != review.LineAbsent || !l.Applies {
			t.Fatalf("%+v, doubts %v", l, r.Doubts)
		}
		if _, err := d.gate(d.unknown); err == nil {
			t.Fatal("the gate was open before")
		}
		d.apply(r)
		if proof, err := d.gate(d.unknown); proof != work.ProofLookup {
			t.Fatalf("%q %v", proof, err)
		}
		d.Later(work.ProofLife + time.Minute)
		if _, err := d.gate(d.unknown); err == nil {
			t.Fatal("the proof does not end")
		}
	})
}

// What must never open the gate: a report that may not hold everything, or not everything of now.
func TestAReportThatProvesNothing(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		other := row("INV-2026-11-OTHER", "INV/2026/00009", "5,00", "Open")
		for name, c := range map[string]struct {
			content string
			change  func(*review.ReportInput)
			doubt   review.ReportDoubt
			why     string
		}{
			"filtered":            {reportHead + other, nil, review.DoubtMissing, "doubts"},
			"nobody says whole":   {reportHead + knownRow, func(in *review.ReportInput) { in.Everything = false }, review.DoubtEverything, "doubts"},
			"no time":             {reportHead + knownRow, func(in *review.ReportInput) { in.Made = time.Time{} }, review.DoubtTime, "doubts"},
			"before it settled":   {reportHead + knownRow, func(in *review.ReportInput) { in.Made = d.Clock().Add(-29*time.Minute - 30*time.Second) }, "", string(work.RefusedSettling)},
			"too old":             {reportHead + knownRow, func(in *review.ReportInput) { in.Made = d.Clock().Add(-16 * time.Minute) }, "", string(work.RefusedReportOld)},
			"another period":      {reportHead + strings.ReplaceAll(knownRow, "30.11.2026", "31.10.2026"), nil, review.DoubtNoneKnown, "doubts"},
			"unreadable row":      {reportHead + knownRow + "x;y;z;1;EUR;Open\n", nil, review.DoubtRows, "doubts"},
			"zeros and case lost": {reportHead + knownRow + row("inv 2026 11 lost", "7", "1.200,00", "Open"), nil, "", "similar"},
			"in another column":   {reportHead + knownRow + row("", "PO INV-2026-11-LOST", "1.200,00", "Open"), nil, "", "similar"},
			"cut short":           {reportHead + knownRow + row("INV-2026-11-LO", "8", "1.200,00", "Open"), nil, "", "similar"},
		} {
			t.Run(name, func(t *testing.T) {
				d.T = t
				changes := []func(*review.ReportInput){}
				if c.change != nil {
					changes = append(changes, c.change)
				}
				r := d.compared(c.content, changes...)
				l := d.line(r, d.unknown)
				if l.Kind != review.LineUnclear || l.Applies || l.Why != c.why {
					t.Errorf("%s %q applies %t, doubts %v, problem %q, bad %v", l.Kind, l.Why, l.Applies, r.Doubts, r.Problem, r.Bad)
				}
				if c.doubt != "" && !contains(r.Doubts, c.doubt) {
					t.Errorf("doubts %v, not %s", r.Doubts, c.doubt)
				}
				if err := d.reports.Apply(t.Context(), clerk, r.ID, r.Version); err == nil {
					if err := d.runner.RunOnce(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := d.gate(d.unknown); err == nil {
					t.Fatal("it opened the gate")
				}
			})
		}
	})
}

func contains[T comparable](list []T, want T) bool {
	for _, have := range list {
		if have == want {
			return true
		}
	}
	return false
}

func TestAReportShowsWhatDiffers(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		voided, twice, same := d.One("INV-2026-11-VOID"), d.One("INV-2026-11-TWICE"), d.One("INV-2026-11-SAMENO")
		for _, id := range []int64{voided, twice, same} {
			d.Send(id, rt.NoAnswer)
		}
		d.Later(10 * time.Minute)
		r := d.compared(reportHead + strings.ReplaceAll(knownRow, "1.200,00", "1.300,00") + row("INV-2026-11-LOST", "A2", "120,00", "Open") +
			row("INV-2026-11-VOID", "A3", "1.200,00", "Cancelled") + row("INV-2026-11-TWICE", "A4", "1.200,00", "Open") + row("INV-2026-11-TWICE", "A5", "1.200,00", "Open") +
			row("INV-2026-11-SAMENO", "INV/2026/00001", "1.200,00", "Open"))
		d.apply(r)
		for id, want := range map[int64]work.Reason{d.known: work.ReasonMismatch, d.unknown: work.ReasonMismatch, voided: work.ReasonFoundVoid,
			twice: work.ReasonDuplicates, same: work.ReasonMismatch} {
			if got := d.Get(id); got.Status != work.Review || got.Reason != want {
				t.Errorf("%s is %s (%s), not %s: %+v", got.BusinessKey, got.Status, got.Reason, want, d.line(r, id))
			}
			if _, err := d.gate(id); err == nil {
				t.Errorf("item %d may be sent again", id)
			}
		}
	})
}

// Versions are frozen when the comparison is shown; a restart in the middle repeats nothing and forgets nothing.
func TestAReportLeavesOutWhatChanged(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		second := d.One("INV-2026-11-SECOND")
		d.Send(second, rt.NoAnswer)
		d.Later(10 * time.Minute)
		r := d.compared(reportHead + knownRow + row("INV-2026-11-LOST", "A2", "1.200,00", "Open") + row("INV-2026-11-SECOND", "A3", "1.200,00", "Open"))
		d.Happen(d.unknown, work.Close{By: clerk, Note: "not needed"})
		if err := d.reports.Apply(t.Context(), clerk, r.ID, r.Version); err != nil {
			t.Fatal(err)
		}
		crash := forgetful{d.Store}
		if err := (review.ReportRunner{Store: crash}).RunOnce(t.Context()); !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		attempts := d.Get(second).Attempts
		if err := d.runner.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := d.Get(second); got.Status != work.Confirmed || got.Attempts != attempts || d.line(r, second).Result != "confirmed" {
			t.Errorf("%s, %d attempts after %d, %q", got.Status, got.Attempts, attempts, d.line(r, second).Result)
		}
		if got := d.Get(d.unknown); got.Status != work.Closed || d.line(r, d.unknown).Result != review.ResultChanged {
			t.Errorf("%s, %q", got.Status, d.line(r, d.unknown).Result)
		}
		if err := d.reports.Apply(t.Context(), clerk, r.ID, r.Version); !errors.Is(err, review.ErrReportChanged) {
			t.Errorf("applied twice: %v", err)
		}
	})
}

var errCrash = errors.New("crash")

// forgetful dies before it can keep results.
type forgetful struct{ review.ReportStore }

func (forgetful) SetLineResults(context.Context, int64, map[int]string) error { return errCrash }

func TestReportsAreForOperators(t *testing.T) {
	d := newDesk(t, storetest.SQLite(t))
	r := d.compared(reportHead + knownRow)
	for _, by := range []work.Actor{{}, {Kind: work.Person, Roles: []work.Role{work.Viewer}}, {Kind: work.Person, Roles: []work.Role{work.Ops}}, {Kind: work.Token, Roles: []work.Role{work.Operator}}} {
		_, uploadErr := d.reports.Upload(t.Context(), by, rt.SystemID, "x", []byte("x"))
		_, compareErr := d.reports.Compare(t.Context(), by, r.ID, r.Version, r.Input)
		_, listErr := d.reports.List(t.Context(), by, "")
		_, linesErr := d.reports.Lines(t.Context(), by, r.ID, "", 0, 1)
		for _, err := range []error{uploadErr, compareErr, listErr, linesErr, d.reports.Apply(t.Context(), by, r.ID, r.Version), d.reports.Remove(t.Context(), by, r.ID, r.Version)} {
			if !errors.Is(err, review.ErrForbidden) {
				t.Errorf("%+v: %v", by, err)
			}
		}
	}
	if _, err := review.NewReports(d.Store, automation.ReportFiles{}, 2).Report(context.Background(), clerk, r.ID); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("another company sees it: %v", err)
	}
	in := r.Input
	in.Made = d.Clock().Add(time.Minute)
	var refusal *work.Refusal
	if _, err := d.reports.Compare(t.Context(), clerk, r.ID, r.Version, in); !errors.As(err, &refusal) || refusal.Code != review.RefusedFuture {
		t.Errorf("a report of the future: %v", err)
	}
}
