package web

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// axe is the checker of accessibility that runs in the pages, fetched by scripts/axe-core; empty if there is none.
var axe = sync.OnceValues(func() (string, error) {
	path := os.Getenv("ONEFOLD_AXE")
	if path == "" {
		return "", nil
	}
	script, err := os.ReadFile(path)
	return string(script), err
})

// whole reports whether everything is checked in this look: in the other two only colours can differ.
func (l look) whole() bool { return l.name == "wide-light" || l.name == "narrow-dark" }

// violation is what axe has found.
type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Where []string `json:"where"`
}

// checkAccessible lets axe look at the page that is open: WCAG 2.2 AA and what is known as good practice. Without axe it does
// nothing, or fails where it is required: with CI=true or ONEFOLD_REQUIRE_AXE=1.
func checkAccessible(t *testing.T, b tab, name string, l look) {
	t.Helper()
	script, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	if script == "" {
		if os.Getenv("CI") == "true" || os.Getenv("ONEFOLD_REQUIRE_AXE") == "1" {
			t.Fatal("no axe-core: set ONEFOLD_AXE to its file (make test lets scripts/axe-core fetch it by npm)")
		}
		return
	}
	within, only := "document", `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]}`
	if !l.whole() {
		within = `{exclude: ["tbody tr:nth-child(n+9):nth-last-child(n+9)"]}` // the other two looks check those in between, light and dark
		only = `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`
	}
	for _, v := range violations(t, b, script, within, only) {
		t.Errorf("%s, %s: %s (%s), %d times:\n%s", name, l.name, v.Help, v.ID, len(v.Where), strings.Join(v.Where[:min(len(v.Where), 5)], "\n"))
	}
}

func violations(t *testing.T, b tab, script, within, only string) []violation {
	t.Helper()
	return ask(t, b.ctx, chromedp.Evaluate[[]violation](`(async () => {
		if (!window.axe) { `+script+`; }
		const answer = await axe.run(`+within+`, {runOnly: `+only+`, resultTypes: ["violations"]});
		return answer.violations.map((v) => ({id: v.id, help: v.help,
			where: v.nodes.map((n) => n.html.slice(0, 300) + " (" + n.target.join(" ") + ") " + n.any.map((c) => c.message).join("; ").slice(0, 300))}));
	})()`, chromedp.EvalAwaitPromise))
}

// The checker itself: what is wrong on purpose must be found, under the pages' own policy against foreign scripts.
func TestAccessibilityCheckerSees(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	s := newSite(t, Config{Store: newWorld(t).Store})
	b.do(goTo(s.URL+"/login", "main"))
	checkAccessible(t, b, "login", looks[0])
	script, err := axe()
	if err != nil || script == "" {
		t.Skip("no axe-core", err)
	}
	run(t, b.ctx, chromedp.Evaluate[chromedp.Void](`{
		const bad = document.createElement("div");
		bad.innerHTML = "<img src=x><input name=nameless><p>faint</p>";
		bad.lastChild.style.color = "#cccccc"; // faint on the light card; text in its very colour is not reported
		document.querySelector("main .card").append(bad);
	}`))
	var ids []string
	for _, v := range violations(t, b, script, "document", `{type: "tag", values: ["wcag2a", "wcag2aa"]}`) {
		ids = append(ids, v.ID)
	}
	for _, want := range []string{"image-alt", "label", "color-contrast"} {
		if !slices.Contains(ids, want) {
			t.Errorf("%s was not found, only %v", want, ids)
		}
	}
}

// pagesWithout are the routes that answer no page, and what they do.
var pagesWithout = map[string]string{"/healthz": "text", "/readyz": "text", "/static/:name": "a file", "/sso": "a redirect", "/sso/answer": "a redirect",
	"/export.csv": "a file", "/export.xlsx": "a file", "/audit.csv": "a file", "/live": "a stream", "/items/:id/*": "a redirect", "/systems/:id/*": "a redirect"}

// Every page that there is a route for passes, in the state in which an admin meets it. What they look like when they are
// full is checked with each screenshot.
func TestEveryPageIsAccessible(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	people := accounts(t)
	s := newSite(t, Config{Store: w.Store, Auth: people})
	ids := stories(t, w)
	_, link, err := people.Invite(t.Context(), boss, auth.Origin{}, auth.NewUser{Login: "zoe@example.com", Name: "Zoë Brown", Roles: []work.Role{work.Viewer}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/login", "/welcome/" + link, "/welcome/nonsense", "/setup"} {
		everyLook(t, b, path, s.URL+path)
	}
	b.do(signInOn(s.URL, "admin"))
	known := map[string]string{":id": fmt.Sprint(ids["rejected"]), ":month": "2026-11", ":number": "1"}
	for _, r := range s.Config.Handler.(*echo.Echo).Routes() {
		if r.Method != http.MethodGet || pagesWithout[r.Path] != "" || strings.HasSuffix(r.Path, ".png") || strings.HasSuffix(r.Path, ".csv") || strings.HasSuffix(r.Path, ".xlsx") ||
			strings.HasPrefix(r.Path, "/api/") || strings.HasPrefix(r.Path, "/login") || strings.HasPrefix(r.Path, "/welcome") {
			continue
		}
		path := r.Path
		for name, value := range known {
			path = strings.ReplaceAll(path, name, value)
		}
		if r.Path == "/people/:id" {
			path = "/people/2"
		}
		if rest, is := strings.CutPrefix(r.Path, "/systems/:id"); is {
			path = systemPath(rt.SystemID) + rest
		}
		everyLook(t, b, r.Path, s.URL+path)
	}
	for _, tab := range tabs {
		everyLook(t, b, "tab "+string(tab), s.URL+"/?tab="+string(tab))
	}
	for name, id := range ids {
		everyLook(t, b, "item "+name, s.URL+itemPath(id))
	}
	everyLook(t, b, "not found", s.URL+"/nothing")
	for _, system := range []func() error{
		func() error { return w.Pause(t.Context(), rt.SystemID, rt.Recorder, "Month end") },
		func() error { return w.StartLookFirst(t.Context(), rt.SystemID, "Restored from a backup") },
	} {
		if err := system(); err != nil {
			t.Fatal(err)
		}
	}
	everyLook(t, b, "systems that stand still", s.URL+"/systems")
	b.do(chromedp.Click(css("#keys-open")), chromedp.WaitVisible(css("#keys")))
	for _, l := range looks {
		b.do(l.set())
		checkAccessible(t, b, "the help of the keyboard", l)
	}
}

func everyLook(t *testing.T, b tab, name, address string) {
	t.Helper()
	b.do(chromedp.Navigate(address), chromedp.WaitReady(css("main")))
	for _, l := range looks {
		b.do(l.set())
		checkAccessible(t, b, name, l)
	}
}
