package web

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"onefold/internal/automation"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// putIn records an invoice of an automation in a month.
func putIn(t testing.TB, w *rt.World, automationName, month, key, number, code string) int64 {
	t.Helper()
	in := rt.Invoice("Acme Holdings Ltd", rt.Money(t, number, code))
	got, err := w.Proven().Record(t.Context(), []work.New{{Automation: automationName, BusinessKey: key, SystemID: rt.SystemID,
		Source: "api", Period: month, By: rt.Recorder, Invoice: in}})
	if err != nil || got[0].Result != automation.IntakeNew {
		t.Fatalf("%s: %+v %v", key, got, err)
	}
	return got[0].Item.ID
}

// aMonth fills November with documents of two automations.
func aMonth(t testing.TB, w *rt.World) {
	t.Helper()
	w.Send(putIn(t, w, "orders", "2026-11", "ORDER-1", "99999747361065.39", "EUR"), rt.AcceptedAs(901))
	id := putIn(t, w, "orders", "2026-11", "ORDER-2", "12.500", "KWD")
	w.Send(id, rt.NoAnswer)
	w.Find(id, work.Lookup{Finding: work.FoundSeveral, Record: rt.Record(902), Count: 2})
	putIn(t, w, "orders", "2026-10", "ORDER-0", "5.00", "EUR")
	stories(t, w)
}

func TestAMonthIsAnsweredInOneSentence(t *testing.T) {
	w := newWorld(t) // it is November
	in := newSite(t, Config{Store: w.Store}).signIn("vera")
	want := func(period, sentence string) {
		t.Helper()
		if a := in.get("/periods/" + period); a.status != http.StatusOK || !strings.Contains(a.visible(), sentence) {
			t.Errorf("%s: %d, no %q in %s", period, a.status, sentence, a.visible())
		}
	}
	want("2026-10", "Nothing is recorded for October 2026")
	id := putIn(t, w, "orders", "2026-10", "A", "5.00", "EUR")
	want("2026-10", "Not yet: 1 of 1 invoices of October 2026 is still open.")
	w.Send(id, rt.AcceptedAs(1))
	want("2026-10", "Yes. The one invoice of October 2026 is settled.")
	id = putIn(t, w, "orders", "2026-10", "B", "5.00", "EUR")
	w.Until(id, func() { w.Send(id, rt.Refused) })
	want("2026-10", "Not yet: 1 of 2 invoices of October 2026 is still open. It needs a person.")
	w.Happen(id, work.Close{By: ada, Note: "The order was cancelled."})
	want("2026-10", "Yes. All 2 invoices of October 2026 are settled. 1 was closed without sending.")
	w.Send(putIn(t, w, "orders", "2026-11", "C", "5.00", "EUR"), rt.AcceptedAs(2))
	want("2026-11", "So far, yes. The one invoice recorded for November 2026 is settled, but the month is not over.")
}

// 31 and 113. The month that is not over is that of the firm's zone.
func TestTrial113_MonthsAreCutInTheFirmsZone(t *testing.T) {
	w := newWorld(t)
	w.Later(time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC).Sub(w.Clock()))
	w.Send(putIn(t, w, "orders", "2026-11", "A", "5.00", "EUR"), rt.AcceptedAs(1))
	putIn(t, w, "orders", "2026-12", "B", "5.00", "EUR")
	for name, want := range map[string][2]string{"UTC": {"So far, yes.", "/periods/2026-11"}, "Europe/Paris": {"Yes.", "/periods/2026-12"}} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		in := newSite(t, Config{Store: w.Store, Zone: zone}).signIn("vera")
		a := in.get("/periods/2026-11")
		if !strings.Contains(a.visible(), "complete?✓ "+want[0]) || !strings.Contains(a.visible(), "Times are in "+name) {
			t.Errorf("%s: %s", name, a.visible())
		}
		if a := in.get("/periods"); a.location != want[1] {
			t.Errorf("%s: the present month is %s", name, a.location)
		}
	}
}

var numberLink = regexp.MustCompile(`<a href="(/\?[^"]*period=[^"]*)" aria-label="([^"]*)">`)

// Each number leads to the list that has so many rows.
func TestAMonthsNumbersLeadToTheirLists(t *testing.T) {
	w := newWorld(t)
	aMonth(t, w)
	in := newSite(t, Config{Store: w.Store}).signIn("vera")
	links := numberLink.FindAllStringSubmatch(in.get("/periods/2026-11").body, -1)
	if len(links) < 15 {
		t.Fatalf("only %d numbers lead anywhere", len(links))
	}
	for _, l := range links {
		address := strings.ReplaceAll(l[1], "&amp;", "&")
		number := l[2][strings.LastIndex(l[2], ": ")+2:]
		want, err := strconv.Atoi(strings.Fields(number)[0])
		if err != nil {
			t.Fatalf("%s: %v", l[2], err)
		}
		rows, err := csv.NewReader(strings.NewReader(in.get("/export.csv" + strings.TrimPrefix(address, "/")).body)).ReadAll()
		if err != nil || len(rows)-1 != want {
			t.Errorf("%s leads to %d rows at %s: %v", l[2], len(rows)-1, address, err)
		}
	}
}

// 63. Huge sums lost their cents
func TestTrial63_AmountsOfAMonth(t *testing.T) {
	w := newWorld(t)
	aMonth(t, w)
	in := newSite(t, Config{Store: w.Store}).signIn("vera")
	a := in.get("/periods/2026-11")
	for _, want := range []string{"99,999,747,361,065.39", "12.500", "98,250.50", "5,000"} {
		if !strings.Contains(a.visible(), want) {
			t.Errorf("%s is not on the page", want)
		}
	}
	rows := monthRows(t, in, "2026-11")
	if rows["ORDER-1"]["Amount"] != "99999747361065.39" || rows["ORDER-2"]["Amount"] != "12.500" {
		t.Errorf("in the file: %v, %v", rows["ORDER-1"], rows["ORDER-2"])
	}
	book := monthBook(t, in, "2026-11")
	for _, row := range book {
		if row[2] == "ORDER-1" && row[5] != "99999747361065.39" {
			t.Errorf("in the workbook: %v", row)
		}
	}
}

// monthRows is the month's CSV file by key.
func monthRows(t *testing.T, in *browser, period string) map[string]map[string]string {
	t.Helper()
	a := in.get("/periods/" + period + "/export.csv")
	if a.status != http.StatusOK {
		t.Fatal(a.status, a.body)
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.body, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, row := range rows[1:] {
		byName := map[string]string{}
		for i, cell := range row {
			byName[rows[0][i]] = cell
		}
		out[byName["Key"]] = byName
	}
	return out
}

// monthBook is the month's workbook.
func monthBook(t *testing.T, in *browser, period string) [][]string {
	t.Helper()
	a := in.get("/periods/" + period + "/export.xlsx")
	if a.status != http.StatusOK || a.header.Get("Content-Type") != xlsxType {
		t.Fatal(a.status, a.header)
	}
	book, err := excelize.OpenReader(strings.NewReader(a.body), excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	rows, err := book.GetRows(book.GetSheetName(0))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestTheAuditorsFileSaysHowWeKnow(t *testing.T) {
	w := newWorld(t)
	aMonth(t, w)
	zone, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	in := newSite(t, Config{Store: w.Store, Zone: zone}).signIn("vera")
	rows := monthRows(t, in, "2026-11")
	if len(rows) != 15 {
		t.Errorf("%d rows", len(rows))
	}
	for key, want := range map[string]map[string]string{
		"INV-2026-11-ACME":      {"Status": "Confirmed", "How we know": "Books said so when it was sent", "Settled by": "Automation", "Number there": "INV/2026/00041", "Settled at (Europe/Paris)": "2026-11-29 11:02:12"},
		"INV-2026-11-GLOBEX":    {"Status": "Confirmed", "How we know": "Looked in Books and found it", "Settled by": "Automation"},
		"INV-2026-11-WAYNE":     {"Status": "Resolved", "How we know": "Ada Brown says that it is done", "Settled by": "Ada Brown", "Note": "I keyed it in by hand on the 28th."},
		"INV-2026-11-TYRELL":    {"Status": "Closed", "How we know": "Ada Brown decided that it will not be done", "Settled by": "Ada Brown"},
		"INV-2026-11-CYBERDYNE": {"Status": "Waiting to be sent", "How we know": "Nothing was ever sent", "Settled by": "", "Settled at (Europe/Paris)": ""},
		"INV-2026-11-SOYLENT":   {"How we know": "Every try is known to have made nothing"},
		"INV-2026-11-PIEDPIPER": {"Status": "Outcome unknown", "How we know": "Not known yet whether it is there"},
		"INV-2026-11-VANDELAY":  {"How we know": "Not known yet whether it is there"},
		"INV-2026-11-UMBRELLA":  {"Status": "Needs a person", "How we know": "A record was seen there: INV/2026/00043"},
	} {
		for name, text := range want {
			if got := rows[key][name]; got != text {
				t.Errorf("%s: %s is %q, not %q", key, name, got, text)
			}
		}
	}
	if book := monthBook(t, in, "2026-11"); len(book) != 16 || fmt.Sprint(book[0]) == "" {
		t.Errorf("%d rows in the workbook", len(book))
	}
}

// 120. No cell of the file is a formula
func TestTrial120_NoFormulaInAMonthsFile(t *testing.T) {
	w := newWorld(t)
	n := work.New{Automation: "=cmd()", BusinessKey: "+1+1", SystemID: rt.SystemID, Source: "api", Period: "2026-11", By: rt.Recorder, Invoice: rt.Invoice("@SUM(A1)", rt.Money(t, "5.00", "EUR"))}
	if got, err := w.Proven().Record(t.Context(), []work.New{n}); err != nil || got[0].Result != automation.IntakeNew {
		t.Fatal(got, err)
	}
	in := newSite(t, Config{Store: w.Store}).signIn("vera")
	if row := monthRows(t, in, "2026-11")["'+1+1"]; row["Automation"] != "'=cmd()" || row["Customer"] != "'@SUM(A1)" || row["Amount"] != "5.00" {
		t.Errorf("%v", row)
	}
	a := in.get("/periods/2026-11/export.xlsx")
	z, err := zip.NewReader(bytes.NewReader([]byte(a.body)), int64(len(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := io.ReadAll(f)
	if err != nil || bytes.Contains(sheet, []byte("<f>")) || !bytes.Contains(sheet, []byte("=cmd()")) {
		t.Errorf("%v %s", err, sheet)
	}
	if page := in.get("/periods/2026-11"); !strings.Contains(page.body, "automation="+url.QueryEscape("=cmd()")) {
		t.Error("the address of the list is not escaped")
	}
}

func TestWhatIsNoMonthIsNotFound(t *testing.T) {
	in := newSite(t, Config{Store: newWorld(t).Store}).signIn("vera")
	for _, path := range []string{"/periods/2026-13", "/periods/now", "/periods/2026-11-30", "/periods/1989-12", "/periods/<script>", "/periods/2026-13/export.csv", "/periods/x/export.xlsx"} {
		if a := in.get(strings.ReplaceAll(path, "<", "%3C")); a.status != http.StatusNotFound || a.header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	for asked, to := range map[string]string{"/periods?month=2026-10": "/periods/2026-10", "/periods?month=//evil.example": "/periods/%2F%2Fevil.example", "/periods": "/periods/2026-11"} {
		if a := in.get(asked); a.status != http.StatusSeeOther || a.location != to {
			t.Errorf("%s: %d to %s", asked, a.status, a.location)
		}
	}
}

func TestPartsOfAMonth(t *testing.T) {
	for want, n := range map[string][2]int64{"0 %": {0, 10}, "100 %": {10, 10}, "50 %": {5, 10}, "33.3 %": {1, 3}, "<0.1 %": {1, 1_000_000}, ">99.9 %": {999_999, 1_000_000}} {
		if got := part(n[0], n[1]); got != want {
			t.Errorf("%d of %d is %s, not %s", n[0], n[1], got, want)
		}
	}
}

func TestMonthsLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	run(t, ctx, signInOn(s.URL, "vera"))
	shoot(t, ctx, "month-empty", s.URL+"/periods/2026-11")
	id := putIn(t, w, "orders", "2026-10", "A", "5.00", "EUR")
	w.Send(id, rt.AcceptedAs(1))
	shoot(t, ctx, "month-complete", s.URL+"/periods/2026-10")
	aMonth(t, w)
	w.Put("Many Small Orders B.V.", rt.Money(t, "12.34", "EUR"), numbered("SMALL-", 3000)...)
	putIn(t, w, strings.Repeat("an-automation-with-a-long-name-", 4), "2026-11", "X", "1.00", "CHF")
	shoot(t, ctx, "month-open", s.URL+"/periods/2026-11")
}
