package web

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// upload posts a file as a browser does.
func (b *browser) upload(path string, form map[string]string, name string, content []byte) answer {
	b.site.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for k, v := range form {
		if err := w.WriteField(k, v); err != nil {
			b.site.t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		b.site.t.Fatal(err)
	}
	if _, err := part.Write(content); err != nil {
		b.site.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.site.t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, b.site.URL+path, &body)
	if err != nil {
		b.site.t.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	return b.do(r)
}

func (b *browser) uploadReport(content string) string {
	b.site.t.Helper()
	token := b.get("/reports").form("/reports").Get(csrfField)
	a := b.upload("/reports", map[string]string{csrfField: token, "system": rt.SystemID}, "books-november.csv", []byte(content))
	if a.status != http.StatusSeeOther {
		b.site.t.Fatalf("the upload: %d %s", a.status, a.visible())
	}
	return a.location
}

// reportWorld has items of every kind in a system that cannot be searched, and a report about them.
func reportWorld(t testing.TB) (*rt.World, map[string]int64, string) {
	t.Helper()
	w := newWorld(t, func(s *work.System) { s.Capabilities.Searchable = false })
	ids := map[string]int64{}
	for i, key := range []string{"ACME", "GLOBEX"} {
		ids[key] = w.One("INV-2026-11-" + key)
		w.Send(ids[key], rt.AcceptedAs(i+1))
	}
	for _, key := range []string{"LOST", "THERE", "OTHER", "VOIDED"} {
		ids[key] = w.One("INV-2026-11-" + key)
		w.Send(ids[key], rt.NoAnswer)
	}
	w.Later(20 * time.Minute)
	line := func(key, number, total, status string) string {
		return fmt.Sprintf("INV-2026-11-%s;INV/2026/%s;Acme Holdings Ltd;%s;EUR;%s;30.11.2026\n", key, number, total, status)
	}
	return w, ids, "Our reference;Number;Customer;Total;Currency;Status;Invoice date\n" + line("ACME", "00001", "1.200,00", "Paid") + line("GLOBEX", "00002", "1.200,00", "Open") +
		line("THERE", "00003", "1.200,00", "Open") + line("OTHER", "00004", "1.020,00", "Open") + line("VOIDED", "00005", "1.200,00", "Cancelled") +
		";INV/2026/00099;Walk-in customer;9,50;EUR;Paid;30.11.2026\n"
}

// said is what a person says about the report on the page.
func said(page answer, path string, made time.Time) url.Values {
	form := page.form(path + "/compare")
	for field, value := range map[string]string{"reference": "Our reference", "number": "Number", "customer": "Customer", "amount": "Total", "currency": "Currency",
		"status": "Status", "date": "Invoice date", "void": "Cancelled", "everything": "yes", "made": made.Format(wallTime)} {
		form.Set(field, value)
	}
	return form
}

// TestReconcileByReport is the way from the item to the settled month, without JavaScript.
func TestReconcileByReport(t *testing.T) {
	w, ids, content := reportWorld(t)
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("ada")
	if page := b.get(itemPath(ids["LOST"])); !strings.Contains(page.body, `href="/reports?system=books"`) {
		t.Error("no way from the item to the comparison")
	}
	if page := b.get("/systems"); !strings.Contains(page.body, `href="/reports?system=books"`) {
		t.Error("no way from the accounting systems to the comparison")
	}
	path := b.uploadReport(content)
	page := b.get(path + "?show=unclear")
	if !strings.Contains(page.visible(), "nobody said when it was exported") {
		t.Errorf("what it needs is not said: %s", page.visible())
	}
	form := said(page, path, w.Clock().Add(time.Hour))
	if a := b.post(path+"/compare", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "cannot have been exported after") ||
		!strings.Contains(a.body, form.Get("made")) {
		t.Errorf("a report of the future: %d %s", a.status, a.visible())
	}
	form.Set("made", w.Clock().Format(wallTime))
	if a := b.post(path+"/compare", form); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := b.post(path+"/compare", form); a.status != http.StatusConflict || !strings.Contains(a.visible(), "a colleague changed") {
		t.Errorf("a stale page: %d", a.status)
	}
	row := regexp.MustCompile(`<td class="number amount">.*?</tr>`).FindString(b.get(path + "?show=stranger").body)
	if !strings.HasPrefix(row, `<td class="number amount"></td>`) || !regexp.MustCompile(`<bdi>[A-Z]{3} [0-9.,]+</bdi>`).MatchString(row) {
		t.Errorf("an amount of the report stands under ours: %s", row)
	}
	page = b.get(path)
	apply := page.form(path + "/apply")
	if apply == nil || w.Get(ids["THERE"]).Status != work.Review {
		t.Fatalf("it cannot be applied, or was: %s", page.visible())
	}
	if !strings.Contains(page.visible(), "Apply to 4 invoices") {
		t.Errorf("%s", page.visible())
	}
	for range 2 { // a double click
		if a := b.post(path+"/apply", apply); a.status != http.StatusSeeOther && a.status != http.StatusConflict {
			t.Fatalf("%d %s", a.status, a.visible())
		}
	}
	if a := b.get(path).visible(); strings.Contains(a, "Applied ") || !strings.Contains(a, "Begun ") {
		t.Errorf("it is told as done before it is: %s", a)
	}
	if err := (review.ReportRunner{Store: w.Store}).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.Get(ids["THERE"]); got.Status != work.Confirmed || got.Evidence != "report" {
		t.Errorf("%s by %q", got.Status, got.Evidence)
	}
	if got := b.get(itemPath(ids["THERE"])).visible(); !strings.Contains(got, "a report of Books shows it") || !strings.Contains(got, "A report of Books made") {
		t.Errorf("the item does not say how we know: %s", got)
	}
	if got := b.get(itemPath(ids["LOST"])); got.form(itemPath(ids["LOST"], "retry")) == nil {
		t.Errorf("what is proven not there cannot be sent: %s", got.visible())
	}
	csv := b.get(path + "/results.csv")
	for _, want := range []string{"INV-2026-11-THERE", "Confirmed", "INV/2026/00099", "Needs a person", "1200.00", "1020.00"} {
		if !strings.Contains(csv.body, want) {
			t.Errorf("the results lack %s: %s", want, csv.body)
		}
	}
	if a := b.get(path); a.form(path+"/apply") != nil || a.form(path+"/remove") != nil || !strings.Contains(a.visible(), "Applied") {
		t.Errorf("after it was applied: %s", a.visible())
	}
}

// A file that cannot be read says so, keeps nothing half done, and is not lost.
func TestBadReportsAreSaid(t *testing.T) {
	w, _, _ := reportWorld(t)
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	for name, c := range map[string]struct{ content, says string }{
		"workbook broken": {"PK\x03\x04nonsense", "cannot be read"},
		"old workbook":    {"\xD0\xCF\x11\xE0nonsense", ".xlsx"},
		"heading only":    {"Our reference;Total;Currency\n", "no rows"},
		"no reference":    {"a;Total;Currency\nx;5;EUR\n", "Which column holds our reference"},
		"two formats":     {"Our reference;Total;Currency\nINV-2026-11-ACME;9,00;EUR\nINV-2026-11-GLOBEX;9.00;EUR\n", "in line 2"},
		"script":          {"Our reference;Total;Currency\n<script>alert(1)</script>;9,00;EUR\nINV-2026-11-ACME;9,00;EUR\n", "Matches"},
	} {
		a := b.get(b.uploadReport(c.content))
		if a.status != http.StatusOK || !strings.Contains(a.visible(), c.says) || strings.Contains(a.body, "<script>alert") {
			t.Errorf("%s: %d %s", name, a.status, a.visible())
		}
	}
	token := b.get("/reports").form("/reports").Get(csrfField)
	if a := b.upload("/reports", map[string]string{csrfField: token, "system": rt.SystemID}, "empty.csv", nil); a.status != http.StatusUnprocessableEntity {
		t.Errorf("an empty file: %d", a.status)
	}
}

func TestWallClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"2026-11-30T14:05": "2026-11-30T13:05:00Z",
		"2026-10-25T02:30": "2026-10-25T00:30:00Z", // shown twice: the earlier one, so that a report is not taken for younger
		"2026-03-29T02:30": "",                     // never shown
		"30.11.2026":       "",
	} {
		got, ok := wallClock(wallTime, value, berlin)
		if ok != (want != "") || ok && got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s %t", value, got, ok)
		}
	}
}

func TestReportPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w, _, content := reportWorld(t)
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("ada")
	run(t, ctx, signInOn(s.URL, "ada"))
	shoot(t, ctx, "reports-empty", s.URL+"/reports")
	path := b.uploadReport(content)
	shoot(t, ctx, "report-new", s.URL+path)
	bad := b.uploadReport("a;Total;Currency\nx;5;EUR\n")
	shoot(t, ctx, "report-problem", s.URL+bad)
	if a := b.post(path+"/compare", said(b.get(path), path, w.Clock())); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	shoot(t, ctx, "report-ready", s.URL+path)
	shoot(t, ctx, "report-different", s.URL+path+"?show=different")
	shoot(t, ctx, "report-absent", s.URL+path+"?show=absent")
	shoot(t, ctx, "report-strangers", s.URL+path+"?show=stranger")
	form := b.get(path).form(path + "/apply")
	b.post(path+"/apply", form)
	shoot(t, ctx, "report-applying", s.URL+path)
	if err := (review.ReportRunner{Store: w.Store}).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, "report-applied", s.URL+path+"?show=different")
	shoot(t, ctx, "reports", s.URL+"/reports")
}
