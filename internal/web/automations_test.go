package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/events"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// onceRunner is due once.
type onceRunner struct {
	next     time.Time
	due, ran int
	problems []string
	err      error
}

func (r *onceRunner) Next(context.Context) (time.Time, error) { return r.next, nil }

func (r *onceRunner) Run(context.Context) (review.AutomationRun, error) {
	r.ran++
	recorded := r.due
	r.due = 0
	return review.AutomationRun{Recorded: recorded, Problems: r.problems}, r.err
}

func TestAutomationsPage(t *testing.T) {
	w := newWorld(t)
	w.LetBegin("recurring")
	runner := &onceRunner{next: w.Clock().AddDate(0, 0, 2), due: 3}
	s := newSite(t, Config{Store: w.Store, Intake: automation.Intake{Store: w.Store}, Automations: map[string]review.AutomationRunner{"recurring": runner}})
	w.Send(putIn(t, w, "orders", "2026-11", "ORDER-1", "5.00", "EUR"), rt.AcceptedAs(1))
	putIn(t, w, "orders", "2026-11", "ORDER-2", "5.00", "EUR")
	putIn(t, w, "crm <b>", "2026-11", "X", "5.00", "EUR")
	page := s.signIn("vera").get("/automations")
	for _, want := range []string{"Recurring invoices✓Onrecurring", "Confirmed orders✓Onorders", "crm <b>", "Books Create invoice", "Next run1 Dec 10:00", "See the plans", "Nothing recorded yet"} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
	for _, want := range []string{`href="/?automation=orders&amp;tab=finished" aria-label="Finished: 1"`, `href="/?automation=orders&amp;tab=waiting" aria-label="Waiting: 1"`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %s", want)
		}
	}
	if page.form(switchPath) != nil || page.form(runPath) != nil {
		t.Error("a viewer may switch")
	}
	boss := s.signIn("admin")
	page = boss.get("/automations")
	for n, want := range []string{"Recurring invoices ran and recorded 3 invoices.", "Recurring invoices ran. Nothing was due."} {
		a := boss.post(runPath, page.form(runPath))
		if a.status != http.StatusSeeOther || !strings.Contains(boss.get(a.location).visible(), want) || runner.ran != n+1 {
			t.Errorf("press %d: %d %s", n+1, a.status, a.location)
		}
	}
	runner.problems = []string{"plan P-1: the customer is unknown"}
	if a := boss.post(runPath, page.form(runPath)); a.status != http.StatusOK || !strings.Contains(a.visible(), "Not everything could be recorded: plan P-1") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	runner.err = errors.New("secret detail")
	if a := boss.post(runPath, page.form(runPath)); a.status != http.StatusInternalServerError || strings.Contains(a.body, "secret") {
		t.Errorf("%d %s", a.status, a.visible())
	}
}

// switchForm is the form that switches an automation.
func switchForm(page answer, name, on string) url.Values {
	form := page.form(switchPath)
	form.Set("name", name)
	form.Set("on", on)
	return form
}

func TestSwitchingAutomationsOnThePage(t *testing.T) {
	w := newWorld(t)
	w.LetBegin("recurring")
	runner := &onceRunner{due: 1}
	s := newSite(t, Config{Store: w.Store, Intake: automation.Intake{Store: w.Store}, Importer: automation.Importer{Intake: automation.Intake{Store: w.Store}, TempDir: t.TempDir()},
		Automations: map[string]review.AutomationRunner{"recurring": runner}})
	boss := s.signIn("admin")
	old := boss.get("/automations")
	for _, name := range []string{"recurring", "invoices"} {
		form := switchForm(old, name, "0")
		form.Set("note", "New <prices> from Monday")
		for range 2 { // the same form twice is one switch
			if a := boss.post(switchPath, form); a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/automations?did=off") {
				t.Fatalf("%d %s", a.status, a.visible())
			}
		}
	}
	page := boss.get("/automations")
	for _, want := range []string{"Switched off by Admin, 10:00.", "Reason: New <prices> from Monday", "What is recorded already goes on."} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
	if page.form(runPath) != nil {
		t.Error("it can be run while it is off")
	}
	run := page.form(switchPath)
	run.Set("name", "recurring")
	if a := boss.post(runPath, run); a.status != http.StatusConflict || runner.ran != 0 || !strings.Contains(a.visible(), "was switched off by Admin on 29 November 2026 at 10:00 UTC") {
		t.Errorf("%d, ran %d: %s", a.status, runner.ran, a.visible())
	}
	r, err := http.NewRequest(http.MethodPost, s.URL+"/api/v1/items", strings.NewReader(`{"key":"K","invoice":{"customer_id":"C","customer_name":"Acme","total":{"number":"5.00","currency":"EUR"},"issue_date":"2026-11-30","lines":[{"description":"Service","quantity":"1","unit_price":"5.00"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Content-Type", "application/json")
	if a := s.browser().do(r); a.status != http.StatusConflict || !strings.Contains(a.body, `"off"`) || !strings.Contains(a.body, "switched off by Admin") {
		t.Errorf("the API: %d %s", a.status, a.body)
	}
	// Somebody with an old page is told, and what they typed stays.
	form := switchForm(old, "invoices", "1")
	form.Set("note", "typed & kept")
	if a := boss.post(switchPath, form); a.status != http.StatusConflict || !strings.Contains(a.visible(), "Somebody else switched Invoices") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	form = switchForm(page, "invoices", "1")
	form.Set("version", "1")
	if a := boss.post(switchPath, form); a.status != http.StatusSeeOther {
		t.Errorf("%d %s", a.status, a.visible())
	}
	if list, err := w.AutomationSwitches(t.Context(), 1); err != nil || len(list) != 2 || list[0].Name != "invoices" || list[0].Off() || !list[1].Off() {
		t.Errorf("%+v %v", list, err)
	}
	for name, form := range map[string]url.Values{"unknown": switchForm(page, "nobody", "0"), "neither": switchForm(page, "orders", "perhaps")} {
		if a := boss.post(switchPath, form); a.status != http.StatusNotFound && a.status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, a.status)
		}
	}
}

func TestAutomationsLook(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	w.LetBegin("recurring")
	s := newSite(t, Config{Store: w.Store, Automations: map[string]review.AutomationRunner{"recurring": &onceRunner{next: w.Clock().AddDate(0, 0, 2)}}})
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "automations-empty", s.URL+"/automations")
	aMonth(t, w)
	putIn(t, w, "recurring", "2026-11", "PLAN-1-2026-11", "5.00", "EUR")
	putIn(t, w, strings.Repeat("very-long-name-of-an-automation-", 5), "2026-11", "X", "5.00", "EUR")
	by := work.Actor{Kind: work.Person, ID: "1", Name: "Ada Brown", Roles: []work.Role{work.Admin}}
	if err := review.NewAutomations(w.Store, 1, nil).Switch(t.Context(), by, "orders", false, 0, "The shop sends every order twice since this morning."); err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, "automations", s.URL+"/automations")
}

// An automation that was set up for a system that was never proven asks before it begins, and begins when an admin agrees.
func TestAutomationsAskBeforeAnUnprovenSystem(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store, Intake: automation.Intake{Store: w.Store}})
	till := work.System{ID: "till", CompanyID: 1, Name: "Till", Adapter: "sandbox", Address: "http://127.0.0.1:2", Policy: work.DefaultPolicy(),
		Capabilities: work.Capabilities{Searchable: true}, Steps: []string{"create"}, MaxInFlight: 8}
	if err := w.DeclareSystem(t.Context(), till); err != nil {
		t.Fatal(err)
	}
	by := work.Actor{Kind: work.Person, ID: "9", Name: "Boss", Roles: []work.Role{work.Admin}}
	if err := w.PutSender(t.Context(), events.Sender{CompanyID: 1, Kind: events.Orders, ID: "shop", Name: "Shop", SystemID: "till", Automation: "orders", Sealed: "x", SecretN: 1, ChangedAt: w.Clock()}, by, "sender_added"); err != nil {
		t.Fatal(err)
	}
	b := s.signIn("admin")
	isOff := func() bool {
		switches, err := w.AutomationSwitches(t.Context(), 1)
		if err != nil || len(switches) != 1 {
			t.Fatalf("%+v %v", switches, err)
		}
		return switches[0].Off()
	}
	if a := b.post(switchPath, b.get("/automations").filled(switchPath, "name", "orders", "version", "0", "on", "0", "note", "")); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	a := b.post(switchPath, b.get("/automations").filled(switchPath, "name", "orders", "version", "1", "on", "1"))
	for _, want := range []string{"“Confirmed orders” has never sent anything to Till", "Prove Till", "Switch on anyway"} {
		if a.status != http.StatusConflict || !strings.Contains(a.visible(), want) {
			t.Fatalf("%d, %q is missing: %s", a.status, want, a.visible())
		}
	}
	if !strings.Contains(a.body, `href="/systems/till/proofs"`) || !isOff() {
		t.Error("it is on, or nobody says where to prove")
	}
	if again := b.post(switchPath, a.filled(switchPath, "name", "orders", "version", "1", "on", "1", "unproven", "till")); again.status != http.StatusSeeOther || isOff() {
		t.Fatalf("%d %s", again.status, again.visible())
	}
	if never, err := w.NeverProven(t.Context(), 1, "orders"); err != nil || len(never) != 0 {
		t.Errorf("asked again: %v %v", never, err)
	}
	if trail := b.get("/audit"); !strings.Contains(trail.visible(), "Let an automation run on a system that was never proven") {
		t.Error("it is not on record")
	}
}
