package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

// The list, its pages, its count, its groups and its export are exactly what a naive filter over all items gives, whichever
// of the two ways to the rows is taken.
func TestTheListIsWhatItsFilterSays(t *testing.T) {
	for name, few := range map[string]int64{"from few ids": 8000, "by a walk": 0} {
		t.Run(name, func(t *testing.T) {
			store.SetFewIDs(t, few)
			eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
				rnd := rand.New(rand.NewPCG(17, uint64(few)))
				all := randomItems(t, s, c, rnd, 160)
				service := review.New(s, 1)
				hits := 0
				for n := range 250 {
					q := review.Query{CompanyID: 1, Tab: pick(rnd, allTabs), Limit: 1 + rnd.IntN(9), Filter: randomFilter(rnd, all, n)}
					want := naive(all, q, c.Now())
					hits += len(want)
					got := walk(t, s, q, len(want)/q.Limit+2)
					if !slices.Equal(got, ids(want)) {
						t.Fatalf("%+v\nlists %v\nwant  %v", q, got, ids(want))
					}
					count, err := s.Count(t.Context(), q, 1000)
					must(t, err)
					some, err := s.Count(t.Context(), q, 3)
					must(t, err)
					if count != int64(len(want)) || some != min(count, 3) {
						t.Fatalf("%+v counts %d, and %d of at most 3; want %d", q, count, some, len(want))
					}
					groups, err := s.Groups(t.Context(), q, 1000)
					must(t, err)
					if got, want := fmt.Sprint(groups), fmt.Sprint(naiveGroups(want)); got != want {
						t.Fatalf("%+v groups\n%s\nwant\n%s", q, got, want)
					}
					rows, err := service.Export(t.Context(), viewer, q)
					must(t, err)
					var exported []int64
					for it, err := range rows {
						must(t, err)
						exported = append(exported, it.ID)
					}
					if !slices.Equal(exported, ids(want)) {
						t.Fatalf("%+v\nexports %v\nwant    %v", q, exported, ids(want))
					}
				}
				if hits < 1200 {
					t.Errorf("the filters hit %d rows: they say little", hits)
				}
				counts, err := s.Counts(t.Context(), 1)
				must(t, err)
				for _, tab := range allTabs {
					if want := int64(len(naive(all, review.Query{Tab: tab}, c.Now()))); counts[tab] != want {
						t.Errorf("%s is counted %d, want %d", tab, counts[tab], want)
					}
				}
			})
		})
	}
}

var (
	viewer  = work.Actor{Kind: work.Person, ID: "v", Name: "Vera", Roles: []work.Role{work.Viewer}}
	allTabs = []review.Tab{review.TabReview, review.TabUnknown, review.TabWaiting, review.TabFinished, review.TabClosed, review.TabAll}
)

func pick[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

func ids(items []work.Item) []int64 {
	list := make([]int64, 0, len(items))
	for _, it := range items {
		list = append(list, it.ID)
	}
	return list
}

// walk reads all pages of a list.
func walk(t *testing.T, s *store.Store, q review.Query, most int) []int64 {
	t.Helper()
	list := []int64{}
	for range most {
		page, err := s.Search(t.Context(), q)
		must(t, err)
		list = append(list, ids(page.Items)...)
		if q.After = page.Next; q.After == (review.Cursor{}) {
			return list
		}
	}
	t.Fatalf("%+v: the pages do not end", q)
	return nil
}

var (
	someSystems     = []string{"books", "books-b", "books-c"}
	someAutomations = []string{"invoices", "renewals", "Éducation"}
	somePeriods     = []string{"2026-09", "2026-10", "2026-11"}
	someErrors      = []string{"", "the system answered # twice", `customer "…" is blocked`, "50% off_"}
	someAmounts     = []string{"1.00 EUR", "100.50 EUR", "1234.50 EUR", "1234.00 USD", "129 JPY", "1.234 KWD", "99999999999999.99 EUR", "100.50 USD", "0.01 EUR"}
	somePeople      = []string{"", "", "Ada", "Bob O'Hara"}
)

// randomItems records documents of one and of two steps and puts each step into a random state.
func randomItems(t *testing.T, s *store.Store, c *clock, rnd *rand.Rand, documents int) []work.Item {
	t.Helper()
	for _, id := range someSystems[1:] {
		sys := books()
		sys.ID = id
		must(t, s.DeclareSystem(t.Context(), sys))
	}
	for i := range documents {
		record(t, s, fmt.Sprintf("R-%04d", i), func(n *work.New) {
			n.Automation, n.Source, n.Period = pick(rnd, someAutomations), pick(rnd, []string{"api", "import:7", "import:8"}), pick(rnd, somePeriods)
			number, code, _ := strings.Cut(pick(rnd, someAmounts), " ")
			total, err := currency.NewAmount(number, code)
			must(t, err)
			n.Invoice.Total, n.Invoice.Lines = total, nil
			if n.Automation == "invoices" {
				n.Steps = []string{"create", "post"}
			} else {
				n.SystemID = pick(rnd, someSystems)
			}
		})
	}
	closeAll(t, s, claim(t, s, documents/4)) // their next steps are recorded
	var all []work.Item
	for id := int64(1); ; id++ {
		it, err := s.Item(t.Context(), 1, id)
		if err != nil {
			break
		}
		all = append(all, it)
	}
	if len(all) <= documents {
		t.Fatalf("%d items of %d documents: none has a second step", len(all), documents)
	}
	for at := 0; at < len(all); at += 50 {
		part := all[at:min(at+50, len(all))]
		_, err := s.Change(t.Context(), work.Pick{IDs: ids(part)}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
			moves := make([]work.Move, len(picked))
			for i, p := range picked {
				moves[i] = work.Move{Seen: p.Item.Version, Item: randomState(p.Item, rnd, now)}
			}
			return moves, nil
		})
		must(t, err)
	}
	for i := range all {
		all[i] = read(t, s, all[i].ID)
	}
	return all
}

func randomState(it work.Item, rnd *rand.Rand, now time.Time) work.Item {
	it.Version++
	it.Status, it.Reason, it.DueAt, it.SettleBy = pick(rnd, work.Statuses), "", time.Time{}, time.Time{}
	it.Attempts, it.Sends, it.SendsUsed, it.Unsettled = 3, 1, 1, nil
	it.OpenAttempt, it.OpenKind, it.LeaseUntil = 0, "", time.Time{}
	it.ErrorKind, it.AssignedTo = pick(rnd, someErrors), pick(rnd, somePeople)
	it.ChangedAt = now.Add(-time.Duration(rnd.IntN(40)) * time.Hour) // many at the same time
	if rnd.IntN(2) == 0 {
		it.SettleBy = now.Add(time.Duration(rnd.IntN(9)-4) * time.Hour)
	}
	switch it.Status {
	case work.Queued, work.Pending, work.Failed:
		it.DueAt = now
	case work.InProgress:
		it.OpenAttempt, it.OpenKind, it.LeaseUntil = 3, pick(rnd, []work.Kind{work.Send, work.Find}), now.Add(time.Hour)
	case work.Confirmed, work.Resolved:
		it.ExternalID, it.Evidence = fmt.Sprintf("x-%d", it.ID), "answer"
	case work.Review, work.Closed:
	}
	if it.Status == work.Review || it.Status.Settled() && rnd.IntN(3) == 0 {
		it.Reason = pick(rnd, work.Reasons[:4])
	}
	return it
}

// randomFilter sets each field alone first, then some together.
func randomFilter(rnd *rand.Rand, all []work.Item, n int) (f review.Filter) {
	const fields = 14
	now := all[0].RecordedAt
	set := func(field int) {
		switch it := pick(rnd, all); field {
		case 0:
			f.Status = it.Status
		case 1:
			f.Reason = pick(rnd, work.Reasons[:5])
		case 2:
			f.SystemID = it.SystemID
		case 3:
			f.Automation = pick(rnd, append(someAutomations, "nothing of the kind"))
		case 4:
			f.Assigned = pick(rnd, append(somePeople[2:], review.AssignedNobody, "Nobody's name"))
		case 5:
			f.Source = it.Source
		case 6:
			f.Period = pick(rnd, append(somePeriods, "2020-01"))
		case 7:
			f.ErrorKind = pick(rnd, append(someErrors[:len(someErrors):len(someErrors)], review.NoErrorKind))
		case 8:
			f.Overdue = true
		case 9:
			f.ChangedBefore = now.Add(-time.Duration(rnd.IntN(40)) * time.Hour)
		case 10:
			f.Least = pick(rnd, []string{"1", "100.50", "100.500", "100.505", "1234.0001", "99999999999999.99", "999999999999999999999"})
		case 11:
			f.Most = pick(rnd, []string{"1.0", "100.50", "1233.99999", "0", "-5", "999999999999999999999"})
		case 12:
			f.Currency = pick(rnd, []string{"EUR", "usd", "KWD", "XXX"})
		}
	}
	if n < 10*fields {
		set(n % fields)
		return f
	}
	for range 2 + rnd.IntN(3) {
		set(rnd.IntN(fields))
	}
	return f
}

// naive is the list as its definition says, from all items.
func naive(all []work.Item, q review.Query, now time.Time) []work.Item {
	chains := map[string][]work.Item{}
	for _, it := range all { // in the order of the steps
		key := it.Automation + "\n" + work.FoldKey(it.BusinessKey)
		chains[key] = append(chains[key], it)
	}
	var list []work.Item
	for _, chain := range chains {
		row := chain[len(chain)-1]
		if i := slices.IndexFunc(chain, func(it work.Item) bool { return !it.Status.Done() }); i >= 0 {
			row = chain[i]
		}
		if onTab(row, q.Tab) && meets(row, q.Filter, now) {
			list = append(list, row)
		}
	}
	slices.SortFunc(list, func(a, b work.Item) int {
		if c := b.ChangedAt.Compare(a.ChangedAt); c != 0 {
			return c
		}
		return int(b.ID - a.ID)
	})
	return list
}

func onTab(it work.Item, tab review.Tab) bool {
	switch tab {
	case review.TabReview:
		return it.Status == work.Review
	case review.TabUnknown:
		return it.Status == work.Pending || it.Status == work.InProgress && it.OpenKind == work.Find
	case review.TabWaiting:
		return it.Status == work.Queued || it.Status == work.Failed || it.Status == work.InProgress && it.OpenKind == work.Send
	case review.TabFinished:
		return it.Status.Done()
	case review.TabClosed:
		return it.Status == work.Closed
	case review.TabAll:
	}
	return true
}

func meets(it work.Item, f review.Filter, now time.Time) bool {
	compared := func(decimal string) int {
		end, err := currency.NewAmount(decimal, it.Invoice.Total.CurrencyCode())
		if err != nil {
			panic(err)
		}
		c, _ := it.Invoice.Total.Cmp(end)
		return c
	}
	return (f.Status == "" || it.Status == f.Status) && (f.Reason == "" || it.Reason == f.Reason) && (f.SystemID == "" || it.SystemID == f.SystemID) &&
		(f.Automation == "" || it.Automation == f.Automation) && (f.Source == "" || it.Source == f.Source) && (f.Period == "" || it.Period == f.Period) &&
		(f.ErrorKind == "" || it.ErrorKind == f.ErrorKind || f.ErrorKind == review.NoErrorKind && it.ErrorKind == "") && (!f.Overdue || it.Overdue(now)) &&
		(f.Assigned == "" || it.AssignedTo == f.Assigned || f.Assigned == review.AssignedNobody && it.AssignedTo == "") &&
		(f.ChangedBefore.IsZero() || it.ChangedAt.Before(f.ChangedBefore)) && (f.Currency == "" || it.Invoice.Total.CurrencyCode() == strings.ToUpper(f.Currency)) &&
		(f.Least == "" || compared(f.Least) >= 0) && (f.Most == "" || compared(f.Most) <= 0)
}

func naiveGroups(rows []work.Item) []review.Group {
	var groups []review.Group
	for _, it := range rows {
		i := slices.IndexFunc(groups, func(g review.Group) bool {
			return g.SystemID == it.SystemID && g.Reason == it.Reason && g.ErrorKind == it.ErrorKind
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, review.Group{SystemID: it.SystemID, Reason: it.Reason, ErrorKind: it.ErrorKind, Oldest: it.ChangedAt, Newest: it.ChangedAt})
		}
		g := &groups[i]
		g.Count++
		if it.ChangedAt.Before(g.Oldest) {
			g.Oldest = it.ChangedAt
		}
	}
	slices.SortFunc(groups, func(a, b review.Group) int {
		if a.Count != b.Count {
			return int(b.Count - a.Count)
		}
		return strings.Compare(a.SystemID+"\x00"+string(a.Reason)+"\x00"+a.ErrorKind, b.SystemID+"\x00"+string(b.Reason)+"\x00"+b.ErrorKind)
	})
	return groups
}
