package review_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// A row that changes while the file is made moves to the top of the list. It is neither missing nor there twice.
func TestExportMissesNothingThatMoves(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db)
		var keys []string
		for i := range 450 {
			keys = append(keys, fmt.Sprintf("INV-%03d", i))
		}
		ids := w.Put("Acme", rt.Money(t, "1", "EUR"), keys...)
		by := work.Actor{Kind: work.Person, ID: "v", Name: "Vera", Roles: []work.Role{work.Viewer}}
		rows, err := review.New(w.Store, 1).Export(t.Context(), by, review.Query{})
		if err != nil {
			t.Fatal(err)
		}
		seen, n := map[int64]int{}, 0
		for it, err := range rows {
			if err != nil {
				t.Fatal(err)
			}
			seen[it.ID]++
			if n++; n == 1 || n == 450 { // one not yet on the file and one that is; and once more at the very end
				w.Later(time.Second)
				w.Happen(ids[0], work.Assign{By: ada, To: fmt.Sprint("Ben ", n)})
				w.Happen(it.ID, work.Assign{By: ada, To: fmt.Sprint("Ada ", n)})
			}
		}
		if len(seen) != 450 || n != 450 {
			t.Errorf("%d rows of %d items", n, len(seen))
		}
		if _, err := review.New(w.Store, 1).Export(t.Context(), work.Actor{Kind: work.Person, ID: "x"}, review.Query{}); !errors.Is(err, review.ErrForbidden) {
			t.Errorf("whoever may not read: %v", err)
		}
	})
}
