package review_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// inMonth records an invoice of an automation in a month.
func inMonth(w *rt.World, automationName, month, key, number, code string) int64 {
	w.T.Helper()
	n := work.New{Automation: automationName, BusinessKey: key, SystemID: rt.SystemID, Source: "api", Period: month, By: rt.Recorder,
		Invoice: rt.Invoice("Acme", rt.Money(w.T, number, code))}
	got, err := w.Proven().Record(w.T.Context(), []work.New{n})
	if err != nil || got[0].Result != automation.IntakeNew {
		w.T.Fatalf("%s: %+v %v", key, got, err)
	}
	return got[0].Item.ID
}

func eachMonth(t *testing.T, test func(t *testing.T, w *rt.World, p *review.Periods), set ...func(*work.System)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db, set...)
		test(t, w, review.NewPeriods(w.Store, 1))
	})
}

func month(t *testing.T, p *review.Periods, period string) review.Month {
	t.Helper()
	m, err := p.Month(t.Context(), viewer, period)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func wantSum(t *testing.T, what string, s review.Sum, n int64, amounts ...string) {
	t.Helper()
	got := map[string]string{}
	for code, a := range s.Amounts {
		got[code] = a.Round().Number()
	}
	want := map[string]string{}
	for i := 0; i < len(amounts); i += 2 {
		want[amounts[i]] = amounts[i+1]
	}
	if s.Count != n || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %d %v, want %d %v", what, s.Count, got, n, want)
	}
}

// everyState puts documents of every state into November, and others into the months beside it.
func everyState(w *rt.World) {
	add := func(key, number, code string) int64 { return inMonth(w, "monthly", "2026-11", key, number, code) }
	w.Send(add("CONFIRMED", "100.10", "EUR"), rt.AcceptedAs(1))
	id := add("FOUND", "5000", "JPY")
	w.Send(id, rt.NoAnswer)
	w.Find(id, rt.FoundAs(2))
	id = add("RESOLVED", "20.20", "EUR")
	w.Happen(id, work.Hold{By: ben, Note: "keyed in by hand"})
	w.Happen(id, work.Resolve{By: ada, Reference: "INV/9", Note: "I keyed it in."})
	id = add("CLOSED", "1.000", "KWD")
	w.Happen(id, work.Hold{By: ben, Note: "the contract ended"})
	w.Happen(id, work.Close{By: ben, Note: "The contract ended."})
	id = add("DIFFERS", "15.99", "EUR")
	w.Send(id, rt.NoAnswer)
	w.Find(id, rt.FoundOther(3))
	id = add("TWICE", "16.00", "EUR")
	w.Send(id, rt.NoAnswer)
	w.Find(id, work.Lookup{Finding: work.FoundSeveral, Record: rt.Record(4), Count: 2})
	id = add("REFUSED", "2.00", "EUR")
	w.Until(id, func() { w.Send(id, rt.Refused) })
	w.Send(add("UNKNOWN", "3.00", "EUR"), rt.NoAnswer)
	id = add("CHECKING", "4.00", "EUR")
	w.Send(id, rt.NoAnswer)
	w.Claim(id)
	w.Send(add("FAILED", "5.00", "EUR"), rt.Refused)
	w.Claim(add("SENDING", "6.00", "EUR"))
	inMonth(w, "orders", "2026-11", "QUEUED", "7.00", "EUR")
	inMonth(w, "monthly", "2026-10", "BEFORE", "1000", "EUR")
	inMonth(w, "monthly", "2026-12", "AFTER", "1000", "EUR")
}

func TestMonthAddsUpEveryState(t *testing.T) {
	eachMonth(t, func(t *testing.T, w *rt.World, p *review.Periods) {
		everyState(w)
		m := month(t, p, "2026-11")
		if len(m.Lines) != 2 || m.Lines[0].Automation != "monthly" || m.Lines[1].Automation != "orders" || m.Complete() {
			t.Fatalf("lines %+v", m.Lines)
		}
		l := m.Lines[0]
		wantSum(t, "expected", l.Expected, 11, "EUR", "172.29", "JPY", "5000", "KWD", "1.000")
		wantSum(t, "confirmed", *l.Tabs[review.TabFinished], 3, "EUR", "120.30", "JPY", "5000")
		wantSum(t, "needs a person", *l.Tabs[review.TabReview], 3, "EUR", "33.99")
		wantSum(t, "unknown", *l.Tabs[review.TabUnknown], 2, "EUR", "7.00")
		wantSum(t, "waiting", *l.Tabs[review.TabWaiting], 2, "EUR", "11.00")
		wantSum(t, "closed", *l.Tabs[review.TabClosed], 1, "KWD", "1.000")
		wantSum(t, "differs", *l.Differing[work.ReasonMismatch], 1, "EUR", "15.99")
		wantSum(t, "twice", *l.Differing[work.ReasonDuplicates], 1, "EUR", "16.00")
		wantSum(t, "all expected", m.All.Expected, 12, "EUR", "179.29", "JPY", "5000", "KWD", "1.000")
		wantSum(t, "different", l.Different, 2, "EUR", "31.99")
		if m.All.Open() != 8 || l.Settled() != 4 {
			t.Errorf("%d open, %d settled", m.All.Open(), l.Settled())
		}
		months, err := p.List(t.Context(), viewer)
		if err != nil || fmt.Sprint(months) != "[2026-12 2026-11 2026-10]" {
			t.Errorf("months %v %v", months, err)
		}
		if other := review.NewPeriods(w.Store, 2); len(month(t, other, "2026-11").Lines) != 0 {
			t.Error("another company sees the month")
		}
	})
}

// 63. Huge sums lost their cents
func TestTrial63_MonthsAreExact(t *testing.T) {
	eachMonth(t, func(t *testing.T, w *rt.World, p *review.Periods) {
		keys := func(name string, n int) []string {
			list := make([]string, n)
			for i := range list {
				list[i] = fmt.Sprintf("%s-%04d", name, i)
			}
			return list
		}
		w.Put("Dimes", rt.Money(t, "0.10", "EUR"), keys("DIME", 1000)...)
		wantSum(t, "a thousand dimes", month(t, p, "2026-11").All.Expected, 1000, "EUR", "100.00")
		w.Put("Huge", rt.Money(t, "99999747361065.39", "EUR"), "HUGE")
		wantSum(t, "and a huge one", month(t, p, "2026-11").All.Expected, 1001, "EUR", "99999747361165.39")
		w.Put("Largest", rt.Money(t, work.MaxTotal, "USD"), keys("MAX", 1000)...)
		w.Put("Fils", rt.Money(t, "0.001", "KWD"), keys("FILS", 999)...)
		w.Put("Yen", rt.Money(t, "1", "JPY"), keys("YEN", 3)...)
		wantSum(t, "and the largest there are", month(t, p, "2026-11").All.Expected, 3003, "EUR", "99999747361165.39", "USD", "99999999999999990.00", "KWD", "0.999", "JPY", "3")
	})
}

// 22. A document of two steps is one document: neither counted twice nor called confirmed before its last step is.
func TestMonthCountsDocumentsNotSteps(t *testing.T) {
	twoSteps := func(s *work.System) { s.Steps = []string{"create", "post"} }
	eachMonth(t, func(t *testing.T, w *rt.World, p *review.Periods) {
		w.Send(inMonth(w, "monthly", "2026-10", "HALF", "10.00", "EUR"), rt.AcceptedAs(1))
		done := inMonth(w, "monthly", "2026-10", "DONE", "20.00", "EUR")
		w.Send(done, rt.AcceptedAs(2))
		chain, err := w.Chain(t.Context(), w.Get(done))
		if err != nil || len(chain) != 2 {
			t.Fatal(chain, err)
		}
		w.Send(chain[1].ID, rt.AcceptedAs(2))
		m := month(t, p, "2026-10")
		wantSum(t, "expected", m.All.Expected, 2, "EUR", "30.00")
		wantSum(t, "confirmed", *m.All.Tabs[review.TabFinished], 1, "EUR", "20.00")
		wantSum(t, "waiting", *m.All.Tabs[review.TabWaiting], 1, "EUR", "10.00")
		if got := documents(t, p, "2026-10", nil); len(got) != 2 || got["DONE"].Item.Step != "post" || got["HALF"].Item.Step != "post" {
			t.Errorf("documents %+v", got)
		}
	}, twoSteps)
}

// documents reads the month's documents by key; each must come once.
func documents(t *testing.T, p *review.Periods, period string, meanwhile func(n int)) map[string]review.Document {
	t.Helper()
	rows, err := p.Documents(t.Context(), viewer, period)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]review.Document{}
	for d, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := got[d.Item.BusinessKey]; twice {
			t.Errorf("%s comes twice", d.Item.BusinessKey)
		}
		got[d.Item.BusinessKey] = d
		if meanwhile != nil {
			meanwhile(len(got))
		}
	}
	return got
}

func TestMonthsDocumentsSayHowAndWhenTheyWereSettled(t *testing.T) {
	eachMonth(t, func(t *testing.T, w *rt.World, p *review.Periods) {
		everyState(w)
		w.Later(time.Hour)
		before := w.Clock()
		got := documents(t, p, "2026-11", nil)
		w.Happen(got["RESOLVED"].Item.ID, work.Assign{By: ben, To: "Ben Stone"}) // a change, but it settles nothing
		got = documents(t, p, "2026-11", nil)
		if len(got) != 12 {
			t.Fatalf("%d documents", len(got))
		}
		for key, d := range got {
			if settled := d.Item.Status.Settled(); settled == d.SettledAt.IsZero() || d.SettledAt.After(before) {
				t.Errorf("%s is %s: settled at %s", key, d.Item.Status, d.SettledAt)
			}
			if byPerson := key == "RESOLVED" || key == "CLOSED"; byPerson != (d.SettledBy.Name != "") || byPerson != (d.Note != "") {
				t.Errorf("%s is %s: by %q, note %q", key, d.Item.Status, d.SettledBy.Name, d.Note)
			}
		}
		if d := got["RESOLVED"]; !d.SettledBy.Same(ada) || d.Note != "I keyed it in." {
			t.Errorf("resolved by %+v: %s", d.SettledBy, d.Note)
		}
	})
}

// What moves while the file is made is neither missing nor there twice.
func TestMonthsDocumentsComeOnceThoughTheyMove(t *testing.T) {
	twoSteps := func(s *work.System) { s.Steps = []string{"create", "post"} }
	eachMonth(t, func(t *testing.T, w *rt.World, p *review.Periods) {
		var ids []int64
		for i := range 3 {
			ids = append(ids, inMonth(w, []string{"a", "b", "a"}[i], "2026-11", fmt.Sprintf("FIRST-%d", i), "1.00", "EUR"))
		}
		keys := make([]string, 1100)
		for i := range keys {
			keys[i] = fmt.Sprintf("INV-%04d", i)
		}
		many := w.Put("Acme", rt.Money(t, "1.00", "EUR"), keys...)
		got := documents(t, p, "2026-11", func(n int) {
			switch n {
			case 1, 501, 1001: // the next step of one that was read, and of one that was not
				w.Send(ids[n/500], rt.AcceptedAs(n))
				w.Send(many[1099-n/500], rt.AcceptedAs(n+1))
			}
		})
		if len(got) != 1103 {
			t.Errorf("%d of 1103 documents", len(got))
		}
	}, twoSteps)
}

func TestMonthsAreForReadersOnly(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	p := review.NewPeriods(w.Store, 1)
	nobody := actor(work.Person, "x", "X")
	_, err1 := p.Month(t.Context(), nobody, "2026-11")
	_, err2 := p.List(t.Context(), nobody)
	_, err3 := p.Documents(t.Context(), nobody, "2026-11")
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, review.ErrForbidden) {
			t.Errorf("let in: %v", err)
		}
	}
	for _, bad := range []string{"2026-13", "now", "", "2026-11'"} {
		if _, err := p.Month(t.Context(), viewer, bad); !errors.Is(err, review.ErrNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if m := month(t, p, "2026-11"); m.Complete() {
		t.Error("a month without anything is called complete")
	}
}
