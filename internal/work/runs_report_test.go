package work_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

// report is an export that a person made of the outside and keeps in a folder.
type report struct {
	at   time.Time
	rows []record
	all  bool // it was made without a filter
}

// exportReport lets a person make a report, of everything or with a filter. People say truly whether they set a filter;
// what is confirmed is looked for in it all the same.
func (w *world) exportReport(t *rapid.T) {
	r := &report{at: w.now, all: rapid.IntRange(0, 2).Draw(t, "filtered") > 0}
	for _, rec := range w.out.records {
		if !rec.visible.After(w.now) && (r.all || rapid.Bool().Draw(t, "left in")) {
			r.rows = append(r.rows, *rec)
		}
	}
	w.reports = append(w.reports, r)
	t.Logf("  a report with %d of %d records", len(r.rows), len(w.out.records))
}

// isWhole is the recognition of filtered reports: what was confirmed when it was made must be in it.
func (w *world) isWhole(r *report) bool {
	for _, it := range w.db.state.items {
		there := slices.ContainsFunc(r.rows, func(rec record) bool { return rec.step == it.Step && rec.ref == it.Reference })
		if it.Status == work.Confirmed && !it.ChangedAt.After(r.at) && !there {
			return false
		}
	}
	return r.all
}

// applyReport applies a report, perhaps an old one, to an item.
func (w *world) applyReport(t *rapid.T) {
	r := pick(t, w.reports)
	id := int64(rapid.IntRange(1, len(w.db.state.items)).Draw(t, "item"))
	it := w.db.item(id)
	past := outside{caps: w.out.caps}
	for i := range r.rows {
		past.records = append(past.records, &r.rows[i])
	}
	m, ok := w.decide(t, id, work.Reported{By: anna, Report: "report:1", Exported: r.at, Whole: w.isWhole(r), Lookup: past.search(it, r.at)})
	t.Logf("  report of %s on item %d (%s): %t", r.at.Format("15:04:05"), id, it.Status, ok)
	if !ok {
		return
	}
	finding := m.Attempt.Finding
	switch {
	case m.Op != work.LateAttempt || m.Attempt.Kind != work.Find || m.Attempt.AskedBy == "" || m.Act == nil || m.Act.What != "report":
		t.Fatalf("a report left no row: %+v", m)
	case finding == work.NotFound && !r.all:
		t.Fatalf("a filtered report counted as a miss of item %d", id)
	case finding == work.NotFound && m.Item.Status == work.Failed && it.Status != work.Failed && it.Positive != work.NoEvidence && it.AbsentAt.IsZero():
		t.Fatalf("a report took item %d for absent though %s", id, it.Positive)
	}
	w.seen.report(it, m)
}

// report notes what reports did.
func (c *coverage) report(before work.Item, m work.Move) {
	switch {
	case m.Item.Status == work.Confirmed && m.Item.Evidence == "report":
		c.byReport++
	case before.AbsentAt.IsZero() && m.Attempt.Finding == work.NotFound && !m.Item.AbsentAt.IsZero():
		c.absentByReport++
	}
}
