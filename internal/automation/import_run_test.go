package automation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
)

var importer = work.Actor{Kind: work.Person, ID: "7", Name: "Ada Brown", Roles: []work.Role{work.Operator}}

func fileOf(rows int) string {
	var b strings.Builder
	b.WriteString(heading)
	for i := range rows {
		fmt.Fprintf(&b, "INV-%05d,C,EUR,1.10\n", i)
	}
	return b.String()
}

// TestImportByTwoServers: both work at it at once, and each row is recorded and counted once.
func TestImportByTwoServers(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t, ctx := w.t, w.t.Context()
		ims := automation.Imports{Store: w.store, CompanyID: 1, TempDir: t.TempDir()}
		i, _, err := ims.Upload(ctx, importer, intoBooks.SystemID, "invoices", "a.csv", strings.NewReader(fileOf(7000)))
		w.must(err)
		servers := func() {
			var wg sync.WaitGroup
			for _, node := range []string{"one", "two"} {
				wg.Go(func() {
					r := automation.ImportRunner{Imports: ims, Holder: review.New(w.store, 1), Node: node}
					for range 20 {
						if _, err := r.RunOnce(ctx); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
		}
		servers()
		i, err = ims.Import(ctx, importer, i.ID)
		w.must(err)
		if i.State != automation.ImportReady || i.Counts.Todo != 7000 || i.Problem != "" {
			t.Fatalf("%+v", i)
		}
		_, err = ims.Start(ctx, importer, i.ID, i.Version)
		w.must(err)
		if _, err := ims.Start(ctx, importer, i.ID, i.Version); !errors.Is(err, automation.ErrImportChanged) {
			t.Errorf("begun twice: %v", err)
		}
		servers()
		i, err = ims.Import(ctx, importer, i.ID)
		w.must(err)
		if i.State != automation.ImportDone || i.Counts.New != 7000 || i.Counts.Todo != 0 || i.Sums[0].Rows != 7000 || i.Sums[0].Amount.Number() != "7700.00" {
			t.Errorf("%+v", i)
		}
		again, isNew, err := ims.Upload(ctx, importer, intoBooks.SystemID, "invoices", "a.csv", strings.NewReader(fileOf(7000)))
		w.must(err)
		servers()
		again, err = ims.Import(ctx, importer, again.ID)
		w.must(err)
		if !isNew || again.Counts.Known != 7000 || again.Counts.Todo != 0 || again.Earlier != i.ID {
			t.Errorf("again: %+v", again)
		}
		if _, err := ims.Start(ctx, importer, again.ID, again.Version); !errors.Is(err, automation.ErrImportChanged) {
			t.Errorf("a file without news begins: %v", err)
		}
	})
}

// Roles are checked where the thing is done, not only at the route.
func TestImportsAreForOperatorsAndAdmins(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t, ctx := w.t, w.t.Context()
		ims := automation.Imports{Store: w.store, CompanyID: 1, TempDir: t.TempDir()}
		i, _, err := ims.Upload(ctx, importer, intoBooks.SystemID, "invoices", "a.csv", strings.NewReader(fileOf(1)))
		w.must(err)
		w.must(ims.CheckNow(ctx, i, "one"))
		viewer := importer
		viewer.Roles = []work.Role{work.Viewer, work.Ops}
		for name, do := range map[string]func() error{
			"upload": func() error {
				_, _, err := ims.Upload(ctx, viewer, intoBooks.SystemID, "invoices", "b.csv", strings.NewReader("x"))
				return err
			},
			"look":   func() error { _, err := ims.Import(ctx, viewer, i.ID); return err },
			"list":   func() error { _, err := ims.List(ctx, viewer, 0, 9); return err },
			"rows":   func() error { _, err := ims.Rows(ctx, viewer, i.ID, automation.ImportRowQuery{Limit: 9}); return err },
			"read":   func() error { _, err := ims.Read(ctx, viewer, i.ID, 0, automation.ImportSettings{}); return err },
			"start":  func() error { _, err := ims.Start(ctx, viewer, i.ID, 0); return err },
			"hold":   func() error { _, err := ims.Hold(ctx, viewer, i.ID, "x"); return err },
			"remove": func() error { return ims.Remove(ctx, viewer, i.ID, 0) },
		} {
			if err := do(); !errors.Is(err, automation.ErrImportForbidden) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := (automation.Imports{Store: w.store, CompanyID: 2}).Import(ctx, importer, i.ID); !errors.Is(err, automation.ErrImportUnknown) {
			t.Errorf("another company's: %v", err)
		}
	})
}

// broken breaks off while an upload is read.
type broken struct{ left int }

func (b *broken) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("the line broke")
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		ims := automation.Imports{Store: w.store, CompanyID: 1}
		if _, _, err := ims.Upload(w.t.Context(), importer, intoBooks.SystemID, "invoices", "a.csv", &broken{3 << 20}); err == nil {
			w.t.Error("it was taken")
		}
		list, err := ims.List(w.t.Context(), importer, 0, 9)
		w.must(err)
		if piece, err := w.store.ImportChunk(w.t.Context(), 1, 0); len(list) != 0 || err != nil || piece != nil {
			w.t.Errorf("%+v, %d bytes, %v", list, len(piece), err)
		}
	})
}

// A damaged file that makes its reader panic is a file that cannot be read, and ends no server.
func TestAFileThatMakesTheReaderPanic(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t, ctx := w.t, w.t.Context()
		ims := automation.Imports{Store: panicking{w.store}, CompanyID: 1, TempDir: t.TempDir()}
		i, _, err := ims.Upload(ctx, importer, intoBooks.SystemID, "invoices", "a.csv", strings.NewReader(fileOf(1)))
		w.must(err)
		w.must(ims.CheckNow(ctx, i, "one"))
		if i, err = ims.Import(ctx, importer, i.ID); err != nil || i.State != automation.ImportReady || !strings.Contains(i.Problem, "damaged") {
			t.Errorf("%+v %v", i, err)
		}
	})
}

type panicking struct{ automation.ImportStore }

func (panicking) ImportShape(context.Context, int64, string) (automation.ImportSettings, bool, error) {
	panic("index out of range")
}

// The import that nobody began is removed after its time, and its file with it.
func TestFilesThatNobodyBeginsAreRemoved(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t, ctx := w.t, w.t.Context()
		ims := automation.Imports{Store: w.store, CompanyID: 1, TempDir: t.TempDir()}
		i, _, err := ims.Upload(ctx, importer, intoBooks.SystemID, "invoices", "a.csv", strings.NewReader(fileOf(1)))
		w.must(err)
		w.must(ims.CheckNow(ctx, i, "one"))
		w.clock.advance(15 * 24 * time.Hour)
		_, err = automation.ImportRunner{Imports: ims, Node: "one"}.RunOnce(ctx)
		w.must(err)
		if _, err := ims.Import(ctx, importer, i.ID); !errors.Is(err, automation.ErrImportUnknown) {
			t.Errorf("it is still there: %v", err)
		}
	})
}
