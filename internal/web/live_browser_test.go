package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"onefold/internal/auth"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// until waits until the page says so.
func until(js string) step {
	return chromedp.Poll[chromedp.Void](js)
}

// says waits until the element's text contains the words.
func says(selector, words string) step {
	return until(fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").replaceAll("\u00a0", " ").includes(%q)`, selector, words))
}

// js evaluates an expression and fails the test if it is not what is wanted.
func (b tab) js(expression, want string) {
	b.t.Helper()
	if got := ask(b.t, b.ctx, chromedp.Evaluate[string]("String("+expression+")")); got != want {
		b.t.Errorf("%s is %q, not %q", expression, got, want)
	}
}

func row(id int64) string { return fmt.Sprintf("#row-%d", id) }

// The list keeps up without moving a row, a tick or a letter.
func TestListKeepsUp(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	first, second, third := w.One("INV-1"), w.One("INV-2"), w.One("INV-3")
	b.do(signInOn(s.URL, "ada"), goTo(s.URL+"/?tab=all", row(first)))
	const order = `[...document.querySelectorAll("[id^=row-]")].map((r) => r.id).join(" ")`
	was := ask(t, b.ctx, chromedp.Evaluate[string](order))
	b.do(chromedp.SendKeys(css("input[type=search]"), "INV-2 typed"),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("%s th a").focus()`, row(second))))

	w.Later(1e9)
	w.Happen(first, work.Hold{By: benActs, Note: "The customer has called"})
	w.Happen(second, work.Hold{By: benActs, Note: "The customer has called"})
	b.do(says(row(first), "Needs a person"), says("#newer", "Newer data is there."), says("#said", "Newer data is there."), says("[data-count=review]", "2"))
	b.js(order, was)
	b.js(`document.activeElement.closest("tr").id`, strings.TrimPrefix(row(second), "#"))
	b.js(fmt.Sprintf(`document.querySelector("%s").innerText.includes("Needs a person")`, row(second)), "false") // it is being read
	everyLookOfThis(t, b, "list-newer")

	w.Later(1e9)
	fourth := w.One("INV-4")
	b.do(says("[data-count=all]", "4"))
	b.js(order, was)
	b.do(chromedp.Click(css("#newer button")), chromedp.WaitVisible(css(row(fourth))), says(row(second), "Needs a person"), until(`document.querySelector("#newer").hidden`))
	b.js(`document.querySelector("input[type=search]").value`, "INV-2 typed")
	b.js(`document.querySelectorAll("[id^=row-]").length`, "4")
	b.js(fmt.Sprintf(`document.querySelector("%s") !== null`, row(third)), "true")
}

// An item's page brings itself up to date where nobody types, with scroll, focus and opened parts where they are.
func TestItemKeepsUp(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One("INV-2026-11-ACME")
	w.Send(id, rt.Refused)
	w.Send(id, rt.Refused)
	b.do(signInOn(s.URL, "ada"), goTo(s.URL+itemPath(id), "[data-live=item]"))
	b.do(chromedp.Evaluate[chromedp.Void](`document.body.style.minHeight = "3000px"; scrollTo(0, 120);
		document.querySelectorAll("details.excerpts")[1].open = true; document.querySelectorAll("details.excerpts")[1].querySelector("summary").focus({preventScroll: true});
		window.before = document.querySelectorAll("details.excerpts")[1].closest("li").querySelector(".no").textContent`))
	w.Send(id, rt.Refused)
	b.do(says("#said", "Now: "), until(`document.querySelectorAll("details.excerpts").length === 3`))
	b.js(`[...document.querySelectorAll("details.excerpts")].filter((d) => d.open).map((d) => d.closest("li").querySelector(".no").textContent === before).join()`, "true")
	b.js(`document.activeElement.closest("details").open`, "true")
	b.js(`Math.round(scrollY)`, "120")
	b.js(`document.querySelector("#newer").hidden`, "true")

	w.Happen(id, work.Hold{By: benActs, Note: "The customer has called"})
	b.do(says("main .badge", "Needs a person"), says("#newer", "Ben Stone acted"))
	b.js(`document.querySelector("#newer button").hidden`, "true") // it is on the page already
}

// What somebody types is theirs: the page waits, says who acted, and keeps the text when newer data is asked for.
func TestItemKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One("INV-2026-11-ACME")
	w.Happen(id, work.Hold{By: benActs, Note: "The customer has called"})
	b.do(signInOn(s.URL, "ada"), goTo(s.URL+itemPath(id), "[data-live=item]"))
	const note = "The contract has ended in October."
	b.do(chromedp.Click(css("details:has(#do-close) summary")), chromedp.WaitVisible(css("#do-close textarea")), chromedp.SendKeys(css("#do-close textarea"), note))
	w.Happen(id, work.Assign{By: benActs, To: "Ben Stone"})
	b.do(says("#newer", "Ben Stone acted 10:00: assigned it."))
	b.js(`document.querySelector("#do-close textarea").value`, note)
	b.js(`document.activeElement.name`, "note")
	everyLookOfThis(t, b, "item-newer")
	b.do(chromedp.Click(css("#newer button")), says("aside", "Ben Stone"))
	b.js(`document.querySelector("#do-close textarea").value`, note)
	b.js(`document.querySelector("#do-close input[name=version]").value === document.querySelector("[data-live]").dataset.version`, "true")

	// The form itself goes away under the typed text.
	b.do(chromedp.Click(css("#do-close textarea")))
	w.Happen(id, work.Close{By: benActs, Note: "No longer needed, says the customer."})
	b.do(says("#newer", "Ben Stone acted 10:00: closed it."), chromedp.Click(css("#newer button")), says("main .badge", "Closed"), says(".kept", note))
}

// Check now shows its result on the page that is open.
func TestCheckShowsItsResultLive(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One("INV-2026-11-ACME")
	w.Send(id, rt.NoAnswer)
	b.do(signInOn(s.URL, "ada"), goTo(s.URL+itemPath(id), "#do-check"), chromedp.Click(css("#do-check button")), chromedp.WaitVisible(css(".notice.good")))
	b.do(chromedp.Evaluate[chromedp.Void](`window.same = true`))
	w.Find(id, rt.FoundAs(42))
	b.do(says("main .badge", "Confirmed"), says("#said", "Now: Confirmed."))
	b.js(`window.same`, "true") // it was not loaded anew
}

// A bulk run shows how far it is, and its end is said.
func TestBulkShowsItsProgressLive(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	ids := w.Put("Acme Holdings Ltd", rt.Money(t, "1200.00", "EUR"), "INV-1", "INV-2", "INV-3")
	b.do(signInOn(s.URL, "ada"))
	ada := s.signIn("ada")
	form, action := ada.bulkForm(ticked(ids...))
	form.Set("plan", "hold")
	form.Set("note_hold", "The price is wrong")
	run := ada.post(action, form).location
	b.do(goTo(s.URL+run, "[data-live=bulk]"), chromedp.Evaluate[chromedp.Void](`window.same = true`))
	runBulks(t, w)
	b.do(until(`!document.querySelector("[data-live]")`), until(`document.querySelector("#said").textContent !== ""`))
	b.js(`window.same`, "true")
	b.js(`document.querySelector("#said").textContent === document.querySelector(".title .badge").innerText`, "true")
}

// A stream that is cut is taken up again, and what happened meanwhile is shown.
func TestCutStreamIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One("INV-2026-11-ACME")
	b.do(signInOn(s.URL, "ada"), goTo(s.URL+itemPath(id), "[data-live=item]"))
	w.Happen(id, work.Assign{By: benActs, To: "Ben Stone"})
	b.do(says("aside", "Ben Stone"))
	s.CloseClientConnections()
	w.Happen(id, work.Hold{By: benActs, Note: "The customer has called"})
	b.do(says("main .badge", "Needs a person"))
}

// Whose session is over is told so, quietly, and keeps what is on the page.
func TestOpenPageSaysThatTheSessionIsOver(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	people := accounts(t)
	s := newSite(t, Config{Store: w.Store, Auth: people})
	id := w.One("INV-2026-11-ACME")
	b.do(signInOn(s.URL, "ada"), goTo(s.URL+itemPath(id), "[data-live=item]"))
	b.do(chromedp.Click(css("details:has(#do-hold) summary")), chromedp.WaitVisible(css("#do-hold textarea")), chromedp.SendKeys(css("#do-hold textarea"), "Wait for"))
	u, err := people.UserByLogin(t.Context(), boss, "ada")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := people.RevokeSessions(t.Context(), boss, auth.Origin{}, u.ID, 0); err != nil {
		t.Fatal(err)
	}
	w.Happen(id, work.Assign{By: benActs, To: "Ben Stone"})
	b.do(says("#newer", "You are signed out. What you see is as it was."))
	b.js(`document.querySelector("#do-hold textarea").value`, "Wait for")
	b.js(`document.querySelector("#newer a").getAttribute("href")`, "/login?next=%2Fitems%2F1")
}

// Without scripts nothing of all this is in the way.
func TestPagesWithoutScripts(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One("INV-2026-11-ACME")
	b.do(signInOn(s.URL, "ada"), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.do(goTo(s.URL+itemPath(id), "[data-live=item]"), chromedp.WaitNotVisible(css("#newer")), chromedp.WaitNotVisible(css("#keys-open")), chromedp.WaitNotVisible(css("#keys")))
	b.do(chromedp.Click(css("form[action$='/assign'] button")), chromedp.WaitVisible(css(".notice.good")))
}

func everyLookOfThis(t *testing.T, b tab, name string) {
	t.Helper()
	for _, l := range looks {
		shootThis(t, b.ctx, name, l)
	}
	b.do(looks[0].set())
}
