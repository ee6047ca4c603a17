package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	rt "onefold/internal/review/reviewtest"
)

// press presses keys, one after the other, as a keyboard does: a key that the page takes for itself types no letter.
func press(keys string) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			for i, k := range events {
				if k.Type == kb.KeyChar {
					continue
				}
				if k.Type == kb.KeyDown && events[i+1].Type == kb.KeyChar {
					k.Text = events[i+1].Text
				}
				if _, err := cdp.Call(ctx, t, cdpinput.DispatchKeyEvent, *k); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func TestShortcuts(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	for n := range 3 {
		id := w.One(fmt.Sprintf("INV-%d", n))
		w.Until(id, func() { w.Send(id, rt.Refused) })
	}
	const (
		key    = `(document.activeElement.closest("tr")?.querySelector("th").innerText.trim() ?? document.activeElement.name ?? "")`
		ticked = `document.querySelectorAll("main tbody input[type=checkbox]:checked").length`
		opened = `document.querySelector("#keys").open`
	)
	b.do(signInOn(s.URL, "ada"))
	rows := strings.Fields(ask(t, b.ctx, chromedp.Evaluate[string](`[...document.querySelectorAll("main tbody th a")].map((a) => a.innerText).join(" ")`)))
	if len(rows) != 3 {
		t.Fatalf("%v", rows)
	}
	for _, step := range []struct{ keys, at string }{{"j", rows[0]}, {"j", rows[1]}, {"j", rows[2]}, {"j", rows[2]}, {"k", rows[1]}, {"k", rows[0]}, {"k", rows[0]}} {
		b.do(press(step.keys))
		b.js(key, step.at)
	}
	b.do(press("jx"))
	b.js(ticked, "1")
	b.do(press("x"))
	b.js(ticked, "0")

	// What is typed is text, not a command.
	b.do(press("/"))
	b.js(key, "q")
	b.do(press("jkx?/gl"))
	b.js(`document.activeElement.value`, "jkx?/gl")
	b.js(opened, "false")

	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), press("?"))
	b.js(opened, "true")
	b.js(`document.querySelector("#keys").contains(document.activeElement)`, "true")
	b.do(press("j")) // the page behind it does not move
	b.js(`document.querySelector("#keys").contains(document.activeElement)`, "true")
	b.do(press(kb.Escape), until(`!`+opened))

	b.do(press("j"+kb.Enter), chromedp.WaitVisible(css("[data-live=item]")))
	b.shows(rows[0])
	b.do(press("gl"), chromedp.WaitVisible(css("nav.tabs")))
	b.do(goTo(s.URL+"/systems", ".system"), press("/"), chromedp.WaitVisible(css("nav.tabs")), until(`document.activeElement.name === "q"`))

	// Switched off they are off, the help's own too, until they are switched on again; this browser remembers it.
	b.do(chromedp.Click(css("#keys-open")), chromedp.WaitVisible(css("#keys")), chromedp.Click(css("#keys-on")), chromedp.Click(css("#keys form button")), goTo(s.URL+"/", "nav.tabs"))
	b.do(press("j?/x"))
	b.js(opened, "false")
	b.js(`document.activeElement.tagName`, "BODY")
	b.do(chromedp.Click(css("#keys-open")), chromedp.WaitVisible(css("#keys")))
	b.js(`document.querySelector("#keys-on").checked`, "false")
	b.do(chromedp.Click(css("#keys-on")), chromedp.Click(css("#keys form button")), press("j"))
	b.js(key, rows[0])
}

// Everything is reached by Tab, in the order in which it is read, and what has the focus can be seen.
func TestFocusIsSeenInOrder(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	ids := stories(t, w)
	b.do(signInOn(s.URL, "admin"))
	for _, path := range []string{"/", "/?tab=all", itemPath(ids["rejected"]), itemPath(ids["mismatch"]), "/systems", "/import", "/profile", "/people", "/people/2", "/tokens", "/audit"} {
		for _, l := range []look{looks[0], looks[3]} {
			b.do(l.set(), goTo(s.URL+path, "main"))
			walkFocus(t, b, path+" "+l.name)
		}
	}
}

// walkFocus presses Tab until the focus has been everywhere.
func walkFocus(t *testing.T, b tab, name string) {
	t.Helper()
	// A group of radio buttons is one stop.
	reachable := ask(t, b.ctx, chromedp.Evaluate[int](`(() => {
		window.stops = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter((e) =>
			!e.disabled && e.type !== "hidden" && e.checkVisibility({visibilityProperty: true}) && !(e.closest("details:not([open])") && !e.matches("details > summary"))
			&& !(e.type === "radio" && !e.checked));
		window.seen = new Set();
		window.last = null;
		document.activeElement.blur();
		scrollTo(0, 0);
		return stops.length;
	})()`))
	for range reachable + 40 {
		b.do(press(kb.Tab))
		problem := ask(t, b.ctx, chromedp.Evaluate[string](`(() => {
			const e = document.activeElement;
			if (e === last) return ""; // a date has several stops
			if (e === document.body || seen.has(e)) return "over";
			seen.add(e);
			const style = getComputedStyle(e), box = e.getBoundingClientRect(), say = e.outerHTML.slice(0, 200);
			if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) return "the focus is not seen on " + say;
			if (box.bottom < 0 || box.top > innerHeight) return "the focus is out of sight on " + say;
			if (last && !(last.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)) return "the focus jumps back to " + say;
			last = e;
			return "";
		})()`))
		if problem == "over" {
			break
		}
		if problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
	if missed := ask(t, b.ctx, chromedp.Evaluate[string](`stops.filter((e) => !seen.has(e)).map((e) => e.outerHTML.slice(0, 200)).join("\n")`)); missed != "" {
		t.Errorf("%s: the keyboard does not reach\n%s", name, missed)
	}
}
