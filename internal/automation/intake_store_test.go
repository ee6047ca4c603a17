package automation_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// importExample imports the example file into the world's database.
func importExample(w *world, o automation.ImportOptions) (automation.ImportReport, error) {
	w.t.Helper()
	f, err := os.Open("../../examples/invoices-2026-11.csv")
	w.must(err)
	defer f.Close()
	return automation.Importer{Intake: w.intake, TempDir: w.t.TempDir()}.Import(w.t.Context(), f, o)
}

func TestExampleOnTheStore(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t := w.t
		r, err := importExample(w, intoBooks)
		w.must(err)
		if r.New != 228 || r.Known != 4 || r.Conflict != 1 || r.Bad != 7 {
			t.Errorf("first: %d new, %d known, %d conflicting, %d bad", r.New, r.Known, r.Conflict, r.Bad)
		}
		r, err = importExample(w, intoBooks)
		w.must(err)
		if r.New != 0 || r.Known != 232 || r.Conflict != 1 || r.Bad != 7 {
			t.Errorf("again: %d new, %d known, %d conflicting, %d bad", r.New, r.Known, r.Conflict, r.Bad)
		}
		it := w.item("INV-2026-11-ZWECKVERBAND")
		if it.Invoice.CustomerID != "00417" || it.Source != "import:1" || it.RecordedBy.ID != "test" || it.Status != work.Queued {
			t.Errorf("on record: %+v", it)
		}
	})
}

// 57. The same file uploaded again while the first upload is still at work
func TestTrial57_SameFileManyTimesAtOnce(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t := w.t
		const uploads = 4
		var wg sync.WaitGroup
		var reports [uploads]automation.ImportReport
		var errs [uploads]error
		for i := range uploads {
			wg.Go(func() { reports[i], errs[i] = importExample(w, intoBooks) })
		}
		wg.Wait()
		news := 0
		for i, r := range reports {
			if errs[i] != nil {
				t.Error(errs[i])
			}
			news += r.New
			if r.New+r.Known != 232 || r.Conflict != 1 {
				t.Errorf("upload %d: %d new, %d known, %d conflicting", i, r.New, r.Known, r.Conflict)
			}
		}
		if news != 228 {
			t.Errorf("%d new over all uploads, want 228", news)
		}
	})
}

// 55. The file that broke half way was uploaded again
func TestTrial55_OnTheStore(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t := w.t
		file := func(sixtieth string) string {
			var b strings.Builder
			b.WriteString(heading)
			for i := 1; i <= 100; i++ {
				amount := "10.00"
				if i == 60 {
					amount = sixtieth
				}
				fmt.Fprintf(&b, "INV-%03d,C,EUR,%s\n", i, amount)
			}
			return b.String()
		}
		r, err := importing(t, w.store, file("ten"), intoBooks)
		w.must(err)
		if r.New != 99 || r.Bad != 1 {
			t.Errorf("first: %d new, %d bad", r.New, r.Bad)
		}
		r, err = importing(t, w.store, file("10.00"), intoBooks)
		w.must(err)
		if r.New != 1 || r.Known != 99 {
			t.Errorf("again: %d new, %d known", r.New, r.Known)
		}
	})
}

func TestIntakeReferenceTakenOnTheStore(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t := w.t
		wantResults(t, recordAll(t, w.store, newItem(t, "A", "1.00"), newItem(t, "C", "1.00")), automation.IntakeNew, automation.IntakeNew)
		a, c := newItem(t, "A", "1.00"), newItem(t, "C", "1.00")
		a.Automation, c.Automation = "by-hand", "by-hand"
		wantResults(t, recordAll(t, w.store, a, newItem(t, "B", "1.00"), c), automation.IntakeTaken, automation.IntakeNew, automation.IntakeTaken)
		wantResults(t, recordAll(t, w.store, newItem(t, "b", "1.00"), newItem(t, "B", "2.00")), automation.IntakeSpelling, automation.IntakeConflict)
	})
}

func TestIntakeKnowsEveryRevisionOnTheStore(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t := w.t
		recordAll(t, w.store, newItem(t, "A", "1.00"))
		it := w.item("A")
		corrected := it.Invoice
		corrected.Total = euros(t, "2.00")
		by := work.Actor{Kind: work.Person, ID: "7", Roles: []work.Role{work.Operator}}
		w.must(w.act("A", work.Hold{By: by, Note: "wrong amount"}))
		w.must(w.act("A", work.Correct{By: by, Invoice: corrected, Note: "as agreed"}))
		got := recordAll(t, w.store, newItem(t, "A", "1.00"), newItem(t, "A", "2.00"), newItem(t, "A", "3.00"))
		wantResults(t, got, automation.IntakeKnown, automation.IntakeKnown, automation.IntakeConflict)
	})
}
