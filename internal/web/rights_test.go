package web

import (
	"encoding/csv"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// table reads a CSV file as a spreadsheet does: its headings and its rows by heading.
func (a answer) table(t *testing.T) (headings []string, rows []map[string]string) {
	t.Helper()
	body, marked := strings.CutPrefix(a.body, "\ufeff")
	all, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(all) == 0 || !marked || a.header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Fatalf("%d %v %s", a.status, err, a.body)
	}
	for _, r := range all[1:] {
		row := map[string]string{}
		for i, cell := range r {
			row[all[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return all[0], rows
}

func (a answer) fileKeys(t *testing.T) (keys []string) {
	t.Helper()
	_, rows := a.table(t)
	for _, r := range rows {
		keys = append(keys, r["key"])
	}
	return keys
}

var nextOnList = regexp.MustCompile(`<a href="([^"]*)" rel="next">`)

// listed are the keys of all pages of a list.
func (b *browser) listed(path string) (keys []string) {
	b.site.t.Helper()
	for path != "" {
		a := b.get(path)
		keys = append(keys, a.keys()...)
		path = ""
		if m := nextOnList.FindStringSubmatch(a.body); m != nil {
			path = html.UnescapeString(m[1])
		}
	}
	return keys
}

func TestTrial117_TheExportShowsWhatTheScreenShows(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db)
		id := w.One("INV-OPEN")
		w.Send(w.One("INV-DONE"), rt.AcceptedAs(41))
		w.Happen(id, work.Hold{By: ada, Note: "n"})
		w.Put("Globex", rt.Money(t, "5", "EUR"), numbered("INV-MANY-", 130)...)
		accounts := accounts(t)
		here := newSite(t, Config{Store: w.Store, Auth: accounts}).signIn("vera")
		for _, query := range []string{"", "?tab=all", "?tab=waiting", "?tab=finished", "?tab=closed", "?q=INV-DONE", "?q=MANY", "?status=review", "?q=INV&tab=finished", "?q=nothing", "?tab=all&after=zz.1"} {
			screen := "/" + query
			if strings.Contains(query, "after") {
				screen = "/?tab=all" // a file is always of the whole list
			}
			on, in := here.listed(screen), here.get("/export.csv"+query).fileKeys(t)
			if !slices.Equal(on, in) || query == "?q=MANY" && len(in) != 130 {
				t.Errorf("%q: %d on the screen, %d in the file", query, len(on), len(in))
			}
		}
		if a := here.get("/export.csv?tab=nonsense"); a.status != http.StatusBadRequest {
			t.Errorf("an unknown list: %d", a.status)
		}
		if got := here.get("/export.csv?q=MANY").header.Get("Content-Disposition"); got != `attachment; filename="onefold-`+w.Clock().Format("2006-01-02-1504")+`.csv"` {
			t.Error(got)
		}
		page, err := accounts.AuditPage(t.Context(), boss, auth.AuditFilter{What: []string{auth.DidExport}})
		if err != nil || len(page.Records) < 10 {
			t.Fatalf("%d exports are on record, %v", len(page.Records), err)
		}
		if r := page.Records[0]; r.By.Name != "Vera Look" || r.Object != "items" || r.Note != "/?q=MANY&tab=all" {
			t.Errorf("%+v", r)
		}

		there := newSite(t, Config{Store: w.Store, CompanyID: 2}).signIn("admin") // of another company
		for _, query := range []string{"?tab=all", "?q=INV-DONE", "?q=MANY"} {
			if on, in := there.listed("/"+query), there.get("/export.csv"+query).fileKeys(t); len(on)+len(in) > 0 {
				t.Errorf("%s: another company sees %d and %d", query, len(on), len(in))
			}
		}
		form := there.get("/").form("/logout")
		form.Set("note", "n")
		form.Set("version", "1")
		form.Set("seen", "2026-11-29T10:00:00Z")
		if a := there.get(itemPath(id)); a.status != http.StatusNotFound {
			t.Errorf("the direct link: %d", a.status)
		}
		if a := there.post(itemPath(id, "close"), form); a.status != http.StatusNotFound {
			t.Errorf("an act by the direct link: %d", a.status)
		}
		if a := there.with(http.MethodGet, "/api/v1/items/INV-DONE", nil, "Authorization", "Bearer "+testToken); a.status != http.StatusNotFound {
			t.Errorf("the API: %d", a.status)
		}
	})
}

func TestTrial118_WhoMayOnlyReadChangesNothing(t *testing.T) {
	w := newWorld(t)
	ids := stories(t, w)
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("vera")
	before := map[int64]work.Item{}
	for name, id := range ids {
		before[id] = w.Get(id)
		if page := b.get(itemPath(id)); regexp.MustCompile(`(?i)<form[^>]*action="/(items|systems)`).MatchString(page.body) {
			t.Errorf("%s offers a button", name)
		}
	}
	token := b.get("/").form("/logout")
	tried := 0
	for _, route := range s.Config.Handler.(*echo.Echo).Routes() {
		may, known := access[route.Method+" "+route.Path]
		if route.Method != http.MethodPost || !known || may == "all" || strings.Contains(may, ":") || strings.Contains(may, "viewer") || slices.Contains([]string{"code", "enrol", "password", "signed"}, may) {
			continue
		}
		for _, id := range ids {
			it := before[id]
			form := url.Values{csrfField: token[csrfField], "version": {num(it.Version)}, "seen": {w.Clock().Format("2006-01-02T15:04:05Z07:00")}, "note": {"n"},
				"reference": {"INV/1"}, "to": {"Vera"}, "name": {"Vera"}, "roles": {"admin"}, "login": {"vera2"}, "scope": {"items:write"}, "days": {"30"}}
			if a := b.post(strings.ReplaceAll(parameter.ReplaceAllString(route.Path, "\x00"), "\x00", num(id)), form); a.status != http.StatusForbidden {
				t.Errorf("%s: %d", route.Path, a.status)
			}
			tried++
		}
	}
	if tried < 10*len(ids) {
		t.Errorf("only %d tries", tried)
	}
	for _, path := range []string{"/systems", "/import", "/people", "/"} {
		page := b.get(path)
		for _, form := range regexp.MustCompile(`(?i)<form[^>]*method="post"[^>]*action="([^"]*)"`).FindAllStringSubmatch(page.body, -1) {
			if form[1] != "/logout" && form[1] != "/views" { // their own views are theirs
				t.Errorf("%s offers %v", path, form)
			}
		}
	}
	for id, it := range before {
		if now := w.Get(id); now.Version != it.Version || now.Status != it.Status {
			t.Errorf("item %d changed", id)
		}
	}
	if sys, err := w.System(t.Context(), rt.SystemID); err != nil || !sys.PausedAt.IsZero() {
		t.Errorf("the system is paused: %v", err)
	}
}

// The intake asks again, whatever the page or the API that called it thinks.
func TestIntakeAsksForTheRightItself(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		by   work.Actor
		want automation.IntakeResult
	}{
		{work.Actor{Kind: work.Person, ID: "1", Roles: []work.Role{work.Viewer, work.Ops}}, automation.IntakeRefused},
		{work.Actor{Kind: work.Token, ID: "2", Roles: []work.Role{work.Viewer}}, automation.IntakeRefused},
		{work.Actor{Kind: work.Person, ID: "3"}, automation.IntakeRefused},
		{ada, automation.IntakeNew},
	} {
		got, err := w.Proven().Record(t.Context(), []work.New{{Automation: invoicesAutomation, BusinessKey: "K", SystemID: rt.SystemID,
			Invoice: rt.Invoice("Acme", rt.Money(t, "1", "EUR")), Source: "api", By: c.by}})
		if err != nil || len(got) != 1 || got[0].Result != c.want {
			t.Errorf("%v: %+v %v", c.by, got, err)
		}
	}
}

func TestTrial120_NoFormulaInAnExport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		names := []string{`=HYPERLINK("http://evil.example","x")`, "+49 30 1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1:A9)", "'=1+1", "'+1", "'-1", "'@x", "''", "'''=1", "'Acme'",
			"＝1+1", "Acme, \"the\" best; Co\nBerlin", "-45.00", "0049", "Zoë & Söhne 株式会社"}
		first := rt.New(t, db)
		var items []work.New
		for i, name := range names {
			v := rt.Invoice(name, rt.Money(t, "45.00", "EUR"))
			v.CustomerID, v.CustomerName, v.Note, v.IssueDate, v.DueDate, v.Lines = name, name, "'"+name, "2026-11-01", "2026-11-30", nil
			items = append(items, work.New{Automation: invoicesAutomation, BusinessKey: name + "-" + num(int64(i)), SystemID: rt.SystemID, Invoice: v, Source: "api", By: ada})
		}
		recorded, err := first.Proven().Record(t.Context(), items)
		if err != nil || slices.ContainsFunc(recorded, func(r automation.Recorded) bool { return r.Result != automation.IntakeNew }) {
			t.Fatalf("%+v %v", recorded, err)
		}
		first.Happen(recorded[0].Item.ID, work.Assign{By: ada, To: "=cmd()"})
		file := newSite(t, Config{Store: first.Store}).signIn("vera").get("/export.csv?tab=all")
		headings, rows := file.table(t)
		if len(rows) != len(names) {
			t.Fatalf("%d rows", len(rows))
		}
		number := regexp.MustCompile(`^-?[0-9.]+$`)
		for _, row := range rows {
			for _, h := range headings {
				if cell := row[h]; strings.ContainsAny(first1(cell), "=+-@\t\r") && !number.MatchString(cell) {
					t.Errorf("%s is taken for a formula: %q", h, cell)
				}
			}
			if row["amount"] != "45.00" {
				t.Errorf("the amount is %q", row["amount"])
			}
		}
		if !slices.ContainsFunc(rows, func(r map[string]string) bool { return r["customer_name"] == "'+49 30 1" }) ||
			!slices.ContainsFunc(rows, func(r map[string]string) bool { return r["customer_name"] == "-45.00" }) {
			t.Error("a phone number is no text, or a number is")
		}

		again := rt.New(t, storetest.SQLite(t))
		report, err := automation.Importer{Intake: again.Proven(), TempDir: t.TempDir()}.Import(t.Context(), strings.NewReader(file.body),
			automation.ImportOptions{SystemID: rt.SystemID, Automation: invoicesAutomation, Source: "import", By: ada})
		if err != nil || report.New != len(names) {
			t.Fatalf("%+v %v", report, err)
		}
		page, err := again.Search(t.Context(), review.Query{CompanyID: 1, Limit: 200})
		if err != nil {
			t.Fatal(err)
		}
		back := map[string]work.Item{}
		for _, it := range page.Items {
			back[it.BusinessKey] = it
		}
		for _, r := range recorded {
			want, got := r.Item.Invoice, back[r.Item.BusinessKey].Invoice
			if got.CustomerName != want.CustomerName || got.CustomerID != want.CustomerID || got.Note != want.Note || !got.Total.Equal(want.Total) || got.IssueDate != want.IssueDate || got.DueDate != want.DueDate {
				t.Errorf("%q comes back as %+v", want.CustomerName, got)
			}
		}
	})
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

func first1(s string) string { return s[:min(len(s), 1)] }

func numbered(prefix string, n int) (keys []string) {
	for i := range n {
		keys = append(keys, prefix+num(int64(i)))
	}
	return keys
}
