package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/automation/recurring"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// planWorld is a site with the pages about recurring invoices; it is 29 November 2026.
type planWorld struct {
	*rt.World
	*site
	boss  *browser
	plans recurring.Plans
}

func newPlanWorld(t *testing.T, zone *time.Location) *planWorld {
	t.Helper()
	w := newWorld(t)
	w.LetBegin("recurring")
	intake := automation.Intake{Store: w.Store, Zone: zone}
	s := newSite(t, Config{Store: w.Store, Zone: zone, Intake: intake})
	return &planWorld{World: w, site: s, boss: s.signIn("admin"), plans: recurring.Plans{Store: w.Store, CompanyID: 1, Zone: zone,
		Runner: recurring.Runner{Store: w.Store, Intake: intake, Zone: zone}}}
}

// typedRent is the form of an ordinary plan: monthly on the 31st.
func typedRent(code string) url.Values {
	return url.Values{"code": {code}, "system": {rt.SystemID}, "customer": {"C-1001"}, "name": {"Acme Holdings Ltd"}, "currency": {"EUR"}, "every": {"1"}, "unit": {"month"}, "day": {"31"},
		"start": {"2026-12-31"}, "end": {""}, "pay_within": {"14"}, "note": {"Thank you"}, "description": {"Rent {period}", "Parking"}, "quantity": {"1", "2"}, "price": {"1200.00", "45.50"},
		"tax": {"V19", ""}, "do": {"save"}}
}

// send sends a form with the token of the page that it is on.
func (w *planWorld) send(b *browser, path string, form url.Values) answer {
	w.T.Helper()
	page := b.get("/")
	m := formTokenPattern.FindStringSubmatch(page.body)
	if m == nil {
		w.T.Fatal("no form token")
	}
	form.Set(csrfField, m[1])
	return b.post(path, form)
}

// add saves a plan and returns its page's path.
func (w *planWorld) add(form url.Values) string {
	w.T.Helper()
	a := w.send(w.boss, "/plans/new", form)
	path, _, _ := strings.Cut(a.location, "?")
	if a.status != http.StatusSeeOther || !strings.HasPrefix(path, "/plans/") {
		w.T.Fatalf("%d %s", a.status, a.visible())
	}
	return path
}

// act sends one of the forms of a plan's page.
func (w *planWorld) act(b *browser, path, act string, fields url.Values) answer {
	w.T.Helper()
	form := b.get(path).form(path + "/" + act)
	if form == nil {
		w.T.Fatalf("%s has no form %s: %s", path, act, b.get(path).visible())
	}
	for name, value := range fields {
		form[name] = value
	}
	return b.post(path+"/"+act, form)
}

func shows(t *testing.T, a answer, want ...string) {
	t.Helper()
	seen := strings.ReplaceAll(a.visible(), "\u00a0", " ")
	for _, text := range want {
		if !strings.Contains(seen, text) {
			t.Errorf("the page does not say %q: %s", text, seen)
		}
	}
	if found := forbidden.FindString(seen); found != "" {
		t.Errorf("the page says %q", found)
	}
}

func TestAPlanIsMadeShownAndRun(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	shows(t, w.boss.get("/plans"), "No invoice comes by itself yet")
	path := w.add(typedRent("PLAN-042"))
	shows(t, w.boss.get(path+"?did=created"), "The plan is saved", "EUR 1,291.00", "every month on the 31st (last day in shorter months)", "On 31 December 2026 it records an invoice", "PLAN-042-2026-12",
		"for the 31st", "A period begins at midnight in UTC")
	shows(t, w.boss.get("/plans"), "PLAN-042", "Acme Holdings Ltd", "1,291.00", "31 Dec 2026", "in 32 days", "Active", "not yet")

	// Nothing is due: pressing does nothing, however often.
	for range 2 {
		a := w.act(w.boss, path, "run", nil)
		if a.status != http.StatusSeeOther {
			t.Fatal(a.status, a.visible())
		}
		shows(t, w.boss.get(a.location), "Nothing was due, so nothing was made")
	}
	w.Later(32 * 24 * time.Hour)
	shows(t, w.boss.get(w.act(w.boss, path, "run", nil).location), "One invoice was recorded", "31 Dec 2026 – 30 Jan 2027", "Waiting to be sent")
	again := w.boss.get(w.act(w.boss, path, "run", nil).location)
	shows(t, again, "Nothing was due")
	if n := strings.Count(again.body, "/items/"); n != 1 {
		t.Errorf("%d invoices", n)
	}
	shows(t, w.boss.get("/plans/month?month=2026-12"), "Recurring invoices of December 2026", "Recorded", "1,291.00")
	shows(t, w.boss.get("/plans/month?month=2027-02"), "28 Feb 2027", "To come")
	shows(t, w.boss.get("/plans/month?month=2026-11"), "No plan has an invoice in November 2026")
}

// Every field that is refused keeps what was typed and says by itself what to do; all of them at once.
func TestARefusedPlanKeepsWhatWasTyped(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	form := typedRent("")
	form.Set("customer", " ")
	form.Set("every", "one")
	form.Set("day", "40")
	form.Set("start", "31.12.2026")
	form.Set("end", "2020-01-01")
	form.Set("pay_within", "999")
	form.Set("currency", "EURO")
	form["price"] = []string{"1.200,00", "45.50"}
	form.Set("note", "<script>alert(1)</script>")
	form["quantity"] = []string{"1", "two"}
	a := w.send(w.boss, "/plans/new", form)
	if a.status != http.StatusUnprocessableEntity {
		t.Fatal(a.status, a.location)
	}
	shows(t, a, "Not saved yet", "The plan needs a code", "Name the customer", "Write a whole number", "must be between 1 and 31", "write it like 2026-12-01", "between 0 and 365", "use a three-letter code")
	for _, typed := range []string{`value="one"`, `value="40"`, `value="31.12.2026"`, `value="2020-01-01"`, `value="999"`, `value="EURO"`, `value="1.200,00"`, `value="two"`, `value="V19"`, "&lt;script&gt;alert(1)"} {
		if !strings.Contains(a.body, typed) {
			t.Errorf("%s is lost", typed)
		}
	}
	if strings.Contains(a.body, "<script>alert") {
		t.Error("what was typed runs")
	}
	form = typedRent("PLAN-1")
	form["price"] = []string{"1200.00", "4,55"}
	form["description"] = []string{"Rent", "", "Parking"}
	form["quantity"], form["price"], form["tax"] = []string{"1", "", "1"}, []string{"1.200,00", "", "4,555"}, []string{"", "", ""}
	a = w.send(w.boss, "/plans/new", form)
	shows(t, a, "“4,555” can be read in two ways: write 4555 or 4555.00, or 4.5550 if it is less.")
	if at := strings.Index(a.body, `id="line-2"`); at < 0 || !strings.Contains(a.body[at:], "in two ways") || strings.Contains(a.body[:at], "“1.200,00”") {
		t.Error("the problem is not beside its line")
	}
	w.add(typedRent("PLAN-2"))
	other := typedRent("plan-2")
	other.Set("name", "Somebody else")
	if a := w.send(w.boss, "/plans/new", other); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "code") {
		t.Errorf("a second plan with a code that differs only in case: %d %s", a.status, a.visible())
	}
}

// A comma is a decimal mark where it can be nothing else; what was done is in the trail with what changed.
func TestAPlanInCommasIsMadeAndOnRecord(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	people := accounts(t, func(c *auth.Config) { c.Now, c.Store = w.Clock, w.Store }) // the trail is of one database
	w.site = newSite(t, Config{Store: w.Store, Auth: people, Zone: time.UTC, Intake: automation.Intake{Store: w.Store, Zone: time.UTC}})
	w.boss = w.signIn("admin")
	form := typedRent("PLAN-9")
	form["price"], form["quantity"] = []string{"1.200,50", "45,50"}, []string{"1", "1,5"}
	form.Set("do", "show")
	shows(t, w.send(w.boss, "/plans/new", form), "Each invoice: EUR 1,268.75")
	form.Set("do", "save")
	path := w.add(form)
	change := typedRent("PLAN-9")
	change.Set("version", w.boss.get(path+"/change").form(path+"/change").Get("version"))
	change.Set("from", fromStart)
	change["price"], change["quantity"] = []string{"1 300,50", "45.50"}, []string{"1", "1.5"}
	if a := w.send(w.boss, path+"/change", change); a.location != path+"?did=changed" {
		t.Fatal(a.status, a.visible())
	}
	if a := w.act(w.boss, path, "end", url.Values{"end": {"2027-06-30"}, "note": {"Moves <out>"}}); a.location != path+"?did=ended" {
		t.Fatal(a.status, a.visible())
	}
	trail := w.boss.get("/audit?what=group:plans")
	shows(t, trail, "Set up a recurring plan", "Changed a recurring plan", "Set the end of a recurring plan", "PLAN-9", "1,268.75", "1,368.75", "Last day: 30 Jun 2027", "Moves <out>")
	if n := strings.Count(trail.body, "<tr>"); n != 4 || !strings.Contains(trail.body, `href="`+path+`"`) || strings.Contains(trail.visible(), "FoldedCode") {
		t.Errorf("%d rows: %s", n, trail.visible())
	}
	if file := w.boss.get("/audit.csv?what=plan_end"); !strings.Contains(file.body, "Last day: 30 Jun 2027") || strings.Contains(file.body, "Terms") {
		t.Error(file.body)
	}
}

// Without a script the buttons show what a plan means and add and remove lines; nothing is saved by them.
func TestThePreviewWithoutAScript(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	form := typedRent("PLAN-3")
	form.Set("do", "show")
	a := w.send(w.boss, "/plans/new", form)
	shows(t, a, "Acme Holdings Ltd gets an invoice of EUR 1,291.00 every month on the 31st", "The next 12 invoices", "Each invoice: EUR 1,291.00")
	if n := strings.Count(a.body, `class="run-day"`); n != 12 {
		t.Errorf("%d runs are drawn", n)
	}
	form.Set("do", "add")
	a = w.send(w.boss, "/plans/new", form)
	if n := strings.Count(a.body, `name="description"`); n != 3 {
		t.Errorf("%d lines after one was added", n)
	}
	form.Set("do", "remove-0")
	a = w.send(w.boss, "/plans/new", form)
	if strings.Contains(a.body, "Rent {period}\"") || !strings.Contains(a.body, `value="Parking"`) || !strings.Contains(a.visible(), "EUR\u00a091.00") {
		t.Errorf("the first line is not gone: %s", a.visible())
	}
	form.Set("every", "x") // nothing is foretold from what cannot be read
	form.Set("do", "show")
	if a = w.send(w.boss, "/plans/new", form); strings.Contains(a.visible(), "gets an invoice of") || strings.Contains(a.body, `class="run-day"`) {
		t.Errorf("a plan is foretold from nonsense: %s", a.visible())
	}
	form.Set("every", "1")
	form.Set("start", "2026-07-31")
	form.Set("do", "show")
	shows(t, w.send(w.boss, "/plans/new", form), "4 periods have begun already", "nothing is made before")
	if page := w.boss.get("/plans"); strings.Contains(page.body, "PLAN-3") {
		t.Error("a preview was saved")
	}
}

// Trial 37: what was missed is listed, and nothing is made before somebody has said which. Trial 35: it is made with the date
// of its own period and marked late, and later dates do not move.
func TestTrial37_WhatWasMissedIsAskedFor(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	path := w.add(typedRent("PLAN-5"))
	w.Later(100 * 24 * time.Hour) // 9 March 2027
	a := w.boss.get(w.act(w.boss, path, "run", nil).location)
	shows(t, a, "more than one period was missed", "3 periods have begun without their invoices, the first on 31 December 2026", "Asks about missed periods")
	if strings.Contains(a.body, "/items/") {
		t.Error("something was made before anybody was asked")
	}
	shows(t, w.boss.get("/plans"), "Asks about missed periods")
	missed := w.boss.get(path + "/catch-up")
	shows(t, missed, "3 periods have begun without their invoices, EUR 3,873.00 together", "31 Dec 2026", "31 Jan 2027", "28 Feb 2027", "PLAN-5-2027-01")
	form := missed.form(path + "/catch-up")
	form.Set("up_to", "2027-01-31")
	form.Set("do", "make")
	if a := w.boss.post(path+"/catch-up", form); a.location != path+"?did=caught_up" {
		t.Fatal(a.status, a.visible())
	}
	if a := w.boss.post(path+"/catch-up", form); a.status != http.StatusConflict {
		t.Errorf("agreeing twice: %d %s", a.status, a.location)
	}
	w.act(w.boss, path, "run", nil)
	w.act(w.boss, path, "run", nil)
	w.act(w.boss, path, "run", nil)
	a = w.boss.get(path)
	shows(t, a, "late", "PLAN-5-2026-12", "PLAN-5-2027-01", "PLAN-5-2027-02", "On 31 March 2027 it records")
	if n := strings.Count(a.body, "/items/"); n != 3 {
		t.Errorf("%d invoices, not 3", n)
	}
}

// Trial 28: a second plan for the same customer and period waits for somebody else.
func TestTrial28_ATwinWaitsForSomebodyElse(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	w.add(typedRent("PLAN-7"))
	path := w.add(typedRent("PLAN-8"))
	a := w.boss.get(path)
	shows(t, a, "Waits for approval", "PLAN-7 bills the same customer for the same lines", "You set this plan up, so somebody else must approve it")
	if a.form(path+"/approve") != nil {
		t.Error("whoever made it may approve it")
	}
	form := url.Values{"version": {a.form(path + "/pause").Get("version")}}
	if a := w.send(w.boss, path+"/approve", form); a.status != http.StatusUnprocessableEntity {
		t.Errorf("approving one's own: %d %s", a.status, a.location)
	}
	w.Later(40 * 24 * time.Hour)
	if _, err := w.plans.Runner.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(w.boss.get(path).body, "/items/") {
		t.Error("the twin made an invoice")
	}
}

func TestPlansAreReadByAllAndChangedByAdmins(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	path := w.add(typedRent("PLAN-9"))
	for _, login := range []string{"vera", "ada", "otto"} {
		b := w.signIn(login)
		a := b.get(path)
		shows(t, a, "PLAN-9", "EUR 1,291.00")
		if strings.Contains(a.body, path+"/pause") || strings.Contains(a.body, path+"/run") || strings.Contains(b.get("/plans").body, "/plans/new") {
			t.Errorf("%s is offered what they may not do", login)
		}
		for _, act := range []string{"run", "pause", "resume", "end", "approve", "catch-up", "change"} {
			if a := w.send(b, path+"/"+act, url.Values{"version": {"1"}}); a.status != http.StatusForbidden {
				t.Errorf("%s may %s: %d", login, act, a.status)
			}
		}
	}
	if p, err := w.plans.Get(t.Context(), work.Actor{Kind: work.Person, ID: "1", Roles: []work.Role{work.Admin}}, 1); err != nil || p.Version != 1 {
		t.Errorf("%+v %v", p.Version, err)
	}
}
