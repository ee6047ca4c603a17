package web

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
	"onefold/web/templates"
)

var attemptRowPattern = regexp.MustCompile(`<tr id="row-(\d+-\d+)"`)

// attempts are the rows of a list, as item and number.
func (a answer) attempts() (list []string) {
	for _, m := range attemptRowPattern.FindAllStringSubmatch(a.body, -1) {
		list = append(list, m[1])
	}
	return list
}

const everyAttemptCondition = "/attempts?asked=person%3Aada&automation=invoices&from=2026-11-29&kind=send&longer=1+s&node=one&q=INV&result=rejected&status=4xx&system=books&to=2026-11-29+10%3A30"

func TestTheAddressSaysWhichAttempts(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	read := func(address string) attemptListing {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return attemptQuery(u.Query(), ada, zone)
	}
	l := read(everyAttemptCondition)
	want := review.AttemptQuery{Key: "INV", SystemID: "books", Automation: "invoices", Kind: review.KindSend, Result: "rejected", StatusFrom: 400, StatusTo: 499, Node: "one",
		AskedBy: "person:ada", From: time.Date(2026, 11, 29, 0, 0, 0, 0, zone), To: time.Date(2026, 11, 29, 10, 31, 0, 0, zone), Longer: time.Second, Limit: rowsOnPage}
	if !reflect.DeepEqual(l.query, want) || len(l.problems) != 0 || l.address() != everyAttemptCondition {
		t.Errorf("%+v %q\n%s", l.query, l.problems, l.address())
	}
	// Days are those of the zone; the night job at one in the morning is of its own day.
	if l := read("/attempts?from=2026-11-13&to=2026-11-13"); l.query.From.UTC().Format(time.DateTime) != "2026-11-12 23:00:00" || l.query.To.Sub(l.query.From) != 24*time.Hour {
		t.Errorf("%v to %v", l.query.From, l.query.To)
	}
	if l := read("/attempts?from=2026-11-13&to=2026-11-11"); l.query.From.Day() != 11 || l.query.To.Day() != 14 || len(l.problems) != 1 {
		t.Errorf("%v to %v, %q", l.query.From, l.query.To, l.problems)
	}
	if l := read("/attempts?asked=me&status=none"); l.query.AskedBy != "person:ada" || !l.query.NoStatus {
		t.Errorf("%+v", l.query)
	}
	for _, c := range []review.AttemptCursor{{At: time.Date(2026, 11, 29, 10, 0, 0, 123456000, time.UTC), ItemID: 1 << 50, Number: 8000}} {
		if got := read(l.from(c)); got.query.After != c {
			t.Errorf("%+v becomes %+v", c, got.query.After)
		}
	}
	for _, bad := range []string{"kind=x", "result=queued", "status=99", "status=6xx", "status=-1", "longer=5", "longer=0+s", "longer=99999999+days", "from=yesterday", "to=2026-13-01", "asked=Ada",
		"after=1.2", "after=zzzzzzzzzzzzz.1.1", "after=-1.1.1", "node=" + strings.Repeat("n", 301), "system=%00", "kind=" + url.QueryEscape(strings.Repeat("ä", 400))} {
		l := read("/attempts?" + bad)
		if len(l.problems) != 1 || strings.ContainsAny(l.problems[0], "{}") || !reflect.DeepEqual(l.query, review.AttemptQuery{Limit: rowsOnPage}) {
			t.Errorf("%s: %q %+v", bad, l.problems, l.query)
		}
	}
}

// Each attempt of any item is on the page and in the file, by one filter; only what was asked for.
func TestAttemptsAreListedFilteredAndExported(t *testing.T) {
	w := newWorld(t)
	people := accounts(t)
	s := newSite(t, Config{Store: w.Store, Auth: people})
	b := s.signIn("vera")
	if a := b.get("/attempts"); !strings.Contains(a.visible(), templates.Attempts.Empty) {
		t.Errorf("empty: %s", a.visible())
	}
	ids := stories(t, w)
	if a := b.get("/attempts?q=inv-2026&status=418").visible(); strings.Contains(a, "begin with it") {
		t.Errorf("nothing is there, and said to begin so: %s", a)
	}
	for _, tc := range []struct {
		query string
		in    func(r work.Attempt, key string) bool
	}{
		{"", func(work.Attempt, string) bool { return true }},
		{"kind=find", func(a work.Attempt, _ string) bool { return review.KindOf(a) == review.KindFind }},
		{"result=rejected", func(a work.Attempt, _ string) bool { return a.Outcome == work.Rejected }},
		{"status=5xx", func(a work.Attempt, _ string) bool { return a.HTTPStatus/100 == 5 }},
		{"status=400", func(a work.Attempt, _ string) bool { return a.HTTPStatus == 400 }},
		{"q=inv-2026-11-initech", func(_ work.Attempt, key string) bool { return key == "INV-2026-11-INITECH" }},
		{"q=INV-2026-11-I&kind=send", func(a work.Attempt, key string) bool {
			return strings.HasPrefix(key, "INV-2026-11-I") && review.KindOf(a) == review.KindSend
		}},
		{"longer=1500+ms", func(a work.Attempt, _ string) bool {
			return !a.EndedAt.IsZero() && a.EndedAt.Sub(a.StartedAt) > 1500*time.Millisecond || a.EndedAt.IsZero()
		}},
		{"node=other", func(work.Attempt, string) bool { return false }},
	} {
		var want, lines []string
		for _, id := range ids {
			list, err := w.Attempts(t.Context(), id, 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range list {
				if tc.in(a, w.Get(id).BusinessKey) {
					want = append(want, fmt.Sprintf("%d-%d", id, a.Number))
					lines = append(lines, fmt.Sprintf("%s/%d", w.Get(id).BusinessKey, a.Number))
				}
			}
		}
		var got []string
		for path := "/attempts?" + tc.query; path != ""; {
			a := b.get(path)
			got, path = append(got, a.attempts()...), ""
			if m := nextOnList.FindStringSubmatch(a.body); m != nil {
				path = strings.ReplaceAll(m[1], "&amp;", "&")
			}
		}
		_, rows := b.get("/attempts.csv?" + tc.query).table(t)
		var file []string
		for _, r := range rows {
			file = append(file, r["key"]+"/"+r["attempt"])
		}
		slices.Sort(want)
		slices.Sort(got)
		slices.Sort(file)
		slices.Sort(lines)
		if !slices.Equal(got, want) || !slices.Equal(file, lines) {
			t.Errorf("%s: %d on pages and %d in the file, want %d", tc.query, len(got), len(file), len(want))
		}
		if (len(want) == 0) != (tc.query == "node=other") {
			t.Errorf("%s says nothing: %d", tc.query, len(want))
		}
	}
	if a := b.get("/attempts.csv?status=nonsense"); a.status != http.StatusBadRequest {
		t.Errorf("a file of what was not understood: %d", a.status)
	}
	page, err := people.AuditPage(t.Context(), boss, auth.AuditFilter{What: []string{auth.DidExport}, Object: "attempts"})
	if err != nil || len(page.Records) != 9 || !strings.HasPrefix(page.Records[0].Note, "/attempts") {
		t.Errorf("on record: %+v %v", page.Records, err)
	}
}

// Texts of an accounting system neither run in a page nor in a spreadsheet, and what is large is in no list.
func TestAnAttemptIsShownWithoutRunningIt(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One(`=INV"><script>alert(1)</script>`)
	w.Send(id, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: `=cmd|'/c calc'!A1 <img src=x onerror=alert(1)> ` + strings.Repeat("ü", 500),
		Response: "HTTP 400\n\n</pre><script>alert(2)</script>"}})
	b := s.signIn("vera")
	list, detail := b.get("/attempts"), b.get(fmt.Sprintf("/attempts/%d/1", id))
	for name, a := range map[string]answer{"list": list, "detail": detail} {
		if a.status != http.StatusOK || strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "<img src=x") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if strings.Contains(list.body, "alert(2)") || strings.Contains(list.body, strings.Repeat("ü", 200)) || !strings.Contains(detail.body, strings.Repeat("ü", 200)) {
		t.Error("a list is short, and the attempt's page is not")
	}
	for _, want := range []string{"Refused", "Nothing was made by this attempt", "POST /invoices"} {
		if !strings.Contains(detail.body, want) {
			t.Errorf("no %q: %s", want, detail.visible())
		}
	}
	_, rows := b.get("/attempts.csv").table(t)
	if len(rows) != 1 || rows[0]["key"][0] == '=' || rows[0]["error"][0] == '=' {
		t.Errorf("%v", rows)
	}
	for _, path := range []string{"/2", "/0", "/-1", "/9999999999", "/x"} {
		if a := b.get(fmt.Sprintf("/attempts/%d%s", id, path)); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if a := b.get("/attempts/999999/1"); a.status != http.StatusNotFound {
		t.Errorf("another's: %d", a.status)
	}
}

// An open attempt is listed as such; once it is over the same row says so, and its place is the same.
func TestAnOpenAttemptKeepsItsPlace(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One("INV-1")
	it := w.Claim(id)
	b := s.signIn("vera")
	row := fmt.Sprintf(`<tr id="row-%d-1" data-version=%%q>`, id)
	if a := b.get("/attempts?result=open"); !strings.Contains(a.body, fmt.Sprintf(row, "open")) {
		t.Errorf("open: %s", a.visible())
	}
	if a := b.get(fmt.Sprintf("/attempts/%d/1", id)); !strings.Contains(a.visible(), templates.Attempts.Judged["open"]) {
		t.Errorf("open: %s", a.visible())
	}
	w.Later(time.Second)
	w.Happen(id, work.SendClosed{Attempt: it.OpenAttempt, Ended: w.Clock(), Answer: rt.AcceptedAs(7)})
	other := w.One("INV-2")
	w.Send(other, rt.AcceptedAs(8))
	if got := b.get("/attempts").attempts(); !slices.Equal(got, []string{fmt.Sprintf("%d-1", other), fmt.Sprintf("%d-1", id)}) {
		t.Errorf("%v", got)
	}
	if a := b.get("/attempts"); !strings.Contains(a.body, fmt.Sprintf(row, "accepted")) {
		t.Errorf("over: %s", a.visible())
	}
}

// Every result and every kind has its words, its sign and what it means, and none is one that staff do not know.
func TestEveryAttemptHasWords(t *testing.T) {
	w := templates.Attempts
	for _, r := range attemptResults {
		if w.Badge[r] == "" || w.Sign[r] == "" || w.Tone[r] == "" || w.Judged[r] == "" {
			t.Errorf("%s has no words", r)
		}
	}
	for _, k := range review.AttemptKinds {
		if w.Name[string(k)] == "" {
			t.Errorf("%s has no words", k)
		}
	}
	v := reflect.ValueOf(w)
	for i := range v.NumField() {
		texts := []string{v.Field(i).String()}
		if v.Field(i).Kind() == reflect.Map {
			texts = nil
			for _, key := range v.Field(i).MapKeys() {
				texts = append(texts, v.Field(i).MapIndex(key).String())
			}
		}
		for _, text := range texts {
			if found := forbidden.FindString(text); found != "" {
				t.Errorf("%s: %q", found, text)
			}
		}
	}
}
