package web

import (
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// newWorld is a fresh SQLite database with one accounting system, Books.
func newWorld(t testing.TB, set ...func(*work.System)) *rt.World {
	t.Helper()
	return rt.New(t, storetest.SQLite(t), set...)
}

var ada = work.Actor{Kind: work.Person, ID: "ada", Name: "Ada Brown", Roles: []work.Role{work.Operator}}

// stories puts one item of every kind into the world and returns their ids by name.
func stories(t testing.TB, w *rt.World) map[string]int64 {
	t.Helper()
	ids := map[string]int64{}
	add := func(name, key, customer, number, code string, what func(id int64)) {
		id := w.Put(customer, rt.Money(t, number, code), key)[0]
		ids[name] = id
		if what != nil {
			what(id)
		}
	}
	add("confirmed", "INV-2026-11-ACME", "Acme Holdings Ltd", "1200.00", "EUR", func(id int64) { w.Send(id, rt.AcceptedAs(41)) })
	add("found", "INV-2026-11-GLOBEX", "Globex Corporation", "98250.50", "USD", func(id int64) {
		w.Send(id, rt.NoAnswer)
		w.Find(id, rt.FoundAs(42))
	})
	add("rejected", "INV-2026-11-INITECH", "Initech GmbH & Co. KG", "480.00", "EUR", func(id int64) {
		w.Until(id, func() { w.Send(id, rt.Refused) })
	})
	add("mismatch", "INV-2026-11-UMBRELLA", "Umbrella Sociedad Anónima", "15.99", "EUR", func(id int64) {
		w.Send(id, rt.NoAnswer)
		w.Find(id, rt.FoundOther(43))
	})
	add("could-not-check", "INV-2026-11-HOOLI", "Hooli 株式会社", "5000", "JPY", func(id int64) {
		w.Send(id, rt.NoAnswer)
		w.Until(id, func() { w.Find(id, rt.CannotTell) })
	})
	add("resolved", "INV-2026-11-WAYNE", "Wayne Enterprises", "77700.00", "EUR", func(id int64) {
		w.Happen(id, work.Hold{By: ada, Note: "Keyed in by hand yesterday"})
		w.Happen(id, work.Resolve{By: ada, Reference: "INV/2026/00017", Note: "I keyed it in by hand on the 28th."})
	})
	add("closed", "INV-2026-11-TYRELL", "Tyrell Corp", "1.00", "EUR", func(id int64) {
		w.Happen(id, work.Hold{By: ada, Note: "Contract ended"})
		w.Happen(id, work.Close{By: ada, Note: "The contract ended in October."})
	})
	limitFrom(t, w, "100000")
	add("approval", "INV-2026-11-STARK", "Stark Industries", "250000.00", "EUR", nil)
	w.Later(20 * time.Minute)
	add("failed", "INV-2026-11-SOYLENT", "Soylent Foods", "310.00", "EUR", func(id int64) { w.Send(id, rt.Refused) })
	add("sending", "INV-2026-11-VANDELAY", "Vandelay Industries", "64.20", "EUR", func(id int64) { w.Claim(id) })
	add("checking", "INV-2026-11-DUNDER", "Dunder Mifflin", "89.00", "EUR", func(id int64) { w.Send(id, rt.NoAnswer); w.Claim(id) })
	add("unknown", "INV-2026-11-PIEDPIPER", "Pied Piper Inc.", "2400.00", "EUR", func(id int64) {
		w.Send(id, rt.NoAnswer)
		w.Find(id, rt.NotThere)
	})
	add("queued", "INV-2026-11-CYBERDYNE", "Cyberdyne Systems", "990.00", "EUR", nil)
	return ids
}

// limitFrom lets amounts above the limit, in euros, wait for approval from now on.
func limitFrom(t testing.TB, w *rt.World, number string) {
	t.Helper()
	limit := rt.Money(t, number, "EUR")
	err := w.SetLimits(t.Context(), rt.SystemID, rt.Recorder, "", "", func(sys work.System) (work.System, error) {
		sys.Policy.ApprovalLimit = &limit
		return sys, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func reviewQuery(key string) review.Query {
	return review.Query{CompanyID: 1, Text: key, Tab: review.TabAll, Limit: 10}
}
