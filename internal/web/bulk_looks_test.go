package web

import (
	"fmt"
	"strings"
	"testing"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

func TestBulkPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "bulk-runs-empty", s.URL+"/bulk")
	shoot(t, ctx, "bulk-new-empty", s.URL+"/bulk/new")

	keys := make([]string, 400)
	for i := range keys {
		keys[i] = fmt.Sprintf("INV-2026-11-%05d", i)
	}
	ids := w.Put("Acme Holdings Ltd", rt.Money(t, "1200.00", "EUR"), keys...)
	ids = append(ids, w.Put(strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", 2), rt.Money(t, "99999999.39", "EUR"), "INV-"+strings.Repeat("W", 190))...)
	ids = append(ids, w.Put("مؤسسة الخليج للتجارة", rt.Money(t, "7.39", "EUR"), "INV-2026-11-مؤسسة", "INV-2026-11-株式会社")...)
	for _, id := range ids[:6] {
		w.Send(id, rt.Refused)
	}
	for _, id := range ids[6:9] {
		w.Happen(id, work.Hold{By: rt.Recorder, Note: "wait"})
	}
	shoot(t, ctx, "bulk-new-all", s.URL+"/bulk/new?all=1&list=%2F%3Ftab%3Dall")
	shoot(t, ctx, "bulk-new-ticked", s.URL+ticked(ids[5:9]...))
	b := review.NewBulk(w.Store, 1)
	begin := func(plan review.Plan, in review.Input, ids ...int64) review.BulkRun {
		t.Helper()
		p, err := b.Preview(t.Context(), rt.Recorder, review.BulkSet{IDs: ids})
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := b.Start(t.Context(), rt.Recorder, review.NewBulkRun{Form: fmt.Sprint(plan), Plan: plan, Input: in, Items: p.Items, Seen: p.Seen, Previewed: p.Size, List: "/?tab=all"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ready := begin(review.PlanRepair, review.Input{}, ids...)
	shoot(t, ctx, "bulk-run-begun", s.URL+bulkAddress(ready.ID))
	runner := review.BulkRunner{Store: w.Store, Node: "one"}
	if _, err := runner.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, id := range append(ids[:2:2], ids[6:60]...) { // what the accounting system says
		l := rt.NotThere
		switch i % 5 {
		case 0, 1:
			l = rt.FoundAs(i)
		case 2:
			l = rt.FoundOther(i)
		}
		if w.Get(id).LookAsked != "" {
			w.Find(id, l)
		}
	}
	w.Happen(ids[70], work.Assign{By: rt.Recorder, To: "Rita Record"})
	if _, err := runner.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, "bulk-run-half", s.URL+bulkAddress(ready.ID))
	begin(review.PlanHold, review.Input{Note: strings.Repeat("A long note about what is wrong. ", 20)}, ids[380:]...)
	runBulks(t, w)
	shoot(t, ctx, "bulk-run-held", s.URL+"/bulk/2")
	if err := b.Stop(t.Context(), rt.Recorder, ready.ID); err != nil {
		t.Fatal(err)
	}
	runBulks(t, w)
	shoot(t, ctx, "bulk-run-stopped", s.URL+bulkAddress(ready.ID)+"?show=done")
	half := review.Freezing{Items: []review.Seen{{ID: ids[9]}}, Seen: w.Clock()}
	preparing, _, err := w.AddBulk(t.Context(), review.BulkRun{CompanyID: 1, Form: "half", Plan: review.PlanRepair, List: "/?tab=all", By: rt.Recorder, Previewed: 93_000, BeganAt: w.Clock(), Freezing: &half})
	if err == nil {
		_, err = w.FillBulk(t.Context(), preparing, frozenRows(ids), &half)
	}
	if err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, "bulk-run-preparing", s.URL+bulkAddress(preparing.ID))
	shoot(t, ctx, "bulk-runs", s.URL+"/bulk")
	if err := w.EndBulk(t.Context(), preparing.ID, review.BulkAbandoned); err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, "bulk-run-abandoned", s.URL+bulkAddress(preparing.ID))
}

func frozenRows(ids []int64) []review.BulkItem {
	rows := make([]review.BulkItem, len(ids))
	for i, id := range ids {
		rows[i] = review.BulkItem{ItemID: id, Version: 1}
	}
	return rows
}
