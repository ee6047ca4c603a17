package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/automation"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// fleet is a database on which many servers work.
type fleet struct {
	*store.Store
	servers []work.Server
	calls   []review.HeldCalls
	runs    []review.HeldRun
}

func (f *fleet) Servers(context.Context) ([]work.Server, error)        { return f.servers, nil }
func (f *fleet) HeldCalls(context.Context) ([]review.HeldCalls, error) { return f.calls, nil }
func (f *fleet) HeldRuns(context.Context) ([]review.HeldRun, error)    { return f.runs, nil }

// aFleet has one server of each kind.
func aFleet(w *rt.World) *fleet {
	now := w.Clock()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	one := func(name string, seen time.Duration, more func(*work.Server)) work.Server {
		s := work.Server{Name: name, Life: name, Version: "v1.4.0 63dc5d4a1b2c", Schema: 20, Started: ago(72 * time.Hour), Seen: ago(seen)}
		if more != nil {
			more(&s)
		}
		return s
	}
	return &fleet{Store: w.Store,
		servers: []work.Server{
			one("billing-1", 4*time.Second, nil),
			one("billing-2", 7*time.Second, func(s *work.Server) { s.Stopping, s.Schema, s.Version = true, 19, "v1.3.2 55868a4c0ffe" }),
			one("billing-3", 3*time.Second, func(s *work.Server) { s.Ahead = -95 * time.Second }),
			one("billing-4", 2*time.Second, func(s *work.Server) { s.Jumped, s.JumpedAt = time.Hour, ago(5*time.Minute) }),
			one("gone-still-holding", 3*time.Minute, nil),
			one("gone-"+strings.Repeat("long", 20), 26*time.Hour, nil),
			one("gone-counting", 2*time.Minute, nil),
			one("twin", time.Second, func(s *work.Server) { s.TwinAt = ago(time.Minute) }),
		},
		calls: []review.HeldCalls{{Server: "billing-1", SystemID: rt.SystemID, Count: 12, Until: now.Add(time.Minute)},
			{Server: "gone-still-holding", SystemID: rt.SystemID, Count: 3, Until: now.Add(40 * time.Second)},
			{Server: "never-told", SystemID: "other", Count: 1, Until: ago(time.Second)}},
		runs: []review.HeldRun{{Server: "billing-1", Kind: "bulk", ID: 5, Until: now.Add(time.Minute)}, {Server: "billing-1", Kind: "proof", ID: 2, Until: now.Add(time.Minute)},
			{Server: "billing-4", Kind: "import", ID: 9, Until: now.Add(time.Minute)},
			{Server: "billing-4", Kind: "retention", Until: now.Add(time.Minute)}, {Server: "gone-counting", Kind: "figures", Until: now.Add(time.Minute)}},
	}
}

// The page says of each server what somebody must know: that what a lost one held goes on elsewhere, and that a wrong clock
// puts no invoice at risk.
func TestServersPage(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: aFleet(w)})
	a := s.signIn("otto").get(serversPath)
	a.shows(t, "billing-1", "Work on many invoices, no. 5", "Its clock is 1 min 35 s slow, compared with the database’s. No invoice is at risk", "Its clock was moved by 1 h at 09:55",
		"What it had on its way goes on at the other servers, by looking it up first, from", "It holds nothing, so nothing waits for it", "never-told",
		"another server used the same name", "It is of an older version than others here", "It never told that it lives",
		"Servers of different versions run: v1.3.2 55868a4c0ffe, v1.4.0 63dc5d4a1b2c.", "Counts what the overview shows",
		"What it did in the background another server takes over from 10:01 on")
	if strings.Contains(a.visible(), "lease") || strings.Contains(a.visible(), "worker") {
		t.Error("words that staff should not have to know")
	}
	if a := s.signIn("vera").get(serversPath); a.status != http.StatusForbidden {
		t.Errorf("a viewer: %d", a.status)
	}
	if a := newSite(t, Config{Store: w.Store}).signIn("ada").get(serversPath); a.status != http.StatusOK || !strings.Contains(a.visible(), "No server has told of itself yet") {
		t.Errorf("%d %s", a.status, a.visible())
	}
}

// Who is gone counts no more: a newer version that was put back is not what the others should be replaced by. Two builds that differ by
// no migration are different versions all the same.
func TestOnlyServersThatRunHaveANewestVersion(t *testing.T) {
	w := newWorld(t)
	now := w.Clock()
	one := func(name, version string, schema int64, seen time.Duration) work.Server {
		return work.Server{Name: name, Version: version, Schema: schema, Started: now.Add(-time.Hour), Seen: now.Add(-seen)}
	}
	gone := one("gone", "v9", 99, time.Hour)
	s := newSite(t, Config{Store: &fleet{Store: w.Store, servers: []work.Server{gone, one("a", "v1", 20, 0), one("b", "v1", 20, 0)}}})
	if says := s.signIn("otto").get(serversPath).visible(); strings.Contains(says, "older version") || strings.Contains(says, "different versions") {
		t.Errorf("of a server that is gone: %s", says)
	}
	s = newSite(t, Config{Store: &fleet{Store: w.Store, servers: []work.Server{gone, one("a", "v1", 20, 0), one("b", "v2", 20, 0)}}})
	s.signIn("otto").get(serversPath).shows(t, "Servers of different versions run: v1, v2.")
}

// If all are off alike it is said of the database; what a page does not show it says.
func TestServersPageSpeaksOfAll(t *testing.T) {
	w := newWorld(t)
	f := &fleet{Store: w.Store}
	for i := range work.ShownServers {
		f.servers = append(f.servers, work.Server{Name: fmt.Sprintf("s%d", i), Version: "v1", Seen: w.Clock(), Started: w.Clock(), Ahead: time.Hour})
	}
	s := newSite(t, Config{Store: f})
	s.signIn("otto").get(serversPath).shows(t, "it is probably the database’s clock that is wrong", "Only the 200 servers are shown")
	f.servers = f.servers[:2]
	f.servers[1].Ahead = 0
	if says := s.signIn("otto").get(serversPath).visible(); strings.Contains(says, "probably the database’s") || strings.Contains(says, "Only the 200") {
		t.Error(says)
	}
}

// From the clock of a machine to the eyes of a person: a server whose clock is wrong gives signs of life on a real database, which
// tells it on every page, on the page of the servers, and no more when it is right again.
func TestAWrongClockIsNoticedAllTheWay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db)
		off := map[string]time.Duration{"right": 0, "wrong": -3 * time.Minute, "moved": 0}
		begun := w.Clock()
		hearts := map[string]*automation.Heartbeat{}
		for name := range off {
			hearts[name] = &automation.Heartbeat{Store: w.Store, Name: name, Version: "v1",
				Wall: func() time.Time { return w.Clock().Add(off[name]) }, Uptime: func() time.Duration { return w.Clock().Sub(begun) }}
		}
		beat := func() {
			t.Helper()
			for _, name := range []string{"right", "wrong", "moved"} {
				if err := hearts[name].RunOnce(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		beat()
		s := newSite(t, Config{Store: w.Store})
		otto := s.signIn("otto")
		otto.get("/").shows(t, "the clock of wrong is behind the database's; no invoice is at risk")
		otto.get(serversPath).shows(t, "Its clock is 3 min slow, compared with the database’s")
		w.Later(work.BeatEvery)
		off["wrong"], off["moved"] = 0, 10*time.Minute
		beat()
		otto.get("/").shows(t, "the clock of moved is ahead of the database's")
		a := otto.get(serversPath)
		a.shows(t, "Its clock is 10 min fast", "Its clock was moved by 10 min at 10:00")
		if strings.Contains(otto.get("/").visible(), "the clock of wrong is") {
			t.Error("the first one is mended, and still named") // that it was moved is told for an hour
		}
		w.Later(2 * time.Hour)
		off["moved"] = 0
		beat() // moved back
		w.Later(2 * time.Hour)
		beat()
		if says := s.signIn("otto").get("/").visible(); strings.Contains(says, "the clock of") {
			t.Errorf("all clocks are right: %s", says)
		}
	})
}

// A wrong clock is told on every page to those who can do something about it, and to nobody else.
func TestAWrongClockIsToldOnPages(t *testing.T) {
	w := newWorld(t)
	if _, err := w.RaiseAlert(t.Context(), "", "clock", "Servers: the clock of billing-3 is 1m35s slow"); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, Config{Store: w.Store})
	if a := s.signIn("otto").get("/"); !strings.Contains(a.visible(), "the clock of billing-3") || !strings.Contains(a.body, `href="/servers"`) {
		t.Errorf("operations: %s", a.visible())
	}
	if a := s.signIn("vera").get("/"); strings.Contains(a.visible(), "billing-3") {
		t.Error("a viewer is told")
	}
}

func TestServersPageLooksRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: aFleet(w)})
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "servers-full", s.URL+serversPath)
	s = newSite(t, Config{Store: w.Store})
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "servers-empty", s.URL+serversPath)
}

func TestDatabaseAwayPageLooksRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	id := refused(w, "INV-AWAY")
	items := &itemsDown{Store: w.Store}
	s := newSite(t, Config{Store: items})
	run(t, ctx, signInOn(s.URL, "ada"))
	b := tab{t, ctx}
	b.do(goTo(s.URL+itemPath(id), "main"))
	items.down.Store(true)
	b.do(chromedp.Evaluate[chromedp.Void](`{
		const form = document.querySelector('form[action$="/note"]');
		form.querySelector("textarea").value = "Rang Acme: they want the invoice in December. " + "They asked twice. ".repeat(20);
		form.submit();
	}`), chromedp.WaitVisible(css("textarea[readonly]")))
	for _, look := range looks {
		shootThis(t, ctx, "away-typed", look)
	}
}
