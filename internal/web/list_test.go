package web

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

var chipPattern = regexp.MustCompile(`(?s)<li><a href="([^"]*)"><bdi>(.*?)</bdi> <span aria-hidden="true">×`)

// chips are the conditions of a list in words, each with the address without it.
func (a answer) chips() map[string]string {
	out := map[string]string{}
	for _, m := range chipPattern.FindAllStringSubmatch(a.body, -1) {
		out[html.UnescapeString(m[2])] = html.UnescapeString(m[1])
	}
	return out
}

const everyCondition = "/?age=1d&assigned=nobody&automation=invoices&currency=EUR&error=timed+out&from=100&overdue=1&period=2026-11&q=INV&reason=rejected&source=import%3A7&status=review&system=books&tab=review&to=2000.50"

func TestTheAddressSaysTheWholeFilter(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	l := listQuery(listValues(everyCondition), ada, now)
	want := review.Query{Text: "INV", Tab: review.TabReview, Limit: rowsOnPage, Filter: review.Filter{Status: work.Review, Reason: work.ReasonRejected, SystemID: "books",
		Automation: "invoices", Assigned: review.AssignedNobody, Source: "import:7", Period: "2026-11", ErrorKind: "timed out", Overdue: true,
		ChangedBefore: now.Add(-24 * time.Hour), Least: "100", Most: "2000.50", Currency: "EUR"}}
	if !reflect.DeepEqual(l.query, want) || len(l.problems) != 0 {
		t.Errorf("%+v %q", l.query, l.problems)
	}
	if l.address() != everyCondition {
		t.Errorf("the address becomes %s", l.address())
	}
	f := reflect.ValueOf(want.Filter)
	for i := range f.NumField() {
		if f.Field(i).IsZero() {
			t.Errorf("no address has %s", f.Type().Field(i).Name)
		}
	}
	for address, want := range map[string]review.Tab{"/?": review.TabReview, "/?group=error": review.TabReview, "/?q=x": review.TabAll, "/?system=books": review.TabAll,
		"/?status=nonsense": review.TabAll, "/?q=x&tab=waiting": review.TabWaiting, "/?tab=nonsense": review.TabReview} {
		if l := listQuery(listValues(address), ada, now); l.query.Tab != want {
			t.Errorf("%s is the list %s", address, l.query.Tab)
		}
	}
}

func TestAmountsAreReadAsPeopleTypeThem(t *testing.T) {
	for typed, want := range map[string]string{"100": "100", "1234.50": "1234.50", "1,234.50": "1234.50", "1.234,50": "1234.50", "1 234,5": "1234.5", "1'234": "1234",
		"1,234": "1234", "1,234,567": "1234567", "1.234.567": "1234567", "1.234.567,89": "1234567.89", "12,5": "12.5", "0.05": "0.05", "99999999999999.39": "99999999999999.39",
		"1.234": "", "": "", ".5": "", "1,23,456": "", "-5": "", "1e5": "", "abc": "", "1..2": "", "1,2,3": "", "12,345.678.9": "", "NaN": "", "٣": "", "123456789012345678901": ""} {
		if got, ok := typedAmount(typed, "EUR"); ok != (want != "") || ok && got != want {
			t.Errorf("%q is read as %q, %v", typed, got, ok)
		}
	}
	if got, ok := typedAmount("1.234", "KWD"); !ok || got != "1.234" {
		t.Errorf("three decimals: %q %v", got, ok)
	}
}

// What is not understood is said and typed again; all else holds.
func TestABadValueKeepsTheRest(t *testing.T) {
	w := newWorld(t)
	w.Put("Acme", rt.Money(t, "100", "EUR"), "INV-1")
	w.Put("Acme", rt.Money(t, "900", "EUR"), "INV-2")
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	long := strings.Repeat("x", 301)
	for bad, says := range map[string]string{"status=nonsense": "There is no status “nonsense”", "reason=x": "There is no reason “x”", "age=9y": "“9y” is no age", "from=abc": "“abc” is no amount",
		"period=2026-13": "“2026-13” is no month", "period=November": "“November” is no month", "currency=EURO": "“EURO” is no currency", "overdue=perhaps": "“perhaps” was not understood",
		"after=%ff": "The place in the list was not understood", "group=colour": "Grouping by “colour” is not possible", "tab=nonsense": "There is no list “nonsense”",
		"source=" + long: "is too long", "system=%00": "is too long", "status=%3Cscript%3E": "There is no status “<script>”"} {
		a := b.get("/?tab=all&to=500&" + bad)
		if strings.HasPrefix(bad, "tab") {
			a = b.get("/?to=500&" + bad)
		}
		if a.status != http.StatusOK || !strings.Contains(a.visible(), says) || strings.Contains(a.body, "<script>") && strings.Contains(bad, "script") {
			t.Errorf("%s: %d %s", bad, a.status, a.visible())
		}
		if !strings.HasPrefix(bad, "tab") && (fmt.Sprint(a.keys()) != "[INV-1]" || a.chips()["At most 500"] == "") {
			t.Errorf("%s: %v %v", bad, a.keys(), a.chips())
		}
	}
	if a := b.get("/?tab=all&from=abc"); !strings.Contains(a.body, `name="from" value="abc"`) || !strings.Contains(a.body, "<details open>") {
		t.Error("what was typed is gone")
	}
	if a := b.get("/?tab=all&from=500&to=50"); fmt.Sprint(a.keys()) != "[INV-1]" || !strings.Contains(a.visible(), "were exchanged") {
		t.Errorf("a range from the larger to the smaller amount: %v", a.keys())
	}
}

func TestAFormsEmptyFieldsAreNotInTheAddress(t *testing.T) {
	b := newSite(t, Config{Store: newWorld(t).Store}).signIn("vera")
	if a := b.get("/?tab=all&q=&status=&from=++&system=books&after="); a.status != http.StatusSeeOther || a.location != "/?system=books&tab=all" {
		t.Errorf("%d %s", a.status, a.location)
	}
	if a := b.get("/?tab=all&q=&from=x"); a.status != http.StatusOK || !strings.Contains(a.visible(), "“x” is no amount") {
		t.Errorf("a problem is lost: %d %s", a.status, a.location)
	}
}

func TestEachConditionCanBeTakenAway(t *testing.T) {
	b := newSite(t, Config{Store: newWorld(t).Store}).signIn("vera")
	a := b.get(everyCondition)
	chips := a.chips()
	if len(chips) != len(conditions) {
		t.Fatalf("%d chips: %v", len(chips), chips)
	}
	for chip, address := range chips {
		rest := b.get(address).chips()
		if len(rest) != len(chips)-1 || rest[chip] != "" || !strings.Contains(address, "q=INV") || !strings.Contains(address, "tab=review") {
			t.Errorf("without %q %d are left: %s", chip, len(rest), address)
		}
	}
	if !strings.Contains(a.visible(), "Nothing matches these filters") || !strings.Contains(a.body, `href="/?q=INV&amp;tab=all"`) {
		t.Errorf("no way out: %s", a.visible())
	}
}

// An outage looks like one thing, and each group leads to exactly its invoices.
func TestGroupsOfTheSameError(t *testing.T) {
	w := newWorld(t)
	fail := func(n int, prefix, number string, what func(id int64)) {
		for _, id := range w.Put("Acme", rt.Money(t, number, "EUR"), numbered(prefix, n)...) {
			w.Until(id, func() { what(id) })
		}
	}
	fail(55, "DOWN-", "10", func(id int64) {
		if w.Get(id).Sends == 0 {
			w.Send(id, rt.NoAnswer)
		} else {
			w.Find(id, rt.CannotTell)
		}
	})
	fail(3, "NO-", "20", func(id int64) { w.Send(id, rt.Refused) })
	for i, id := range w.Put("Acme", rt.Money(t, "30", "EUR"), numbered("HELD-", 3)...) { // the same reason, with an error and without
		if i == 0 {
			w.Send(id, rt.Refused)
		}
		w.Happen(id, work.Hold{By: ada, Note: "n"})
	}
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	if a := b.get("/"); !strings.Contains(a.body, `href="/?group=error&amp;tab=review"`) || !strings.Contains(a.visible(), "61 invoices") {
		t.Error("grouping is not offered")
	}
	if a := b.get("/?system=books&tab=review&to=20&from=20"); strings.Contains(a.visible(), "Group by error") {
		t.Error("grouping is offered for one page")
	}
	a := b.get("/?group=error&tab=review")
	if !strings.Contains(a.visible(), "55 of 61 have the same trouble in Books") {
		t.Error(a.visible())
	}
	groups := regexp.MustCompile(`(?s)class="key"><a href="([^"]*)">.*?class="number many">(\d+)`).FindAllStringSubmatch(a.body, -1)
	if len(groups) != 4 || groups[0][2] != "55" || groups[1][2] != "3" || groups[2][2] != "2" {
		t.Fatalf("%v", groups)
	}
	for _, g := range groups {
		if keys := b.listed(html.UnescapeString(g[1])); fmt.Sprint(len(keys)) != g[2] {
			t.Errorf("%s leads to %d, not %s", g[1], len(keys), g[2])
		}
	}
	if a := b.get("/?group=error&tab=review&q=NO-"); !strings.Contains(a.visible(), "Show single invoices") || strings.Contains(a.visible(), "same trouble") {
		t.Error(a.visible())
	}
}

// Who may not act gets no tick boxes; who may carries the whole filter along.
func TestTicksCarryTheList(t *testing.T) {
	w := newWorld(t)
	id := w.One("INV-1")
	w.Put("Acme", rt.Money(t, "5", "EUR"), numbered("MANY-", 60)...)
	s := newSite(t, Config{Store: w.Store})
	for _, who := range []string{"vera", "otto"} {
		if a := s.signIn(who).get("/?tab=all"); strings.Contains(a.body, `type="checkbox" name="item"`) || strings.Contains(a.body, "/bulk/new") {
			t.Errorf("%s may tick", who)
		}
	}
	b := s.signIn("ada")
	a := b.get("/?tab=all&q=INV-1&system=books")
	form := a.form("/bulk/new")
	if form == nil || form.Get("list") != "/?q=INV-1&system=books&tab=all" || !strings.Contains(a.body, fmt.Sprintf(`name="item" value="%d" aria-label="Tick INV-1"`, id)) {
		t.Errorf("%v %s", form, a.body)
	}
	first := b.get("/?tab=all&q=MANY")
	next := b.get(html.UnescapeString(nextOnList.FindStringSubmatch(first.body)[1]))
	for _, page := range []answer{first, next} {
		if form := page.form("/bulk/new"); form.Get("list") != "/?q=MANY&tab=all" || !strings.Contains(page.visible(), "With all 60 that match…") || !strings.Contains(page.visible(), "60 invoices") {
			t.Errorf("%v", form)
		}
	}
	it := w.Get(id)
	if !strings.Contains(a.body, fmt.Sprintf(`<tr id="row-%d" data-version="%d">`, id, it.Version)) || !strings.Contains(a.body, `data-live="list"`) || !strings.Contains(a.body, `data-count="review"`) {
		t.Error("the page cannot be kept up to date")
	}
}

func TestARowSaysWhyItIsThere(t *testing.T) {
	w := newWorld(t)
	ids := stories(t, w)
	w.Happen(ids["rejected"], work.Assign{By: ada, To: "Ben Stone"})
	b := newSite(t, Config{Store: w.Store}).signIn("ben")
	a := b.get("/")
	for _, want := range []string{"It was refused and is not there.", "Customer C-1001 is blocked for invoicing", "Ben Stone", "It may be there: we could not look.", "A record is there, but it differs.",
		"Total 16.99 EUR instead of 15.99 EUR", "a colleague must approve it."} {
		if !strings.Contains(a.visible(), want) {
			t.Errorf("%q is missing: %s", want, a.visible())
		}
	}
	if a := b.get("/?tab=review&assigned=me"); fmt.Sprint(a.keys()) != "[INV-2026-11-INITECH]" {
		t.Errorf("mine: %v", a.keys())
	}
	if err := w.Pause(t.Context(), rt.SystemID, rt.Recorder, "month end"); err != nil {
		t.Fatal(err)
	}
	w.Later(100 * 24 * time.Hour)
	if a := b.get("/?tab=waiting"); !strings.Contains(a.visible(), "Overdue: Books is paused") || !strings.Contains(a.visible(), "Not sent yet: Books takes nothing at the moment.") {
		t.Error(a.visible())
	}
	if a := b.get("/?tab=review&overdue=1"); !strings.Contains(a.visible(), "Overdue: waits for a person") {
		t.Error(a.visible())
	}
	for _, tab := range tabs {
		if a := b.get("/?tab=" + string(tab)); strings.Contains(a.visible(), "{") || !strings.Contains(a.body, fmt.Sprintf(`data-count="%s">%d<`, tab, len(b.listed("/?tab="+string(tab))))) {
			t.Errorf("the tab %s", tab)
		}
	}
}

func TestSavedViews(t *testing.T) {
	w := newWorld(t)
	ids := stories(t, w)
	w.Happen(ids["rejected"], work.Assign{By: ada, To: "Ada Brown"})
	w.Happen(ids["mismatch"], work.Assign{By: ada, To: "Ben Stone"})
	s := newSite(t, Config{Store: w.Store})
	one, two, viewer, admin := s.signIn("ada"), s.signIn("ben"), s.signIn("vera"), s.signIn("admin")
	save := func(b *browser, at, name, shared string) answer {
		form := b.get(at).form("/views")
		form.Set("name", name)
		form.Del("shared")
		if shared != "" {
			form.Set("shared", shared)
		}
		return b.post("/views", form)
	}
	if a := save(one, "/?tab=review&assigned=me", "Mine <b>", "1"); a.status != http.StatusSeeOther || a.location != "/?assigned=me&did=view-saved&tab=review" {
		t.Fatalf("%d %s %s", a.status, a.location, a.visible())
	}
	if a := one.get("/?assigned=me&did=view-saved&tab=review"); !strings.Contains(a.visible(), "The view was saved.") || strings.Contains(a.body, "<b>") || !strings.Contains(a.visible(), "Mine <b>") {
		t.Error(a.visible())
	}
	view := regexp.MustCompile(`<li><a href="([^"]*)"[^>]*><bdi>Mine`)
	for b, want := range map[*browser]string{one: "[INV-2026-11-INITECH]", two: "[INV-2026-11-UMBRELLA]", viewer: "[]"} { // everybody's own
		m := view.FindStringSubmatch(b.get("/").body)
		if m == nil {
			t.Fatal("the shared view is not there")
		}
		if got := fmt.Sprint(b.get(html.UnescapeString(m[1])).keys()); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	save(one, "/?tab=closed", "Private", "")
	if a := two.get("/"); strings.Contains(a.visible(), "Private") {
		t.Error("a private view is shown to others")
	}
	if a := save(viewer, "/?tab=all", "For all", "1"); a.status != http.StatusForbidden {
		t.Errorf("a viewer shares: %d", a.status)
	}
	if a := save(viewer, "/?tab=all", "My own", ""); a.status != http.StatusSeeOther {
		t.Errorf("a viewer saves: %d", a.status)
	}
	if a := save(one, "/?tab=all&system=books", strings.Repeat("n", 61), "1"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, strings.Repeat("n", 61)) ||
		!strings.Contains(a.visible(), "at most 60 characters") || a.form("/views").Get("address") != "/?system=books&tab=all" {
		t.Errorf("a long name: %d %s", a.status, a.visible())
	}
	form := one.get("/").form("/views") // no view leads elsewhere
	form.Set("name", "Elsewhere")
	form.Del("shared")
	form.Set("address", "//evil.example/?tab=all")
	if a := one.post("/views", form); strings.Contains(a.location, "evil") || strings.Contains(one.get("/").body, "evil") {
		t.Error(a.location)
	}

	remove := regexp.MustCompile(`action="(/views/\d+/delete)"`)
	if found := remove.FindAllString(two.get("/").body, -1); len(found) > 0 {
		t.Errorf("another's view may be removed: %v", found)
	}
	all := remove.FindAllStringSubmatch(one.get("/").body, -1)
	if len(all) != 3 {
		t.Fatalf("%v", all)
	}
	for _, m := range all {
		if a := two.post(m[1], two.get("/").form("/views")); a.status != http.StatusNotFound {
			t.Errorf("another's view: %d", a.status)
		}
	}
	shared := remove.FindStringSubmatch(admin.get("/").body)
	if shared == nil {
		t.Fatal("an admin cannot remove a shared view")
	}
	if a := admin.post(shared[1], admin.get("/?tab=closed").form("/views")); a.location != "/?did=view-deleted&tab=closed" {
		t.Errorf("%d %s", a.status, a.location)
	}
	if view.MatchString(two.get("/").body) {
		t.Error("the view is still there")
	}
	if a := one.post(all[0][1], url.Values{csrfField: {"nonsense"}}); a.status != http.StatusForbidden {
		t.Errorf("without a good token: %d", a.status)
	}
}

// Trial 115: the name of a view that was typed into a page left open is there again.
func TestTrial115_TheNameOfAView(t *testing.T) {
	w, s := overnight(t)
	b := s.signIn("ada")
	form := b.get("/?tab=all&system=books").form("/views")
	form.Set("name", "Books, all of it")
	w.Later(14 * time.Hour)
	a := b.with(http.MethodPost, "/views", form, "Referer", s.URL+"/?tab=all&system=books")
	const page = "/?tab=all&system=books"
	if a.location != "/login?next="+url.QueryEscape(page) {
		t.Fatalf("%d %s", a.status, a.location)
	}
	b.again("ada", page)
	got := b.get(page)
	if !strings.Contains(got.body, `value="Books, all of it"`) || !strings.Contains(got.visible(), "What you typed is here again") {
		t.Error(got.visible())
	}
	if views, err := w.Views(t.Context(), 1, "1"); err != nil || len(views) != 0 {
		t.Errorf("saved without a session: %v %v", views, err)
	}
}

// Trial 121: names in the tools of the list and in the boxes to tick.
func TestTrial121_NamesOnTheListsTools(t *testing.T) {
	w := newWorld(t)
	id := w.Put(evil, rt.Money(t, "1", "EUR"), `INV-"><img src=x>`)[0]
	w.Send(id, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: evil}})
	w.Until(id, func() {
		w.Send(id, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: evil}})
	})
	w.Happen(id, work.Assign{By: ada, To: evil})
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	at := "/?tab=all&" + url.Values{"q": {evil}, "system": {evil}, "automation": {evil}, "assigned": {evil}, "source": {evil}, "error": {evil}, "from": {evil}, "status": {evil}, "group": {evil}, "after": {evil}}.Encode()
	form := b.get("/?tab=review").form("/views")
	form.Set("name", `"><img src=x onerror=1>`)
	form.Set("address", at)
	b.post("/views", form)
	for _, path := range []string{"/?tab=review", "/?tab=all", "/?tab=review&group=error", at} {
		if a := b.get(path); a.status != http.StatusOK || strings.Contains(a.body, "<img") || strings.Contains(a.body, "<script>") || !strings.Contains(a.body, "&lt;img") {
			t.Errorf("%s: %d, markup takes effect or is not shown", path, a.status)
		}
	}
	if size := len(b.get("/?tab=review").body); size > 100_000 {
		t.Errorf("%d bytes", size)
	}
}
