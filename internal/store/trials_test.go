package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// The trials of field-trials.md that the storage must pass by itself.

func TestTrial25_TwoServersPlanTheSameItems(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		a, b := db.Open(t, store.Config{}), db.Open(t, store.Config{})
		must(t, a.DeclareSystem(t.Context(), books()))
		const rounds, items = 10, 200
		for round := range rounds {
			var wg sync.WaitGroup
			for _, s := range []*store.Store{a, b} {
				wg.Go(func() {
					for i := 0; i < items; i += 20 { // in bites, so that many keys clash at once
						if err := recordUnlessThere(t.Context(), s, round*items+i, 20); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
		}
		counts, err := a.Counts(t.Context(), 1)
		must(t, err)
		if counts[review.TabAll] != rounds*items {
			t.Fatalf("%d items, want %d", counts[review.TabAll], rounds*items)
		}
	})
}

func TestTrial40_UmlautsAreLettersOfTheirOwn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		composed := record(t, s, "KUNDE-\u00c4-2025-01")
		plain := record(t, s, "KUNDE-A-2025-01")
		decomposed := record(t, s, "KUNDE-A\u0308-2025-01")
		if composed.ID == plain.ID || composed.ID != decomposed.ID {
			t.Fatalf("ids: composed %d, plain %d, decomposed %d", composed.ID, plain.ID, decomposed.ID)
		}
	})
}

func TestTrial41_UpperAndLowerCase(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		first := record(t, s, "inv-aB12")
		second := record(t, s, "inv-Ab12")
		// One item that shows the first spelling, so that whoever plans can name both; never a second one.
		if first.ID != second.ID || second.BusinessKey != "inv-aB12" {
			t.Fatalf("%d %q and %d %q", first.ID, first.BusinessKey, second.ID, second.BusinessKey)
		}
	})
}

func TestTrial45_CompaniesDoNotMeet(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		other := books()
		other.ID, other.CompanyID = "books-b", 2
		must(t, s.DeclareSystem(t.Context(), other))
		a := record(t, s, "R-100")
		b := record(t, s, "R-100", func(n *work.New) { n.CompanyID, n.SystemID = 2, "books-b" })
		if a.ID == b.ID {
			t.Fatal("two companies share one item")
		}
		if _, err := s.Item(t.Context(), 2, a.ID); !errors.Is(err, review.ErrNotFound) {
			t.Errorf("company 2 sees the item of company 1: %v", err)
		}
		for _, text := range []string{"R-100", "R-1", "-100", "Acme"} {
			page, err := s.Search(t.Context(), review.Query{CompanyID: 2, Text: text, Limit: 10})
			must(t, err)
			if len(page.Items) != 1 || page.Items[0].ID != b.ID {
				t.Errorf("company 2 finds %d rows for %q", len(page.Items), text)
			}
		}
		counts, err := s.Counts(t.Context(), 2)
		if err != nil || counts[review.TabAll] != 1 {
			t.Errorf("company 2 counts %d: %v", counts[review.TabAll], err)
		}
	})
}

// found are the keys that a search finds, and how.
func found(t *testing.T, s *store.Store, text string) (string, review.How) {
	t.Helper()
	page, err := s.Search(t.Context(), review.Query{CompanyID: 1, Text: text, Limit: 50})
	must(t, err)
	var keys []string
	for _, it := range page.Items {
		keys = append(keys, it.BusinessKey)
	}
	return strings.Join(keys, " "), page.How
}

func wantFound(t *testing.T, s *store.Store, text, keys string, how review.How) {
	t.Helper()
	if got, h := found(t, s, text); got != keys || h != how {
		t.Errorf("%q found %q (%s), want %q (%s)", text, got, h, keys, how)
	}
}

func TestTrial68_SearchIgnoresCase(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		record(t, s, "Re-2025/7", func(n *work.New) { n.Invoice.CustomerName = "Straße Müller GmbH" })
		record(t, s, "OTHER-1")
		for _, text := range []string{"müller", "MÜLLER", "strasse", "STRASSE", "straße m"} {
			wantFound(t, s, text, "Re-2025/7", review.HowPart)
		}
		wantFound(t, s, "RE-2025/7", "Re-2025/7", review.HowExact)
		wantFound(t, s, "re-20", "Re-2025/7", review.HowPrefix)
	})
}

func TestTrial69_PastedWithBlanks(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		record(t, s, "00001")
		wantFound(t, s, "  00001", "00001", review.HowExact)
		wantFound(t, s, "00001\t\r\n", "00001", review.HowExact)
		wantFound(t, s, "0001", "00001", review.HowPart)
		wantFound(t, s, "9001", "", review.HowNone)
	})
}

func TestTrial70_UnderscoreAndPercentStandForThemselves(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		for _, key := range []string{"A_1", "AB1", "A%1", `A\1`} {
			record(t, s, key)
		}
		wantFound(t, s, "A_1", "A_1", review.HowExact)
		wantFound(t, s, "%", "A%1", review.HowPart)
		wantFound(t, s, "_1", "A_1", review.HowPart)
		wantFound(t, s, `\`, `A\1`, review.HowPart)
		for _, hostile := range []string{`"`, `'`, `" OR 1`, "a\x00b", "\xff", `%%%`, `___`, "*", "AB1*", "NOT"} {
			wantFound(t, s, hostile, "", review.HowNone)
		}
	})
}

// Records outside are found by their number or id too.
func TestSearchByExternalNumber(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		record(t, s, "order 1", func(n *work.New) { n.Steps = []string{"create", "post"} })
		record(t, s, "order 2")
		closeAll(t, s, claim(t, s, 10))
		wantFound(t, s, "n-ORDER 1", "order 1", review.HowExact)
		wantFound(t, s, "ID-order 2", "order 2", review.HowExact)
		wantFound(t, s, "N-ord", "order 1 order 2", review.HowPrefix)
		wantFound(t, s, "der", "order 1 order 2", review.HowPart)
	})
}

func TestTrial72_EveryItemIsOnExactlyOnePage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		const items = 120
		recordMany(t, s, 0, items) // all at the same time
		closeAll(t, s, claim(t, s, 40))
		for walk := range 10 {
			for _, text := range []string{"", "INV-2026", "2026-11"} {
				seen := map[string]int{}
				q := review.Query{CompanyID: 1, Limit: 50, Text: text}
				for pages := 1; ; pages++ {
					page, err := s.Search(t.Context(), q)
					must(t, err)
					for _, it := range page.Items {
						seen[it.BusinessKey]++
					}
					if page.Next == (review.Cursor{}) {
						break
					}
					if q.After = page.Next; pages > 10 {
						t.Fatal("the pages do not end")
					}
				}
				if len(seen) != items {
					t.Errorf("walk %d of %q: %d of %d items seen", walk, text, len(seen), items)
				}
				for key, n := range seen {
					if n != 1 {
						t.Errorf("walk %d of %q: %s was on %d pages", walk, text, key, n)
					}
				}
			}
		}
	})
}

func TestTabsAndCounts(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		for i := range 6 {
			record(t, s, fmt.Sprintf("INV-%d", i))
		}
		claimed := claim(t, s, 3)
		closeAll(t, s, claimed[:1])
		_, err := closeWith(t.Context(), s, claimed[1:2], func(work.Item) work.Answer { return work.Answer{Outcome: work.Unknown} })
		must(t, err)
		held := record(t, s, "INV-4")
		if _, err := apply(t, s, held.ID, work.Hold{By: ada, Note: "wait for the order"}); err != nil {
			t.Fatal(err)
		}
		gone := record(t, s, "INV-5")
		for _, ev := range []work.Event{work.Hold{By: ada, Note: "a mistake"}, work.Close{By: ada, Note: "a mistake"}} {
			if _, err := apply(t, s, gone.ID, ev); err != nil {
				t.Fatal(err)
			}
		}
		want := map[review.Tab]int64{review.TabFinished: 1, review.TabUnknown: 1, review.TabWaiting: 2, review.TabReview: 1, review.TabClosed: 1, review.TabAll: 6}
		counts, err := s.Counts(t.Context(), 1)
		must(t, err)
		for tab, n := range want {
			page, err := s.Search(t.Context(), review.Query{CompanyID: 1, Tab: tab, Limit: 50})
			must(t, err)
			if counts[tab] != n || int64(len(page.Items)) != n {
				t.Errorf("%s: counted %d, listed %d, want %d", tab, counts[tab], len(page.Items), n)
			}
		}
		c.advance(books().Rules().Lease())
		claim(t, s, 10) // the unknown one is being looked up: still unknown, not waiting
		if counts, err = s.Counts(t.Context(), 1); err != nil || counts[review.TabUnknown] != 1 || counts[review.TabWaiting] != 2 {
			t.Errorf("while it is looked up: %v, %v", counts, err)
		}
		page, err := s.Search(t.Context(), review.Query{CompanyID: 1, Filter: review.Filter{Reason: work.ReasonHeld, Status: work.Review, SystemID: "books"}, Limit: 5})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != held.ID || len(page.Items[0].Invoice.Lines) != 0 {
			t.Errorf("filtered: %+v, %v", page.Items, err)
		}
	})
}
