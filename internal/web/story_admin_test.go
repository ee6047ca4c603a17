package web

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/web/templates"
)

// newcomer is an admin at a browser; every press and every field is counted. It reads the pages only, and goes where their
// links and buttons lead.
type newcomer struct {
	tab
	acts int
}

func (n *newcomer) press(selector string, then ...step) {
	n.t.Helper()
	n.acts++
	n.do(append([]step{chromedp.WaitVisible(css(selector)), chromedp.Click(css(selector))}, then...)...)
}

func (n *newcomer) types(selector, text string) {
	n.t.Helper()
	n.acts++
	n.do(chromedp.WaitVisible(css(selector)), chromedp.Focus(css(selector)),
		chromedp.Evaluate[chromedp.Void](`document.querySelector(`+jsText(selector)+`).select?.()`), chromedp.SendKeys(css(selector), text))
}

// picks sets a field as its own picker does.
func (n *newcomer) picks(selector, value string) {
	n.t.Helper()
	n.acts++
	n.do(chromedp.WaitVisible(css(selector)), chromedp.Evaluate[chromedp.Void](`{ const e = document.querySelector(`+jsText(selector)+`); e.value = `+jsText(value)+
		`; e.dispatchEvent(new Event("input", { bubbles: true })); e.dispatchEvent(new Event("change", { bubbles: true })); }`))
}

// until waits until the page shows a text. A page that is just being left takes its wait along: then the next one is asked.
func (n *newcomer) until(selector, want string) {
	n.t.Helper()
	limited, cancel := context.WithTimeout(n.ctx, stepTime)
	defer cancel()
	shows := chromedp.Poll[chromedp.Void](`document.querySelector(` + jsText(selector) + `)?.innerText.replaceAll("\u00a0", " ").includes(` + jsText(want) + `)`)
	for {
		err := chromedp.Do(limited, shows)
		if err == nil {
			return
		}
		if limited.Err() != nil {
			n.t.Fatalf("%q never came: %v", want, err)
		}
	}
}

// An admin who has never seen the product connects the sandbox, makes a monthly plan, sees what it will bring, runs it,
// sees the invoice confirmed, and changes a limit: without documentation, within five minutes.
func TestAnAdminStartsFromNothing(t *testing.T) {
	t.Parallel()
	outside, err := sandboxserver.New(sandboxserver.Options{File: filepath.Join(t.TempDir(), "journal"),
		Books: []sandboxserver.Books{{Name: storyBooks, Identity: "Acme's books", Personality: sandbox.Search}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = outside.Close() })
	h := httptest.NewUnstartedServer(outside)
	h.Config.ConnContext = sandboxserver.ConnContext
	h.Start()
	t.Cleanup(h.Close)
	st := storetest.SQLite(t).Open(t, store.Config{})
	people := accounts(t)
	connections := &automation.Connections{Store: st, Adapters: []ledger.Adapter{sandbox.Adapter}, Keys: people.Keys}
	engine := automation.NewEngine(automation.Config{Store: st, Node: "story", Connect: connections.Connect})
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(running) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	s := newSite(t, Config{Store: st, Auth: people, Connections: connections, Intake: automation.Intake{Store: st}})
	n := &newcomer{tab: tab{t, chrome(t)}}

	begun := time.Now()
	n.do(goTo(s.URL+"/login", "input[name=password]"))
	n.types("input[name=login]", "admin")
	n.types("input[name=password]", testPassword)
	n.press("button.main", chromedp.WaitVisible(css("nav.tabs")))

	n.press(`.top nav a[href="/systems"]`)
	n.press(`main a[href="/systems/new"]`)
	n.types("#f-name", "Acme's books")
	n.types("#f-address", h.URL+"/"+storyBooks)
	n.press("#connect button[value=save]", chromedp.WaitVisible(css(".columns.system")))
	n.shows("Acme's books")
	connected := time.Since(begun)

	n.press(`.top nav a[href="/plans"]`)
	n.press(`.empty a[href="/plans/new"]`)
	today := time.Now().UTC()
	n.types("#f-code", "HOSTING-ACME")
	n.types("#f-customer", "C-1001")
	n.types("#f-name", "Acme Holdings Ltd")
	n.types("#f-currency", "EUR")
	n.types("#description-0", "Hosting {period}")
	n.types("#price-0", "99.50")
	n.picks("#f-start", today.Format(time.DateOnly))
	n.picks("#f-day", strconv.Itoa(today.Day()))
	n.press(".plan-do .main", chromedp.WaitVisible(css("#run button")))

	n.press(`.top nav a[href="/plans"]`)
	n.press(`main a[href="/plans/month"]`)
	n.until("main", "99.50")
	n.press(`.top nav a[href="/automations"]`, chromedp.WaitVisible(css(".automation")))
	key := "HOSTING-ACME-" + today.Format("2006-01")
	n.press(`form[action="/automations/run"] button`) // the first run on a system that was never proven asks
	n.until("main", "has never sent anything to Acme's books")
	n.press(`form[action="/automations/run"]:has(input[name=unproven]) button`)
	n.until("main", "Recurring invoices ran and recorded 1 invoice.")
	n.press(`form[action="/automations/run"] button`)
	n.until("main", "Recurring invoices ran. Nothing was due.")
	n.press(`.top nav a[href="/"]`)
	n.types(".search input[name=q]", key)
	n.press(".search button")
	n.press(`main tbody a[href^="/items/"]`, chromedp.WaitVisible(css("#content .badge")))
	n.until("#content .badge", templates.Words.StatusName["confirmed"])
	confirmed := time.Since(begun)

	n.press(`.set-up summary`)
	n.press(`.top nav a[href="/limits"]`)
	n.press(`main a.button[href^="/limits/"]`)
	n.types("#limit-sends", "3")
	n.types(`.limits-form input[name=note]`, "Three tries are enough")
	n.press(".limits-form button.main", chromedp.WaitVisible(css(".notice.good")))
	took := time.Since(begun)

	systems, err := st.Systems(t.Context())
	if err != nil || len(systems) != 1 || systems[0].Policy.Sends != 3 {
		t.Errorf("the limit: %+v %v", systems, err)
	}
	if records := outside.Records(storyBooks, ""); len(records) != 1 {
		t.Errorf("the accounting system holds %d records", len(records))
	}
	t.Logf("%d presses and fields; connected after %s, confirmed after %s, all after %s of the machine's time", n.acts, connected.Round(time.Millisecond), confirmed.Round(time.Millisecond), took.Round(time.Millisecond))
	// A person needs perhaps four seconds for each; together it stays within the five minutes.
	if total := took + time.Duration(n.acts)*4*time.Second; total > 5*time.Minute {
		t.Errorf("%d presses and fields and %s of the machine's time: more than five minutes for a person", n.acts, took)
	}
}
