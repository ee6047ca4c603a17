package web

import (
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

func TestPagesAboutPlansLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newPlanWorld(t, time.UTC)
	run(t, ctx, signInOn(w.URL, "admin"))
	shoot(t, ctx, "plans-empty", w.URL+"/plans")
	shoot(t, ctx, "plan-new", w.URL+"/plans/new")
	shoot(t, ctx, "plans-month-empty", w.URL+"/plans/month")

	run(t, ctx, chromedp.Navigate(w.URL+"/plans/new"), fill("form[data-plan]", "code", "PLAN-042", "customer", "C-1001", "name", "Acme Holdings Ltd", "currency", "EUR", "day", "31", "description", "Rent {period}", "price", "1200.00"),
		chromedp.Click(chromedp.CSS(".plan-do .main")), chromedp.WaitVisible(chromedp.CSS(".runs")))
	wait := typedRent("PLAN-900")
	wait.Set("customer", "C-2002")
	wait.Set("name", "Globex Corporation")
	wait.Set("start", "2026-08-15")
	wait.Set("day", "15")
	wait["price"] = []string{"12345678.90", "45.50"}
	asks := w.add(wait)
	weekly := typedRent("Žluťoučký-кůň-" + "W7")
	for name, value := range map[string]string{"customer": "C-3003", "name": "مؤسسة الخليج للتجارة", "unit": "week", "day": "", "currency": "JPY", "start": "2026-11-30", "end": "2027-01-10"} {
		weekly.Set(name, value)
	}
	weekly["price"] = []string{"120000", "45"}
	w.add(weekly)
	twin := w.add(typedTwin())
	w.Later(33 * 24 * time.Hour)
	if _, err := w.plans.Runner.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, "plans", w.URL+"/plans")
	shoot(t, ctx, "plan-page", w.URL+"/plans/1")
	shoot(t, ctx, "plan-asks", w.URL+asks)
	shoot(t, ctx, "plan-catch-up", w.URL+asks+"/catch-up")
	shoot(t, ctx, "plan-twin", w.URL+twin)
	shoot(t, ctx, "plan-change", w.URL+"/plans/1/change")
	shoot(t, ctx, "plans-month", w.URL+"/plans/month?month=2026-12")

	run(t, ctx, chromedp.Navigate(w.URL+"/plans/new"), fill("form[data-plan]", "code", "PLAN-043", "customer", "C-1001", "currency", "EUR", "every", "x", "description", "Rent", "price", "4,50"),
		chromedp.Click(chromedp.CSS(".plan-do .main")), chromedp.WaitVisible(chromedp.CSS(".faults")))
	for _, l := range looks {
		shootThis(t, ctx, "plan-refused", l)
	}
}

func typedTwin() url.Values {
	form := typedRent("PLAN-901")
	form["description"], form["quantity"], form["price"], form["tax"] = []string{"Rent {period}"}, []string{"1"}, []string{"1200.00"}, []string{""}
	return form
}
