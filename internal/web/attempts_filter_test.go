package web

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
	"onefold/web/templates"
)

// shallow is a store in which one page of attempts looks through very few.
type shallow struct {
	Store
	through int
	looks   *int
}

func (s shallow) AttemptList(ctx context.Context, q review.AttemptQuery) (review.AttemptPage, error) {
	*s.looks++
	looked, err := s.Store.AttemptList(ctx, review.AttemptQuery{CompanyID: q.CompanyID, After: q.After, Limit: s.through})
	if err != nil {
		return looked, err
	}
	page, err := s.Store.AttemptList(ctx, q)
	if err != nil || page.How == review.HowNone || looked.Next == (review.AttemptCursor{}) {
		return page, err
	}
	page.Rows = slices.DeleteFunc(page.Rows, func(r review.AttemptRow) bool {
		return !slices.ContainsFunc(looked.Rows, func(l review.AttemptRow) bool { return l.ItemID == r.ItemID && l.Number == r.Number })
	})
	page.Next, page.Further = review.AttemptCursor{}, looked.Next
	return page, err
}

// fewAndOld is a world in which two attempts were refused, long before all others, and its pages of which one looks through ten.
func fewAndOld(t *testing.T) (w *rt.World, s *site, looks *int) {
	t.Helper()
	w, looks = newWorld(t), new(int)
	id := w.One("INV-OLD")
	w.Send(id, rt.Refused)
	for _, id := range w.Put("Acme Holdings Ltd", rt.Money(t, "1234.50", "EUR"), numbered("INV-2026-12-", 60)...) {
		w.Later(time.Second)
		w.Send(id, rt.AcceptedAs(int(id)+1000))
	}
	w.Later(time.Second)
	w.Send(w.One("INV-NEW"), rt.Refused)
	return w, newSite(t, Config{Store: shallow{w.Store, 10, looks}}), looks
}

// Whoever looks for what is rare sees at once how far was looked, and one click leads to the next that there is.
func TestOneClickLooksFurtherBackToTheNextAttempt(t *testing.T) {
	_, s, looks := fewAndOld(t)
	b := s.signIn("vera")
	further := func(a answer) string {
		t.Helper()
		m := nextOnList.FindStringSubmatch(a.body)
		if m == nil {
			t.Fatalf("no way on: %s", a.visible())
		}
		return html.UnescapeString(m[1])
	}
	*looks = 0
	first := b.get("/attempts?result=rejected")
	if len(first.attempts()) != 1 || *looks != 1 || !strings.Contains(first.visible(), "Looked through the attempts back to") {
		t.Fatalf("first: %v after %d looks: %s", first.attempts(), *looks, first.visible())
	}
	*looks = 0
	moved := b.get(further(first))
	if *looks != 6 || strings.Contains(moved.location, "further") || !strings.Contains(moved.location, "result=rejected") {
		t.Fatalf("%d looks, to %q", *looks, moved.location)
	}
	*looks = 0
	if last := b.get(moved.location); !slices.Equal(last.attempts(), []string{"1-1"}) || *looks != 1 {
		t.Errorf("%v after %d looks: %s", last.attempts(), *looks, last.visible())
	}
	none := b.get("/attempts?result=unknown")
	if len(none.attempts()) != 0 || !strings.Contains(none.visible(), "None among the attempts back to") {
		t.Errorf("none: %s", none.visible())
	}
	end := b.get(b.get(further(none)).location)
	if len(end.attempts()) != 0 || !strings.Contains(end.visible(), templates.Attempts.NoOlder) {
		t.Errorf("at the end: %s", end.visible())
	}
}

var askedLink = regexp.MustCompile(`<td class="asked"[^>]*><a href="([^"]*)"><bdi>([^<]*)`)

// Whoever asked for an attempt: their name leads to what they asked for and nothing else, for each role that sees it, and can
// be chosen, also after they have left.
func TestEachWhoAskedCanBeChosen(t *testing.T) {
	w := newWorld(t)
	people := accounts(t)
	left, err := people.UserByLogin(t.Context(), boss, "ben")
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := people.CreateToken(t.Context(), boss, auth.Origin{}, auth.NewToken{Name: "Shop", Scopes: []auth.Scope{auth.ItemsRead}, Lasts: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := people.SetDisabled(t.Context(), boss, auth.Origin{}, left.ID, true); err != nil {
		t.Fatal(err)
	}
	if err := people.RevokeToken(t.Context(), boss, auth.Origin{}, token.ID); err != nil {
		t.Fatal(err)
	}
	asked := map[string]string{}
	for i, who := range []work.Actor{left.Actor(), {Kind: work.Token, ID: strconv.FormatInt(token.ID, 10), Name: "Shop"},
		{Kind: work.Automation, ID: "notice:" + rt.SystemID, Name: "Notice from " + rt.SystemID}, {Kind: work.Console, ID: "console", Name: "console"}} {
		id := w.One(fmt.Sprintf("INV-%d", i))
		w.Send(id, rt.NoAnswer)
		w.Happen(id, work.Check{By: who})
		w.Later(time.Hour)
		w.Find(id, rt.FoundAs(40+i))
		asked[askedBy(who)] = fmt.Sprintf("%d-2", id)
	}
	s := newSite(t, Config{Store: w.Store, Auth: people})
	for _, login := range []string{"otto", "vera", "ada", "admin"} {
		b := s.signIn(login)
		list := b.get("/attempts")
		links := askedLink.FindAllStringSubmatch(list.body, -1)
		if len(links) != len(asked) {
			t.Fatalf("%s: %d links: %s", login, len(links), list.visible())
		}
		for _, link := range links {
			if a := b.get(html.UnescapeString(link[1])); len(a.attempts()) != 1 || strings.Contains(a.body, "left-out") {
				t.Errorf("%s, %s: %v: %s", login, link[2], a.attempts(), a.visible())
			}
		}
		for who, row := range asked {
			if !strings.Contains(list.body, `<option value="`+who+`"`) {
				t.Errorf("%s cannot choose %s", login, who)
			}
			if a := b.get("/attempts?asked=" + who); !slices.Equal(a.attempts(), []string{row}) {
				t.Errorf("%s, %s: %v", login, who, a.attempts())
			}
		}
	}
}

// A key that is not there says so, and one of which nothing was sent too: not that all was looked through.
func TestASearchWithoutRowsSaysWhy(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	w.Send(w.One("INV-2026-SENT"), rt.Refused)
	w.One("INV-2026-WAITS")
	b := s.signIn("vera")
	for path, want := range map[string]string{
		"?q=INV-2O26":                      "There is no key “INV-2O26”, and none that begins with it.",
		"?q=INV-2O26&kind=find":            "There is no key “INV-2O26”, and none that begins with it.",
		"?q=inv-2026-waits":                templates.Attempts.NoneOfKey["exact"],
		"?q=inv-2026-w":                    templates.Attempts.NoneOfKey["prefix"],
		"?q=inv-2026-sent&result=accepted": templates.Attempts.NoneSearched,
	} {
		says := b.get("/attempts" + path).visible()
		if !strings.Contains(says, want) || want != templates.Attempts.NoneSearched && strings.Contains(says, templates.Attempts.NoneSearched) {
			t.Errorf("%s: %s", path, says)
		}
	}
}

// Only a call takes time: not a report, that was made days before it was read, and not an answer that came by itself.
func TestWhatIsNoCallTookNoTime(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		a    work.Attempt
		want string
	}{
		"call":   {work.Attempt{Kind: work.Find, Node: "one", StartedAt: at, EndedAt: at.Add(340 * time.Millisecond)}, "340 ms"},
		"report": {work.Attempt{Kind: work.Find, AskedBy: "person:7 Ada", StartedAt: at, EndedAt: at.Add(3 * time.Hour)}, ""},
		"late":   {work.Attempt{Kind: work.Send, LateFor: 1, StartedAt: at, EndedAt: at}, ""},
		"open":   {work.Attempt{Kind: work.Send, Node: "one", StartedAt: at}, ""},
	} {
		file := ""
		for _, col := range attemptColumns {
			if col.name == "took_ms" {
				file = col.text(review.AttemptRow{Attempt: c.a})
			}
		}
		if got := tookText(c.a); got != c.want || file != strings.TrimSuffix(c.want, " ms") {
			t.Errorf("%s took %q, in the file %q", name, got, file)
		}
	}
}

// What is said of one attempt is what it proves: whether an invoice may be sent again is not for one attempt to say.
func TestAnAttemptIsNotSaidToAllowASending(t *testing.T) {
	for result, words := range templates.Attempts.Judged {
		for _, claim := range []string{"may be sent again", "nothing is sent again", "we look again", "we look before"} {
			if strings.Contains(words, claim) {
				t.Errorf("%s: %s", result, words)
			}
		}
	}
	if d := templates.Attempts.Judged[string(work.Deferred)]; !strings.Contains(d, "was not called") || !strings.Contains(d, "did not let us in") {
		t.Errorf("a refused login is no wish to be called later: %s", d)
	}
}
