package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/notice"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// reachable is a world of which everybody can be told.
func reachable(t *testing.T) (*rt.World, *site, *int) {
	t.Helper()
	w, woken := newWorld(t), 0
	return w, newSite(t, Config{Store: w.Store, Notices: notice.Setup{Mail: true, Webhooks: []string{"finance"}, PublicURL: "https://onefold.example", Wake: func() { woken++ }}}), &woken
}

func TestNoticeSettingsAreKept(t *testing.T) {
	w, s, _ := reachable(t)
	other := work.System{ID: "other", CompanyID: 1, Name: "Other books", Adapter: "sandbox", Address: "http://127.0.0.1:1", Policy: work.DefaultPolicy(),
		Capabilities: work.Capabilities{Searchable: true}, Steps: []string{"create"}, MaxInFlight: 8}
	if err := w.DeclareSystem(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	b := s.signIn("ada")
	page := b.get("/profile")
	if !strings.Contains(page.visible(), "this is what your roles suggest") || !strings.Contains(page.visible(), "Without an e-mail address") {
		t.Error(page.visible())
	}
	f := page.form("/profile/notices")
	f["items"], f["hour"], f["mine"], f["system"] = []string{"daily"}, []string{"17"}, []string{"yes"}, []string{"other"}
	f.Del("alerts")
	if a := b.post("/profile/notices", f); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	set, chosen, err := w.NoticeSettings(t.Context(), 2)
	if err != nil || !chosen || set.Items != notice.Daily || set.Hour != 17 || !set.Mine || set.Alerts || len(set.Systems) != 1 || set.Systems[0] != "other" {
		t.Errorf("%+v %v", set, err)
	}
	page = b.get("/profile")
	for _, want := range []string{`value="daily" checked`, `value="17" selected`, `value="other" checked`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	// What is refused stays as it was typed, and nothing is saved.
	f["system"], f["hour"] = []string{"nowhere"}, []string{"9"}
	if a := b.post("/profile/notices", f); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "Choose at least one accounting system") ||
		!strings.Contains(a.body, `value="9" selected`) {
		t.Errorf("%d %s", a.status, a.visible())
	}
	f["system"], f["items"] = []string{"books", "other"}, []string{"hourly"}
	if a := b.post("/profile/notices", f); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "Choose when") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	if set, _, err = w.NoticeSettings(t.Context(), 2); err != nil || set.Hour != 17 {
		t.Errorf("%+v %v", set, err)
	}
	f["items"] = []string{"off"}
	b.post("/profile/notices", f)
	if set, _, err = w.NoticeSettings(t.Context(), 2); err != nil || set.Items != notice.Off || set.Systems != nil {
		t.Errorf("all systems are not kept as all: %+v %v", set, err)
	}
}

func TestEmailAddressIsChecked(t *testing.T) {
	_, s, _ := reachable(t)
	b := s.signIn("ada")
	form := func() url.Values { return b.get("/profile").form("/profile/email") }
	for _, bad := range []string{"ada", "Ada <ada@example.com>", "ada@example.com\r\nBcc: all@example.com", "a@b@example.com", "ada@localhost", strings.Repeat("x", 250) + "@example.com", `"><script>@example.com`} {
		f := form()
		f.Set("email", bad)
		a := b.post("/profile/email", f)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "not an e-mail address") || strings.Contains(a.body, `"><script>@`) {
			t.Errorf("%q: %d", bad, a.status)
		}
		if bad == "ada@localhost" && !strings.Contains(a.body, `value="ada@localhost"`) {
			t.Error("what was typed is lost")
		}
	}
	f := form()
	f.Set("email", " ada@example.com ")
	if a := b.post("/profile/email", f); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if form().Get("email") != "ada@example.com" {
		t.Error("the address was not saved")
	}
	// An admin may change it, on record; nobody else may.
	admin := s.signIn("admin")
	f = admin.get("/people/2").form("/people/2/email")
	if f.Get("email") != "ada@example.com" {
		t.Errorf("%v", f)
	}
	f.Set("email", "nonsense")
	if a := admin.post("/people/2/email", f); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `value="nonsense"`) {
		t.Errorf("%d", a.status)
	}
	f.Set("email", "")
	if a := admin.post("/people/2/email", f); a.status != http.StatusSeeOther || form().Get("email") != "" {
		t.Errorf("%d", a.status)
	}
	if a := admin.get("/audit?what=email_changed"); strings.Count(a.body, "<tr>") != 3 || !strings.Contains(a.visible(), "Changed an e-mail address") {
		t.Errorf("%s", a.visible())
	}
	own := b.get("/profile").form("/profile/email")
	own.Set("email", "x@example.com")
	if a := b.post("/people/3/email", own); a.status != http.StatusForbidden {
		t.Errorf("a colleague's address: %d", a.status)
	}
}

func TestTestMessage(t *testing.T) {
	w, s, woken := reachable(t)
	b := s.signIn("ada")
	test := func() answer { return b.post("/profile/notices/test", b.get("/profile").form("/profile/notices/test")) }
	if a := test(); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "Save your e-mail address first") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	f := b.get("/profile").form("/profile/email")
	f.Set("email", "ada@example.com")
	b.post("/profile/email", f)
	if a := test(); a.status != http.StatusSeeOther || *woken != 1 {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := test(); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "less than a minute ago") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	if a := b.get("/profile"); !strings.Contains(a.visible(), "On its wayTest message from Onefold") {
		t.Errorf("%s", a.visible())
	}
	d, err := w.ClaimNotice(t.Context(), "one", time.Minute, true, nil)
	if err != nil || d == nil {
		t.Fatal(err)
	}
	d.Status, d.ClosedAt, d.LastError = notice.Failed, w.Clock(), "no such <b>mailbox</b>"
	if err := w.CloseNotice(t.Context(), "one", *d); err != nil {
		t.Fatal(err)
	}
	if a := b.get("/profile"); !strings.Contains(a.visible(), "Not deliveredTest message from Onefold") || !strings.Contains(a.visible(), "no such <b>mailbox</b>") {
		t.Errorf("%s", a.visible())
	}
	if a := s.signIn("ben").get("/profile"); strings.Contains(a.visible(), "Not delivered") {
		t.Error("a colleague sees it")
	}
	if a := s.signIn("admin").get("/notices"); a.status != http.StatusOK || !strings.Contains(a.visible(), "ada@example.com") || !strings.Contains(a.visible(), "Chat channels: finance") {
		t.Errorf("%d %s", a.status, a.visible())
	}
}

func TestWithoutAMailServerThePagesSayHow(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	b := s.signIn("admin")
	if a := b.get("/notices"); !strings.Contains(a.visible(), "No mail server is set up") || !strings.Contains(a.body, "--smtp-host") {
		t.Errorf("%s", a.visible())
	}
	page := b.get("/profile")
	if !strings.Contains(page.visible(), "No mail server is set up, so no e-mails are sent") {
		t.Errorf("%s", page.visible())
	}
	if a := b.post("/profile/notices/test", page.form("/profile/notices/test")); a.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", a.status)
	}
}

// What a message links to is a list that pages understand.
func TestLinksOfMessagesLeadToTheList(t *testing.T) {
	w := newWorld(t)
	_, err := w.AddUser(t.Context(), auth.User{CompanyID: 1, Login: "ada", Name: "Ada Brown", Email: "ada@example.com", Roles: []work.Role{work.Operator}, PasswordHash: "x", CreatedAt: w.Clock()}, false, auth.Change{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"INV-1", "INV-2"} {
		id := w.One(key)
		w.Until(id, func() { w.Send(id, rt.Refused) })
	}
	w.Happen(w.One("INV-3"), work.Hold{By: rt.Recorder, Note: "stop"})
	box := &mailbox{}
	loop := notice.NewLoop(notice.Config{Store: w.Store, Node: "one", Mail: box, Words: MessageWords(), PublicURL: "https://onefold.example", Gather: -1})
	w.Later(time.Minute)
	if err := loop.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(box.got) != 1 || len(box.got[0].Lines) != 2 {
		t.Fatalf("%+v", box.got)
	}
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	path := func(link string) string { return strings.TrimPrefix(link, "https://onefold.example") }
	group := b.get(path(box.got[0].Lines[0].Link))
	if v := group.visible(); group.status != http.StatusOK || !strings.Contains(v, "INV-1") || !strings.Contains(v, "INV-2") || strings.Contains(v, "INV-3") {
		t.Errorf("%s: %s", box.got[0].Lines[0].Link, v)
	}
	if a := b.get(path(box.got[0].Lines[1].Link)); a.status != http.StatusOK || !strings.Contains(a.visible(), "INV-3") {
		t.Errorf("%s: %s", box.got[0].Lines[1].Link, a.visible())
	}
	if a := b.get(path(box.got[0].Link)); a.status != http.StatusOK || !strings.Contains(a.visible(), "INV-3") || !strings.Contains(a.visible(), "INV-1") {
		t.Errorf("%s", box.got[0].Link)
	}
}
