package web

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	rt "onefold/internal/review/reviewtest"
)

// The overview that is open keeps up by itself, at most every half minute. What somebody has opened stays open, and the
// line that they read stays where it is, also if a table above it grows.
func TestTheOverviewKeepsUp(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	w.Send(w.One("INV-1"), rt.AcceptedAs(1))
	counts(t, w, time.UTC)
	// Half a minute of the page is a twentieth of one here.
	const quick = `{ const [after, fetch] = [window.setTimeout, window.fetch]; window.waits = []; window.fetched = 0;
		window.setTimeout = (f, ms, ...more) => { if (ms > 20000 && ms < 40000) window.waits.push(ms); return after(f, ms / 20, ...more); };
		window.fetch = (...all) => { window.fetched++; return fetch(...all); } }`
	b.do(signInOn(s.URL, "ada"), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: quick})
		return err
	}), goTo(s.URL+overviewPath, "[data-live=figures]"))
	// The time limit of a poll is one of the page too.
	soon := func(js string) step {
		return chromedp.Poll[chromedp.Void](js, chromedp.WithPollingTimeout(10*time.Minute))
	}
	const sends = `[...document.querySelectorAll(".chart-table tbody tr")].filter((r) => r.closest("section").getAttribute("aria-labelledby") === "outcomes").length`
	b.js(sends, "1")
	b.do(chromedp.Evaluate[chromedp.Void](`window.same = true; for (const d of document.querySelectorAll(".chart-table")) d.open = true;
		document.querySelector(".chart-table summary").focus({preventScroll: true});
		document.getElementById("systems").scrollIntoView(); window.read = document.getElementById("systems").getBoundingClientRect().top`))
	w.Later(time.Hour)
	w.Send(w.One("INV-2"), rt.AcceptedAs(2))
	counts(t, w, time.UTC)
	b.do(soon(sends + ` === 2`))
	b.js(`window.same`, "true") // it was not loaded anew
	b.js(`[...document.querySelectorAll(".chart-table")].every((d) => d.open)`, "true")
	b.js(`document.activeElement.tagName`, "SUMMARY")
	b.js(`Math.abs(document.getElementById("systems").getBoundingClientRect().top - window.read) < 2`, "true")
	b.js(`document.querySelector("#newer").hidden`, "true")

	// What is marked to be copied is left alone; and it goes on.
	b.do(chromedp.Evaluate[chromedp.Void](`document.getSelection().selectAllChildren(document.querySelector(".prevented-count")); window.waited = window.waits.length`))
	w.Later(time.Hour)
	w.Send(w.One("INV-3"), rt.AcceptedAs(3))
	counts(t, w, time.UTC)
	b.do(soon(`window.waits.length >= window.waited + 2`))
	b.js(sends, "2")
	b.do(chromedp.Evaluate[chromedp.Void](`document.getSelection().removeAllRanges()`), soon(sends+` === 3`))
	b.js(`window.fetched > 2 && window.fetched <= window.waits.length`, "true") // each waited for its half minute, and there is no stream
}
