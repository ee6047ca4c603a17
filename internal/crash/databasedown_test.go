//go:build unix

package crash

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

// slowOutside answers half of the requests late, so that something is always on its way.
func slowOutside() sandboxserver.Plan {
	return sandboxserver.Plan{Seed: *seed, Rules: []sandboxserver.Rule{{Fault: sandboxserver.CommitLate, Probability: 0.5, DelayMS: 300},
		{Fault: sandboxserver.DropAfter, Probability: 0.1}}}
}

// PostgreSQL is restarted in the middle of a run, once in order and once as by a power cut. While it is away nothing can
// be claimed, pages and the API say so; afterwards the servers go on by themselves.
func TestPostgresRestartInTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	pg := newOwnServer(t)
	d := databaseOn(t, pg)
	out := startOutside(t, d.dir, slowOutside())
	list := newPlan(connectAll(t, d.url, out.address), "INV", 200)
	servers := startServers(t, d.dir, d.url, 2)
	visitor := signIn(t, servers[0])
	d.servers(t, 2)
	planned := startPlanners(t.Context(), servers, list, 6*time.Second)
	for _, mode := range []string{"fast", "immediate"} {
		pause(t.Context(), 1500*time.Millisecond)
		pg.stop(mode)
		visitor.meetsNoDatabase(t)
		effects := len(out.effects(t))
		pause(t.Context(), lease) // whatever was on its way has arrived
		before := len(out.effects(t))
		pause(t.Context(), time.Second)
		if after := len(out.effects(t)); after != before {
			t.Errorf("%d effects while no claim was possible", after-before)
		}
		t.Logf("%s: %d effects when it stopped, %d later", mode, effects, before)
		pg.start()
		visitor.isBack(t)
	}
	planned.wait(t)
	d.rest(t, time.Minute)
	stopAll(t, servers)
	d.servers(t, 0) // who ends in order says so
	d.judged(t, out, list)
}

// servers waits until so many servers are on the list.
func (d *database) servers(t *testing.T, want int) {
	t.Helper()
	eventually(t, 20*time.Second, fmt.Sprintf("%d servers on the list", want), func() (bool, string) {
		var n int
		err := d.sql.QueryRow("SELECT count(*) FROM servers").Scan(&n)
		return err == nil && n == want, fmt.Sprint(n, " ", err)
	})
}

// judged fails the test unless everything happened once.
func (d *database) judged(t *testing.T, out *outside, list []invoice) {
	t.Helper()
	w := world{asked: list, rows: d.all(t), effects: out.effects(t), settles: settle}
	w.sameAsAudit(t, out.journal)
	v := judge(w)
	t.Log(v)
	v.report(t, d.dir, w)
	if len(v.excused) > 0 {
		t.Errorf("%d happened twice, and nothing was frozen", len(v.excused))
	}
}

// The primary dies with commits that its replica never saw, and the replica takes over. The servers find it by themselves,
// and nothing is sent, new items included, before it was looked for: what the new primary knows nothing of is there once.
func TestPostgresFailoverLosesCommits(t *testing.T) {
	t.Parallel()
	primary := newOwnServer(t)
	d := databaseOn(t, primary)
	out := startOutside(t, d.dir, slowOutside())
	systems := connectAll(t, d.url, out.address)
	replica := primary.replica()
	d = databaseOn(t, primary, replica)
	known, forgotten, flying, fresh := newPlan(systems, "KNOWN", 20), newPlan(systems, "FORGOTTEN", 20), newPlan(systems, "FLYING", 40), newPlan(systems, "FRESH", 20)
	servers := startServers(t, d.dir, d.url, 2)
	rnd := rand.New(rand.NewPCG(*seed, 6)) //nolint:gosec // a test
	give := func(list []invoice) {
		t.Helper()
		eventually(t, 30*time.Second, "a batch to be taken", func() (bool, string) {
			err := record(servers, rnd, list)
			return err == nil, fmt.Sprint(err)
		})
	}
	give(known)
	d.rest(t, time.Minute)
	replica.forget(primary)
	give(forgotten)
	d.rest(t, time.Minute)
	give(flying)
	pause(t.Context(), 150*time.Millisecond) // some of them are on their way
	primary.stop("immediate")
	lost := time.Now()
	replica.promote()

	var since time.Time
	eventually(t, 30*time.Second, "every system to look first", func() (bool, string) {
		var n int
		err := d.sql.QueryRow("SELECT count(*), min(look_first) FROM systems WHERE look_first IS NOT NULL").Scan(&n, moment{&since})
		return err == nil && n == len(systems), fmt.Sprint(n, " ", err)
	})
	give(forgotten) // the planners plan the same again
	give(flying)
	give(fresh)
	d.rest(t, 2*time.Minute)
	stopAll(t, servers)

	w := world{asked: slices.Concat(known, forgotten, flying, fresh), rows: d.all(t), effects: out.effects(t), settles: settle}
	w.sameAsAudit(t, out.journal)
	// What was under way when the primary died is known to nobody; before the leases of then are over nobody looks.
	before := len(w.effects)
	for i, e := range w.effects {
		if e.At.After(since.Add(lease)) {
			before = i
			break
		}
	}
	v := judge(withoutForgotten(w, before))
	t.Logf("%d of %d effects are from before\n%s", before, len(w.effects), v)
	v.report(t, d.dir, w)
	for _, e := range w.effects[before:] {
		if e.Books == "keys" || e.Books == "blind" {
			t.Errorf("%s of %s in %s: sent though it could not be looked for", e.Effect, e.Reference, e.Books)
		}
	}
	for _, r := range w.rows {
		searchable := r.key.system == "search" || r.key.system == "unique"
		switch first := lookOrSend(r, lost); {
		case first == string(work.Send):
			t.Errorf("%v was sent before it was looked for", r.key)
		case searchable && r.status != work.Confirmed:
			t.Errorf("%v is %s %s instead of confirmed", r.key, r.status, r.reason)
		}
	}
}

// Others take all connections that the database allows. Pages and the API say so, nothing is lost, and when there is room
// again the servers go on by themselves.
func TestPostgresConnectionsAllTaken(t *testing.T) {
	t.Parallel()
	pg := newOwnServer(t, "max_connections=25")
	d := databaseOn(t, pg)
	out := startOutside(t, d.dir, slowOutside())
	systems := connectAll(t, d.url, out.address)
	list := newPlan(systems, "INV", 60)
	servers := startServers(t, d.dir, d.url, 1)
	visitor := signIn(t, servers[0])
	rnd := rand.New(rand.NewPCG(*seed, 7)) //nolint:gosec // a test
	mustRecord(t, servers, rnd, list[:30])
	admin := pg.admin()
	others, err := sql.Open("pgx", d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer others.Close() //nolint:errcheck // on the way out
	var taken []*sql.Conn
	var most int
	if err := admin.QueryRow("SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int").Scan(&most); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "others to take all connections", func() (bool, string) {
		if _, err := admin.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'onefold%'"); err != nil {
			return false, err.Error()
		}
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			c, err := others.Conn(ctx)
			cancel()
			if err != nil {
				break
			}
			taken = append(taken, c)
		}
		// Not the servers' own are counted: one that only begins holds a place before it is listed.
		var held int
		err := admin.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name NOT LIKE 'onefold%'").Scan(&held)
		return err == nil && held >= most, fmt.Sprintf("%d of %d are taken, %v", held, most, err)
	})
	visitor.meetsNoDatabase(t)
	if err := record(servers, rnd, list[30:31]); err == nil {
		t.Error("an item was taken without a database")
	}
	for _, c := range taken {
		c.Close() //nolint:errcheck,gosec // only held
	}
	others.SetMaxIdleConns(0)
	visitor.isBack(t)
	mustRecord(t, servers, rnd, list[30:])
	d.rest(t, time.Minute)
	stopAll(t, servers)
	d.judged(t, out, list)
}

// guest is a person's browser at one server.
type guest struct {
	http   *http.Client
	server *server
}

var csrfInput = regexp.MustCompile(`name="csrf"[^>]*value="([^"]*)"`)

func signIn(t *testing.T, s *server) guest {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	g := guest{&http.Client{Jar: jar, Timeout: 15 * time.Second}, s}
	_, _, page := g.ask(t, http.MethodGet, "/login", nil)
	token := csrfInput.FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("no form to sign in: %s", page)
	}
	status, _, page := g.ask(t, http.MethodPost, "/login", url.Values{"csrf": {strings.ReplaceAll(token[1], "&#43;", "+")}, "login": {"admin"}, "password": {"crash-run-only"}})
	if status != http.StatusOK || strings.Contains(page, `name="password"`) {
		t.Fatalf("signing in: %d %s", status, page)
	}
	return g
}

func (g guest) ask(t *testing.T, method, path string, form url.Values) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, g.server.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := g.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to the end
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(body)
}

// meetsNoDatabase checks what people and machines are told while the database is away.
func (g guest) meetsNoDatabase(t *testing.T) {
	t.Helper()
	status, header, page := g.ask(t, http.MethodGet, "/", nil)
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(page, "The database cannot be reached") {
		t.Errorf("the list: %d, Retry-After %q: %s", status, header.Get("Retry-After"), page)
	}
	const note = "Rang Acme, they will pay on Friday"
	status, _, page = g.ask(t, http.MethodPost, "/items/1/close", url.Values{"note": {note}})
	if status != http.StatusServiceUnavailable || !strings.Contains(page, "Nothing of what you sent was saved") || !strings.Contains(page, note) {
		t.Errorf("a form: %d: %s", status, page)
	}
	err := record([]*server{g.server}, rand.New(rand.NewPCG(1, 1)), []invoice{newInvoice("search", "NEVER-TAKEN", 1)}) //nolint:gosec // one server
	if err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), `"unavailable"`) {
		t.Errorf("the API: %v", err)
	}
}

// isBack waits until the server works again, by itself.
func (g guest) isBack(t *testing.T) {
	t.Helper()
	eventually(t, 30*time.Second, "the server to find its database again", func() (bool, string) {
		status, _, _ := g.ask(t, http.MethodGet, "/", nil)
		return status == http.StatusOK, fmt.Sprint(status)
	})
}
