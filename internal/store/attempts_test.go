package store_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

// randomAttempts are attempts of the items, many of which began at one instant.
func randomAttempts(rnd *rand.Rand, ids []int64, begin time.Time, n int) []work.Attempt {
	next := map[int64]int{}
	var list []work.Attempt
	for i := range n {
		id := pick(rnd, ids)
		next[id]++
		a := work.Attempt{ItemID: id, Number: next[id], Kind: pick(rnd, []work.Kind{work.Send, work.Find}), Node: pick(rnd, []string{"one", "two"}), Revision: 1,
			Reference: "R", Key: "K", StartedAt: begin.Add(time.Duration(i/7) * time.Second), HTTPStatus: pick(rnd, []int{0, 200, 422, 500, 503}),
			AskedBy: pick(rnd, []string{"", "", "person:7 Ada Brown", "person:77 Bo", "token:7 Shop"}), Request: "asked", Response: strings.Repeat("a", 5000), Record: `{"id":"x"}`}
		if rnd.IntN(8) > 0 {
			a.EndedAt = a.StartedAt.Add(time.Duration(rnd.IntN(5000)) * time.Millisecond)
			if a.Kind == work.Send {
				a.Outcome = pick(rnd, []work.Outcome{work.Accepted, work.Rejected, work.Unknown, work.Deferred})
			} else {
				a.Finding = pick(rnd, []work.Finding{work.FoundMatching, work.NotFound, work.FindDeferred})
			}
		}
		switch rnd.IntN(10) {
		case 0:
			a.LateFor = 1
		case 1:
			a.Node = ""
		}
		list = append(list, a)
	}
	return list
}

// wantAttempts says what the list should hold: the same conditions, without a database.
func wantAttempts(all []work.Attempt, items map[int64]work.Item, q review.AttemptQuery) []string {
	list := slices.Clone(all)
	slices.SortFunc(list, func(a, b work.Attempt) int {
		return -cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ItemID, b.ItemID), cmp.Compare(a.Number, b.Number))
	})
	exact := slices.ContainsFunc(all, func(a work.Attempt) bool { return items[a.ItemID].BusinessKey == q.Key })
	var out []string
	for _, a := range list {
		it, until := items[a.ItemID], a.EndedAt
		if until.IsZero() {
			until = q.Now
		}
		switch {
		case q.Key != "" && it.BusinessKey != q.Key && (exact || !strings.HasPrefix(it.BusinessKey, q.Key)),
			q.SystemID != "" && it.SystemID != q.SystemID, q.Automation != "" && it.Automation != q.Automation,
			q.Kind != "" && review.KindOf(a) != q.Kind, q.Node != "" && a.Node != q.Node,
			q.Result != "" && q.Result != review.ResultOf(a),
			q.NoStatus && (a.HTTPStatus != 0 || a.EndedAt.IsZero()), q.StatusTo > 0 && (a.HTTPStatus < q.StatusFrom || a.HTTPStatus > q.StatusTo),
			q.AskedBy == review.AskedByAnybody && a.AskedBy == "", strings.Contains(q.AskedBy, ":") && !strings.HasPrefix(a.AskedBy, q.AskedBy+" "),
			!q.From.IsZero() && a.StartedAt.Before(q.From), !q.To.IsZero() && !a.StartedAt.Before(q.To),
			q.Longer > 0 && (until.Sub(a.StartedAt) <= q.Longer || review.KindOf(a) == review.KindLate || review.KindOf(a) == review.KindReport):
			continue
		}
		out = append(out, fmt.Sprintf("%d/%d", a.ItemID, a.Number))
	}
	return out
}

// walkAttempts reads all pages of a list.
func walkAttempts(t *testing.T, s *store.Store, q review.AttemptQuery) (out []string, pages int) {
	t.Helper()
	for {
		page, err := s.AttemptList(t.Context(), q)
		must(t, err)
		if pages++; pages > 2000 {
			t.Fatal("the pages have no end")
		}
		for _, r := range page.Rows {
			if r.Request+r.Response+r.Record != "" {
				t.Fatal("a list reads what is large")
			}
			out = append(out, fmt.Sprintf("%d/%d", r.ItemID, r.Number))
		}
		if page.Next != (review.AttemptCursor{}) && page.Further != (review.AttemptCursor{}) {
			t.Fatal("two ways on")
		}
		if q.After = page.Next; q.After == (review.AttemptCursor{}) {
			q.After = page.Further
		}
		if q.After == (review.AttemptCursor{}) {
			return out, pages
		}
	}
}

// Whatever the filter and however little one page looks through: each attempt is on exactly one page, in order, and none is
// missing.
func TestAttemptsAreOnExactlyOnePage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		rnd := rand.New(rand.NewPCG(7, 18))
		shop := books()
		shop.ID = "shop"
		must(t, s.DeclareSystem(t.Context(), shop))
		items, ids := map[int64]work.Item{}, []int64{}
		for i := range 12 {
			it := record(t, s, fmt.Sprintf("INV-%d", i), func(n *work.New) {
				if i%3 == 0 {
					n.SystemID = "shop"
				}
				if i%4 == 0 {
					n.Automation = "renewals"
				}
			})
			items[it.ID], ids = it, append(ids, it.ID)
		}
		all := randomAttempts(rnd, ids, c.Now(), 300)
		must(t, store.PutAttempts(t.Context(), s, all))
		c.advance(time.Hour)
		found := 0
		for n := range 150 {
			store.SetLookThrough(t, 1+rnd.IntN(80), 1+rnd.IntN(80), pick(rnd, []int{1, 500}))
			q := review.AttemptQuery{CompanyID: 1, Limit: 1 + rnd.IntN(40), Now: c.Now()}
			switch n % 10 {
			case 0:
			case 1:
				q.Key = pick(rnd, []string{"INV-1", "INV-", "INV-11", "NONE", "INV"})
			case 2:
				q.SystemID, q.Kind = pick(rnd, []string{"books", "shop"}), pick(rnd, review.AttemptKinds)
			case 3:
				q.Automation, q.Result = pick(rnd, []string{"invoices", "renewals"}), pick(rnd, []string{"deferred", "open", "not_found", "unknown"})
			case 4:
				q.StatusFrom, q.StatusTo = 500, 599
			case 5:
				q.NoStatus, q.Node = true, "two"
			case 6:
				q.AskedBy = pick(rnd, []string{review.AskedByAnybody, "person:7", "token:7", "person:8"})
			case 7:
				q.From, q.To = c.Now().Add(-time.Hour+10*time.Second), c.Now().Add(-time.Hour+20*time.Second)
			case 8:
				q.Longer = time.Duration(1+rnd.IntN(4000)) * time.Millisecond
			case 9:
				q.Key, q.Kind, q.Longer = "INV-1", pick(rnd, review.AttemptKinds), time.Second
			}
			want := wantAttempts(all, items, q)
			if got, _ := walkAttempts(t, s, q); !slices.Equal(got, want) {
				t.Fatalf("%+v\ngot  %v\nwant %v", q, got, want)
			}
			found += len(want)
		}
		if found < 3000 {
			t.Errorf("%d rows found: the filters say little", found)
		}
	})
}

// Field trial 111: asked for ten, timed out over eight thousand. A page looks through so many attempts and no more, however
// many there are and however rare is what it is asked for, and says how far it came.
func TestTrial111_TheAttemptsPageCostsThePageAndNotTheHistory(t *testing.T) {
	const looked, history = 500, 8000
	store.SetLookThrough(t, looked, looked, 500)
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		it, other := record(t, s, "INV-MANY"), record(t, s, "INV-OTHER")
		list := make([]work.Attempt, history)
		for i := range list {
			at := c.Now().Add(time.Duration(i) * time.Second)
			list[i] = work.Attempt{ItemID: it.ID, Number: i + 1, Kind: work.Find, Node: "one", Revision: 1, Reference: "R", Key: "K", StartedAt: at, EndedAt: at.Add(time.Second),
				Finding: work.NotFound, HTTPStatus: 200, Response: strings.Repeat("b", 2000)}
		}
		list[0].HTTPStatus = 418
		must(t, store.PutAttempts(t.Context(), s, list))
		first, err := s.AttemptList(t.Context(), review.AttemptQuery{CompanyID: 1, Limit: 20})
		must(t, err)
		if len(first.Rows) != 20 || first.Rows[0].Number != history || first.Rows[0].BusinessKey != "INV-MANY" || first.Next.Number != history-19 {
			t.Fatalf("%d rows, %+v", len(first.Rows), first.Next)
		}
		rare := review.AttemptQuery{CompanyID: 1, Limit: 20, StatusFrom: 418, StatusTo: 418}
		page, err := s.AttemptList(t.Context(), rare)
		must(t, err)
		if len(page.Rows) != 0 || page.Further.Number != history-looked+1 {
			t.Fatalf("%d rows, looked to %+v", len(page.Rows), page.Further)
		}
		got, pages := walkAttempts(t, s, rare)
		if len(got) != 1 || pages != history/looked {
			t.Errorf("%v on %d pages", got, pages)
		}
		// By the key of the item that has them all, too.
		byKey, err := s.AttemptList(t.Context(), review.AttemptQuery{CompanyID: 1, Limit: 20, Key: " inv-many "})
		must(t, err)
		if len(byKey.Rows) != 20 || byKey.How != review.HowExact || byKey.Next.Number != history-19 {
			t.Errorf("by key: %d rows, %+v", len(byKey.Rows), byKey)
		}
		for _, key := range []string{"INV-MANY", "inv"} {
			rare.Key = key
			page, err := s.AttemptList(t.Context(), rare)
			must(t, err)
			if len(page.Rows) != 0 || page.Further.Number != history-looked && page.Further.Number != history-looked+1 || page.Further.At.IsZero() {
				t.Errorf("by key %s: %d rows, looked to %+v", key, len(page.Rows), page.Further)
			}
			if got, pages := walkAttempts(t, s, rare); len(got) != 1 || pages != history/looked {
				t.Errorf("by key %s: %v on %d pages", key, got, pages)
			}
		}
		none, err := s.AttemptList(t.Context(), review.AttemptQuery{CompanyID: 1, Limit: 20, Key: "INV-OTHER"})
		must(t, err)
		if len(none.Rows) != 0 || none.How != review.HowExact {
			t.Errorf("item %d has attempts: %+v", other.ID, none)
		}
		elsewhere, err := s.AttemptList(t.Context(), review.AttemptQuery{CompanyID: 2, Limit: 20})
		must(t, err)
		if len(elsewhere.Rows) != 0 {
			t.Error("another company's attempts are listed")
		}
	})
}

// What begins and what is removed while a list is read neither repeats a row nor loses one: a file is counted by its rows.
func TestAttemptsThatComeAndGoMoveNoPage(t *testing.T) {
	store.SetLookThrough(t, 10, 10, 500)
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		it := record(t, s, "INV-1")
		attempt := func(number int) work.Attempt {
			at := c.Now().Add(time.Duration(number) * time.Second)
			return work.Attempt{ItemID: it.ID, Number: number, Kind: work.Send, Node: pick(rand.New(rand.NewPCG(1, uint64(number))), []string{"one", "two"}), Revision: 1,
				Reference: "R", Key: "K", StartedAt: at, EndedAt: at.Add(time.Second), Outcome: work.Rejected}
		}
		var all []work.Attempt
		for number := 1; number <= 100; number++ {
			all = append(all, attempt(number))
		}
		must(t, store.PutAttempts(t.Context(), s, all))
		q, newest, seen, gone := review.AttemptQuery{CompanyID: 1, Limit: 4, Node: "two"}, 100, map[int]int{}, map[int]bool{}
		for {
			page, err := store.AttemptListWhile(t.Context(), s, q, func() {
				var begun []work.Attempt
				for range 7 {
					newest++
					begun = append(begun, attempt(newest))
				}
				must(t, store.PutAttempts(t.Context(), s, begun))
				number := 99 // one that this page looks through
				if q.After != (review.AttemptCursor{}) {
					number = q.After.Number - 2
				}
				if number > 0 {
					gone[number] = true
					must(t, store.DropAttempt(t.Context(), s, it.ID, number))
				}
			})
			must(t, err)
			for _, r := range page.Rows {
				seen[r.Number]++
			}
			if q.After = page.Next; q.After == (review.AttemptCursor{}) {
				q.After = page.Further
			}
			if q.After == (review.AttemptCursor{}) {
				break
			}
		}
		for _, a := range all {
			if want := a.Node == "two" && !gone[a.Number]; (seen[a.Number] == 1) != want && !gone[a.Number] || seen[a.Number] > 1 {
				t.Errorf("attempt %d was seen %d times", a.Number, seen[a.Number])
			}
		}
		if len(gone) < 8 || len(seen) < 30 {
			t.Errorf("%d rows, %d removed: it says little", len(seen), len(gone))
		}
	})
}

// Two items of one key, as the steps of a document are: each attempt once, the newest item first.
func TestAttemptsOfAKeyWithSeveralItems(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		shop := books()
		shop.ID = "shop"
		must(t, s.DeclareSystem(t.Context(), shop))
		first := record(t, s, "INV-1")
		second := record(t, s, "INV-1", func(n *work.New) { n.Automation, n.SystemID = "renewals", "shop" })
		var want []string
		var list []work.Attempt
		for _, it := range []work.Item{second, first} {
			for number := 30; number >= 1; number-- {
				at := c.Now().Add(time.Duration(number) * time.Second)
				a := work.Attempt{ItemID: it.ID, Number: number, Kind: work.Find, Node: "one", Revision: 1, Reference: "R", Key: "K", StartedAt: at, EndedAt: at, Finding: work.NotFound}
				if number%10 == 3 {
					continue // removed as too old
				}
				list = append(list, a)
				want = append(want, fmt.Sprintf("%d/%d", a.ItemID, a.Number))
			}
		}
		must(t, store.PutAttempts(t.Context(), s, list))
		for _, through := range []int{1, 2, 7, 30, 59, 60, 61, 1000} {
			store.SetLookThrough(t, through, through, 500)
			if got, _ := walkAttempts(t, s, review.AttemptQuery{CompanyID: 1, Limit: 5, Key: "inv-1"}); !slices.Equal(got, want) {
				t.Errorf("looking through %d: %v", through, got)
			}
		}
	})
}
