package store_test

import (
	"errors"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/store"
	"onefold/internal/work"
)

func upload(t *testing.T, s *store.Store, at time.Time) int64 {
	t.Helper()
	i, err := s.AddImport(t.Context(), automation.Import{CompanyID: 1, SystemID: "books", Automation: "invoices", Name: "Novem\x00ber.csv", State: automation.ImportUploading,
		By: work.Actor{Kind: work.Person, ID: "7", Name: "Ada", Roles: []work.Role{work.Operator}}, At: at})
	must(t, err)
	must(t, s.AddImportChunk(t.Context(), i.ID, 0, []byte("a,b")))
	must(t, s.AddImportChunk(t.Context(), i.ID, 1, []byte{0, 255}))
	return i.ID
}

// Trial 57: one file is under way once, however often it is uploaded.
func TestTrial57_OneFileIsUnderWayOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		first, second := upload(t, s, c.Now()), upload(t, s, c.Now())
		type result struct {
			other int64
			err   error
		}
		results := make(chan result, 2)
		for _, id := range []int64{first, second} {
			go func() {
				other, err := s.UploadedImport(ctx, id, "h", 5)
				results <- result{other, err}
			}()
		}
		a, b := <-results, <-results
		must(t, a.err)
		must(t, b.err)
		if (a.other == 0) == (b.other == 0) {
			t.Fatalf("both are under way, or none: %+v %+v", a, b)
		}
		id := a.other + b.other
		if piece, err := s.ImportChunk(ctx, id, 1); err != nil || len(piece) != 2 || piece[1] != 255 {
			t.Errorf("%v %v", piece, err)
		}
		if piece, err := s.ImportChunk(ctx, first+second-id, 0); err != nil || piece != nil {
			t.Errorf("the file of the other is kept: %v %v", piece, err)
		}
		list, err := s.Imports(ctx, 1, 0, 10)
		must(t, err)
		if len(list) != 1 || list[0].ID != id || list[0].By.Name != "Ada" || !list[0].By.Can(work.Operator) || list[0].State != automation.ImportChecking {
			t.Errorf("%+v", list)
		}
		if _, err := s.Import(ctx, 2, id); !errors.Is(err, automation.ErrImportUnknown) {
			t.Errorf("another company sees it: %v", err)
		}
	})
}

func TestImportWorkIsHeldByOne(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		id := upload(t, s, c.Now())
		if open, err := s.OpenImports(ctx, c.Now().Add(-time.Hour), c.Now().Add(-time.Hour)); err != nil || len(open) != 0 {
			t.Fatalf("an upload is worked on: %v %v", open, err)
		}
		_, err := s.UploadedImport(ctx, id, "h", 5)
		must(t, err)
		_, held, err := s.HoldImport(ctx, id, "one", time.Minute)
		must(t, err)
		if _, again, err := s.HoldImport(ctx, id, "two", time.Minute); err != nil || again || !held {
			t.Fatalf("held twice: %v", err)
		}
		row := func(n int, o automation.ImportOutcome) automation.ImportRow {
			return automation.ImportRow{N: n, Line: n + 1, Outcome: o, Key: "K\x00", Detail: "why", Content: "{}"}
		}
		same := func(*automation.Import) error { return nil }
		_, err = s.WorkImport(ctx, id, "one", time.Minute, automation.ImportWork{Clear: true, Add: []automation.ImportRow{row(1, automation.RowTodo), row(2, automation.RowKnown),
			row(3, automation.RowTodo), row(4, automation.RowTodo)}, Change: func(i *automation.Import) error {
			i.State, i.Counts.Todo = automation.ImportRunning, 3
			return nil
		}})
		must(t, err)
		if piece, _ := s.ImportChunk(ctx, id, 0); piece != nil {
			t.Error("the file is kept though nobody needs it any more")
		}
		todo, err := s.ImportRows(ctx, id, automation.ImportRowQuery{Outcome: automation.RowTodo, Limit: 2, Content: true})
		must(t, err)
		if len(todo) != 2 || todo[1].N != 3 || todo[0].Content != "{}" {
			t.Fatalf("%+v", todo)
		}
		todo[0].Outcome, todo[1].Outcome, todo[1].ItemID = automation.RowNew, automation.RowConflict, 9
		c.advance(2 * time.Minute) // the server was away
		if _, err := s.WorkImport(ctx, id, "one", time.Minute, automation.ImportWork{Settle: todo, Change: same}); !errors.Is(err, automation.ErrImportLost) {
			t.Fatalf("a late server still writes: %v", err)
		}
		_, held, err = s.HoldImport(ctx, id, "two", time.Minute)
		must(t, err)
		if !held {
			t.Fatal("nobody goes on")
		}
		must(t, s.ReleaseImport(ctx, id, "one")) // it does not let go what another holds
		_, err = s.WorkImport(ctx, id, "two", time.Minute, automation.ImportWork{Settle: todo, Change: same})
		must(t, err)
		rows, err := s.ImportRows(ctx, id, automation.ImportRowQuery{Limit: 10, Content: true})
		must(t, err)
		for k, want := range []automation.ImportOutcome{automation.RowNew, automation.RowKnown, automation.RowConflict, automation.RowTodo} {
			if rows[k].Outcome != want {
				t.Errorf("row %d: %s", k+1, rows[k].Outcome)
			}
		}
		if rows[0].Content != "" || rows[3].Content != "{}" || rows[2].ItemID != 9 {
			t.Errorf("%+v", rows)
		}
	})
}

func TestAbandonedUploadsAreRemoved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		lost, shown := upload(t, s, c.Now()), upload(t, s, c.Now())
		_, err := s.UploadedImport(ctx, shown, "h", 5)
		must(t, err)
		_, err = s.ChangeImport(ctx, 1, shown, func(i *automation.Import) error {
			i.State, i.CheckedAt = automation.ImportReady, c.Now()
			return nil
		})
		must(t, err)
		c.advance(2 * time.Hour)
		_, err = s.OpenImports(ctx, c.Now().Add(-time.Hour), c.Now().Add(-24*time.Hour))
		must(t, err)
		for id, want := range map[int64]automation.ImportState{lost: automation.ImportRemoved, shown: automation.ImportReady} {
			if i, err := s.Import(ctx, 1, id); err != nil || i.State != want {
				t.Errorf("%d: %s, %v", id, i.State, err)
			}
		}
		must(t, s.SaveImportShape(ctx, 1, "s", automation.ImportSettings{Columns: map[string]int{"key": 1}}))
		must(t, s.SaveImportShape(ctx, 1, "s", automation.ImportSettings{Columns: map[string]int{"key": 2}}))
		if last, found, err := s.ImportShape(ctx, 1, "s"); err != nil || !found || last.Columns["key"] != 2 {
			t.Errorf("%+v %v %v", last, found, err)
		}
		if _, found, err := s.ImportShape(ctx, 2, "s"); err != nil || found {
			t.Errorf("another company's: %v %v", found, err)
		}
	})
}
