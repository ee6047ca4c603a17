package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"onefold/internal/review"
	"onefold/internal/store"
)

// What very many rows match is found by a walk, and the same rows in the same order as from the matches' ids; nothing is
// cut off.
func TestSearchFindsTheSameEitherWay(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		rnd := rand.New(rand.NewPCG(23, 5))
		all := randomItems(t, s, c, rnd, 120)
		texts := []string{"R-00", "r-0", "-00", "00", "acme", "acme trading", "C-1", "129", "100.50", "1,234", "usd 100,50", "N-R", "x-1", "X-", "R-0007", "1234 EUR", "ing", "g", "none"}
		total := 0
		for n := range 120 {
			q := review.Query{CompanyID: 1, Text: texts[n%len(texts)], Tab: pick(rnd, allTabs), Limit: 1 + rnd.IntN(9), Filter: randomFilter(rnd, all, n)}
			if n < len(texts) {
				q.Tab, q.Filter = review.TabAll, review.Filter{}
			}
			read := func(many int) ([]int64, review.How, int64, string) {
				store.SetManyHits(t, many)
				first, err := s.Search(t.Context(), q)
				must(t, err)
				count, err := s.Count(t.Context(), q, 1000)
				must(t, err)
				groups, err := s.Groups(t.Context(), q, 1000)
				must(t, err)
				return walk(t, s, q, len(all)), first.How, count, fmt.Sprint(groups)
			}
			store.SetManyFound(t, 2+n%2*400) // every second time in halves
			few, how, count, groups := read(5000)
			many, how2, count2, groups2 := read(0)
			if !slices.Equal(few, many) || how != how2 || count != count2 || groups != groups2 || count != int64(len(few)) {
				t.Fatalf("%+v\nfrom ids %v (%s), %d\nby walk  %v (%s), %d", q, few, how, count, many, how2, count2)
			}
			seen := slices.Clone(few)
			slices.Sort(seen)
			if len(slices.Compact(seen)) != len(few) {
				t.Fatalf("%+v: a row is on two pages: %v", q, few)
			}
			total += len(few)
		}
		if total < 800 {
			t.Errorf("%d rows found: the texts say little", total)
		}
	})
}

// A short text is in no index: it is looked for in the newest rows, and the page is told so.
func TestShortTextsAreLookedForInTheNewest(t *testing.T) {
	store.SetNewestRows(t, 5)
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		record(t, s, "OLD-QX")
		for i := range 5 {
			record(t, s, fmt.Sprintf("INV-%d", i))
		}
		wantFound(t, s, "qx", "", review.HowNone)
		wantFound(t, s, "old-qx", "OLD-QX", review.HowExact)
		wantFound(t, s, "ol", "OLD-QX", review.HowPrefix)
		wantFound(t, s, "d-qx", "OLD-QX", review.HowPart)
		record(t, s, "NEW-QX")
		wantFound(t, s, "qx", "NEW-QX", review.HowNewest)
	})
}

// A short beginning that a good part of all items share says little: the newest of them are shown, counted as they are
// shown, and the page is told so.
func TestManyShortBeginningsAreTheNewest(t *testing.T) {
	store.SetNewestHits(t, 2)
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		for _, key := range []string{"AB-1", "CD-1", "AB-2", "AB-3", "CD-2"} {
			record(t, s, key)
		}
		wantFound(t, s, "ab", "AB-3 AB-2", review.HowNewest)
		if n, err := s.Count(t.Context(), review.Query{CompanyID: 1, Text: "ab"}, 100); err != nil || n != 2 {
			t.Errorf("counted %d, %v, where 2 are shown", n, err)
		}
		wantFound(t, s, "cd-2", "CD-2", review.HowExact)
	})
}

// The index is asked for the piece of a long text that says most; what is found holds the whole text.
func TestLongTextsAreLookedForWhole(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		for _, key := range []string{"INV-2025-11-0004711", "INV-2026-11-0004711", "INV-2026-12-0004711", "larsen consulting oslo", "petersen consulting oslo", "larsen contracting oslo", "100% sure_thing 0004711"} {
			record(t, s, key)
		}
		for text, key := range map[string]string{"v-2025-11-0004711": "INV-2025-11-0004711", "6-12-0004711": "INV-2026-12-0004711", "arsen consulting": "larsen consulting oslo",
			"tersen consulting oslo": "petersen consulting oslo", "ARSEN   contracting": "larsen contracting oslo", "0% sure_thing": "100% sure_thing 0004711"} {
			wantFound(t, s, text, key, review.HowPart)
		}
		for _, text := range []string{"v-2024-11-0004711", "0004711-11", "arsen consulting 1", "0% sure-thing"} {
			wantFound(t, s, text, "", review.HowNone)
		}
	})
}

func TestThePiecesThatSayMost(t *testing.T) {
	for text, want := range map[string]string{"acme": "acme", "37123": "37123", "-2026-11-0999128": "999 128 202", "/44747/2025-01": "447 747 202", "larsen consulting 37123": "371 123 sul ars",
		"129 gmbh und co": "129 gmb und", "larsen consulting": "sul ars", "müller & söhne": "üll öhn", "a b": "a b", "- & s.a. -": "- & s.a. -", "consultinggroup": "ult ing", "ab consul": "con sul",
		"so-00999999": "999 999", "100% sure_thing": "100 hin sur"} {
		if got := strings.Join(store.Telling(text), " "); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
