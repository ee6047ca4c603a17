package web

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
)

// A change begins with a period, leaves alone what was made, and is on record with before and after.
func TestAPlanIsChangedFromAPeriodOn(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	path := w.add(typedRent("PLAN-20"))
	w.Later(33 * 24 * time.Hour) // 1 January 2027
	w.act(w.boss, path, "run", nil)
	page := w.boss.get(path + "/change")
	shows(t, page, "Change PLAN-20", "31 January 2027", "28 February 2027", "What was made stays as it is")
	if strings.Contains(page.body, `value="2026-12-31"`) {
		t.Error("a change is offered for a period that was made")
	}
	form := typedRent("PLAN-20")
	form.Set("version", page.form(path+"/change").Get("version"))
	form.Set("from", "2027-02-28")
	form["price"] = []string{"1300.00", "45.50"}
	form.Set("do", "show")
	shown := w.send(w.boss, path+"/change", form)
	shows(t, shown, "From 28 February 2027 on: EUR 1,391.00 every month on the 31st", "new amount")
	if got := w.boss.get(path); strings.Contains(got.body, "1,391.00") {
		t.Error("a preview changed the plan")
	}
	form.Set("do", "save")
	middle := url.Values{}
	for name, value := range form {
		middle[name] = value
	}
	middle.Set("from", "2027-02-15")
	a := w.send(w.boss, path+"/change", middle)
	shows(t, a, "a change must begin with a period", "the next one begins on 2027-02-28")
	if !strings.Contains(a.body, `value="1300.00"`) {
		t.Error("the new price is lost")
	}
	if a := w.send(w.boss, path+"/change", form); a.location != path+"?did=changed" {
		t.Fatal(a.status, a.visible())
	}
	// Somebody with an old page neither overwrites it nor loses what they typed.
	stale := url.Values{}
	for name, value := range form {
		stale[name] = value
	}
	stale["price"] = []string{"777.00", "45.50"}
	a = w.send(w.boss, path+"/change", stale)
	shows(t, a, "Admin changed the plan meanwhile, and nothing was saved")
	if a.status != http.StatusConflict || !strings.Contains(a.body, `value="777.00"`) {
		t.Errorf("%d", a.status)
	}
	a = w.boss.get(path)
	shows(t, a, "On 31 January 2027 it records an invoice of EUR 1,291.00", "EUR 1,391.00", "from 28 Feb 2027: EUR 1,391.00 every month on the 31st")
	if strings.Contains(a.body, "777") {
		t.Error("an old page overwrote a newer change")
	}
}

func TestAPlanIsPausedResumedAndEnded(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	path := w.add(typedRent("PLAN-21"))
	a := w.act(w.boss, path, "pause", url.Values{"note": {"Waits for the new contract"}})
	shows(t, w.boss.get(a.location), "The plan is paused", "Paused: nothing is made", "Waits for the new contract")
	w.Later(70 * 24 * time.Hour) // two periods pass
	if _, err := w.plans.Runner.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	missed := w.boss.get(path + "/catch-up")
	shows(t, missed, "The plan is paused. 2 periods have begun meanwhile")
	form := missed.form(path + "/catch-up")
	form.Set("up_to", "2026-12-31")
	form.Set("do", "leave")
	form.Set("note", "Rent was waived for December")
	if a := w.boss.post(path+"/catch-up", form); a.location != path+"?did=left_out" {
		t.Fatal(a.status, a.visible())
	}
	shows(t, w.boss.get(path), "Left out", "Rent was waived for December", "PLAN-21-2026-12")
	shows(t, w.boss.get(w.act(w.boss, path, "resume", nil).location), "The plan goes on")
	if a := w.act(w.boss, path, "end", url.Values{"end": {"31.12.2027"}}); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "write it like 2026-12-01") || !strings.Contains(a.body, "31.12.2027") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	shows(t, w.boss.get(w.act(w.boss, path, "end", url.Values{"end": {"2027-04-30"}}).location), "The end is set to 30 April 2027", "Then the plan ends")
	shows(t, w.boss.get(w.act(w.boss, path, "end", url.Values{"end": {""}}).location), "The plan has no end any more")
}

// Trial 113: days are those of the firm's zone, and the zone is shown. Trial 31: late in the evening and after midnight there,
// the period has one invoice.
func TestTrial113_PlansRunOnTheDayOfTheZone(t *testing.T) {
	auckland, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	w := newPlanWorld(t, auckland) // it is 23:00 on the 29th there
	form := typedRent("PLAN-30")
	form.Set("start", "2026-11-30")
	form.Set("day", "30")
	path := w.add(form)
	shows(t, w.boss.get(path), "A period begins at midnight in Pacific/Auckland", "On 30 November 2026 it records")
	shows(t, w.boss.get(w.act(w.boss, path, "run", nil).location), "Nothing was due")
	w.Later(61 * time.Minute) // the 30th there, still the 29th in UTC
	shows(t, w.boss.get(path), "Today it records an invoice")
	shows(t, w.boss.get(w.act(w.boss, path, "run", nil).location), "One invoice was recorded")
	w.Later(3 * time.Hour)
	a := w.boss.get(w.act(w.boss, path, "run", nil).location)
	shows(t, a, "Nothing was due", "On 30 December 2026 it records")
	if strings.Count(a.body, "/items/") != 1 || strings.Contains(a.visible(), "late") {
		t.Error("it was made twice, or is called late")
	}
}

// Approving a twin is for an admin who did not make it.
func TestATwinIsApprovedByAnotherAdmin(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	w.add(typedRent("PLAN-40"))
	other := work.Actor{Kind: work.Person, ID: "99", Name: "Zoë Other", Roles: []work.Role{work.Admin}}
	one := &planForm{Values: typedRent("PLAN-41")}
	p, err := w.plans.Create(t.Context(), other, one.plan())
	if err != nil {
		t.Fatal(err)
	}
	a := w.boss.get(planPath(p.ID))
	shows(t, a, "Somebody other than Zoë Other must approve it", "Both plans will then send their invoices")
	shows(t, w.boss.get(w.act(w.boss, planPath(p.ID), "approve", url.Values{"note": {"Two flats"}}).location), "The plan is approved", "On 31 December 2026 it records", "Two flats")
}

func (w *planWorld) upload(path, do, file string) answer {
	w.T.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	page := w.boss.get("/plans/import")
	for name, value := range map[string]string{csrfField: page.form("/plans/import").Get(csrfField), "system": "books", "do": do} {
		if err := m.WriteField(name, value); err != nil {
			w.T.Fatal(err)
		}
	}
	part, err := m.CreateFormFile("file", "plans.csv")
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := part.Write([]byte(file)); err != nil {
		w.T.Fatal(err)
	}
	if err := m.Close(); err != nil {
		w.T.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, w.URL+path, &body)
	if err != nil {
		w.T.Fatal(err)
	}
	r.Header.Set("Content-Type", m.FormDataContentType())
	return w.boss.do(r)
}

// A file's bad rows are all named with their lines; the good plans are added once, however often it is imported. What is
// exported can be imported elsewhere, and no cell runs as a formula.
func TestPlansByFile(t *testing.T) {
	w := newPlanWorld(t, time.UTC)
	file := "code;customer_id;customer_name;currency;start;description;unit_price\n" +
		"P-1;C-1;=HYPERLINK(1);EUR;2027-01-01;Rent;100.00\n" +
		"P-2;C-2;Globex;EURO;2027-01-01;Rent;100.00\n" +
		"P-3;C-3;Initech;EUR;2027-02-31;Rent;100.00\n" +
		"P-4;C-4;Umbrella;CHF;2027-01-01;Rent;much\n"
	a := w.upload("/plans/import", "check", file)
	shows(t, a, "nothing was imported yet", "P-2", "EURO")
	if strings.Contains(w.boss.get("/plans").body, "P-1") {
		t.Error("checking imported something")
	}
	for _, title := range []string{"Import finished, with rows to look at", "Nothing was imported"} {
		a = w.upload("/plans/import", "import", file)
		shows(t, a, title)
		for _, row := range []string{"3P-2", "4P-3", "5P-4"} {
			if !strings.Contains(a.visible(), row) {
				t.Errorf("the row %s is not named: %s", row, a.visible())
			}
		}
	}
	if c, err := w.PlanCounts(t.Context(), 1); err != nil || c[recurring.Active] != 1 {
		t.Errorf("%v %v", c, err)
	}
	out := w.boss.get("/plans/export.csv")
	if out.status != http.StatusOK || strings.Contains(out.body, ",=HYPERLINK") || !strings.Contains(out.body, "P-1") || !strings.Contains(out.header.Get("Content-Disposition"), "onefold-plans.csv") {
		t.Fatalf("%d %s", out.status, out.body)
	}
	elsewhere := newPlanWorld(t, time.UTC)
	shows(t, elsewhere.upload("/plans/import", "import", out.body), "Import finished")
	shows(t, elsewhere.boss.get("/plans"), "P-1", "=HYPERLINK(1)")
	shows(t, w.upload("/plans/import", "import", "nothing,that,we,know\n1,2,3,4\n"), "The heading has no column")
}
