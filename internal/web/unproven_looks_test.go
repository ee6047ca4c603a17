package web

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The question whether something may begin on a system that was never proven, on both pages.
func TestUnprovenQuestionLooksRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	s := newSite(t, Config{Store: newWorld(t).Store})
	run(t, ctx, signInOn(s.URL, "admin"))
	path, _ := s.signIn("admin").uploaded("first.csv", oneRow)
	shoot(t, ctx, "import-unproven", s.URL+path)
	run(t, ctx, chromedp.Navigate(s.URL+path), chromedp.Click(chromedp.CSS(`form[action$="/start"] button.main`)), chromedp.WaitVisible(chromedp.CSS(`.problem, [aria-invalid=true]`)))
	for _, l := range looks {
		shootThis(t, ctx, "import-unproven-refused", l)
	}
	run(t, ctx, chromedp.Navigate(s.URL+automationsPath), chromedp.WaitReady(chromedp.CSS("main")))
	ask(t, ctx, chromedp.Evaluate[bool](`document.querySelectorAll("details").forEach((d) => { d.open = true; }) === undefined`))
	for _, l := range looks {
		shootThis(t, ctx, "automations-begin", l)
	}
}
