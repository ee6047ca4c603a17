package web

import (
	"net/http"
	"strings"
	"testing"

	"onefold/internal/auth"
	"onefold/internal/automation"
	rt "onefold/internal/review/reviewtest"
)

const oneRow = "key,customer_id,currency,amount\nINV-1,C-1,EUR,1.00\n"

// agreements counts how often it is on record that an automation may begin on a system that was never proven.
func agreements(t *testing.T, w *rt.World) int {
	t.Helper()
	page, err := w.AuditPage(t.Context(), auth.AuditFilter{CompanyID: 1, What: []string{"automation_on_unproven"}, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	return len(page.Records)
}

// No import begins on a system that was never proven before an admin agreed, whatever the page sends; nothing of what was
// prepared is lost meanwhile, and it is asked once.
func TestNoImportBeginsOnAnUnprovenSystemUnasked(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	boss := s.signIn("admin")
	path, page := boss.uploaded("first.csv", oneRow)
	wants(t, page, "has never sent anything to Books", "never proven", "Import anyway", "Prove Books")
	begin := page.form(path + "/start")
	begin.Del("unproven")
	a := boss.post(path+"/start", begin)
	runImports(t, w)
	if a.status != http.StatusUnprocessableEntity || len(recorded(t, w)) != 0 {
		t.Fatalf("it began unasked: %d %v", a.status, recorded(t, w))
	}
	wants(t, a, "Not begun. Tick", "first.csv", "INV-1")
	if promised(a) != 1 {
		t.Error("the button is gone")
	}
	// What names another system agrees to nothing.
	begin.Set("unproven", "till")
	if a := boss.post(path+"/start", begin); a.status != http.StatusUnprocessableEntity {
		t.Fatalf("%d %s", a.status, a.visible())
	}

	// An operator reads who can agree, has no button, and cannot agree by hand either.
	olga := s.signIn("ada")
	shown := olga.get(path)
	wants(t, shown, "never proven", "An admin can prove it")
	if shown.form(path+"/start") != nil || strings.Contains(shown.body, `name="unproven"`) {
		t.Error("an operator is asked")
	}
	forged := shown.form(path + "/remove")
	if a := olga.post(path+"/start", forged); a.status != http.StatusUnprocessableEntity {
		t.Errorf("an operator begins: %d %s", a.status, a.visible())
	}
	forged.Set("unproven", rt.SystemID)
	if a := olga.post(path+"/start", forged); a.status != http.StatusForbidden {
		t.Errorf("an operator agrees: %d %s", a.status, a.visible())
	}
	runImports(t, w)
	if n := agreements(t, w); n != 0 || len(recorded(t, w)) != 0 {
		t.Fatalf("%d agreements, %v", n, recorded(t, w))
	}

	begin = boss.get(path).form(path + "/start")
	begin.Set("unproven", rt.SystemID)
	if a := boss.post(path+"/start", begin); a.status != http.StatusSeeOther {
		t.Fatalf("agreed: %d %s", a.status, a.visible())
	}
	runImports(t, w)
	if len(recorded(t, w)) != 1 || agreements(t, w) != 1 {
		t.Fatalf("%v, %d agreements", recorded(t, w), agreements(t, w))
	}
	path, page = olga.uploaded("second.csv", strings.ReplaceAll(oneRow, "INV-1", "INV-2"))
	if strings.Contains(page.visible(), "never proven") {
		t.Error("asked again")
	}
	olga.start(w, path, page)
	if len(recorded(t, w)) != 2 || agreements(t, w) != 1 {
		t.Errorf("%v, %d agreements", recorded(t, w), agreements(t, w))
	}
}

// What programs send does not begin on a system that was never proven, either: not one by one and not as a file.
func TestNoProgramBeginsOnAnUnprovenSystemUnasked(t *testing.T) {
	w := newWorld(t)
	intake := automation.Intake{Store: w.Store}
	s := newSite(t, Config{Store: w.Store, Intake: intake, Importer: automation.Importer{Intake: intake, TempDir: t.TempDir()}})
	a := api{s.browser()}
	mine := `{"key":"INV-9","automation":"mine","invoice":{"customer_id":"C-1","total":{"number":"1.00","currency":"EUR"}}}`
	file := func(query string) answer {
		return a.call(http.MethodPost, "/api/v1/import?automation=mine"+query, "text/csv", strings.NewReader(oneRow))
	}
	for what, got := range map[string]answer{"an item": a.post(mine), "a file": file(""),
		"an order": a.call(http.MethodPost, "/api/v1/events", "application/json", strings.NewReader(orderEvent("evt-1", "A-1", "1.00")))} {
		code, message := got.message(t)
		if got.status != http.StatusConflict || code != "off" || !strings.Contains(message, "was never proven: an admin proves it, or lets it begin") {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := file("&check=1"); got.status != http.StatusOK {
		t.Errorf("a file that is only checked: %d %s", got.status, got.body)
	}
	if len(recorded(t, w)) != 0 {
		t.Fatalf("on record unasked: %v", recorded(t, w))
	}

	boss, ada := s.signIn("admin"), s.signIn("ada")
	if page := ada.get(automationsPath); page.form(beginPath) != nil {
		t.Error("an operator may agree")
	}
	page := boss.get(automationsPath)
	form := page.form(beginPath)
	if form == nil {
		t.Fatalf("nobody can agree: %s", page.visible())
	}
	form.Set("name", "mine")
	form.Set("system", rt.SystemID)
	if done := boss.post(beginPath, form); done.status != http.StatusSeeOther {
		t.Fatalf("%d %s", done.status, done.visible())
	}
	if again := boss.post(beginPath, form); !strings.Contains(again.visible(), "Nothing needed to be agreed to") || agreements(t, w) != 1 {
		t.Errorf("%d agreements: %s", agreements(t, w), again.visible())
	}
	if got := a.post(mine); got.status != http.StatusCreated {
		t.Errorf("agreed: %d %s", got.status, got.body)
	}
	if got := a.post(strings.Replace(mine, "mine", "yours", 1)); got.status != http.StatusConflict {
		t.Errorf("another automation begins: %d %s", got.status, got.body)
	}
}
