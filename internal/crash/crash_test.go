//go:build unix

package crash

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	sandboxserver "onefold/internal/ledger/sandbox/server"
)

// run is one crash run.
type run struct {
	servers int
	items   int
	lasts   time.Duration // of the recording and the disturbances
	every   time.Duration // between two disturbances
	kills   int           // goes on until so many servers were killed
	outages int
	settles time.Duration // bound for everything to come to rest
}

func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Run("sqlite", func(t *testing.T) {
			t.Parallel()
			run{servers: 1, items: 80, lasts: 4 * time.Second, every: time.Second, settles: 2 * time.Minute}.on(t, sqlite(t))
		})
		return
	}
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		run{servers: 3, items: 500, lasts: 16 * time.Second, every: 700 * time.Millisecond, kills: 8, outages: 1, settles: 2 * time.Minute}.on(t, postgres(t))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		run{servers: 1, items: 150, lasts: 8 * time.Second, every: 1500 * time.Millisecond, kills: 3, settles: 2 * time.Minute}.on(t, sqlite(t))
	})
}

func TestTorture(t *testing.T) {
	if !*torture {
		t.Skip("the long run is made by make torture")
	}
	lasts := time.Duration(*kills) * 3 * time.Second
	t.Run("postgres", func(t *testing.T) {
		run{servers: 3, items: *items, lasts: lasts, every: 1500 * time.Millisecond, kills: *kills, outages: max(1, *kills/20), settles: 10 * time.Minute}.on(t, postgres(t))
	})
	t.Run("sqlite", func(t *testing.T) {
		run{servers: 1, items: *items / 10, lasts: lasts / 4, every: 3 * time.Second, kills: *kills / 10, outages: 2, settles: 10 * time.Minute}.on(t, sqlite(t))
	})
}

// on makes the run on a database and judges it.
func (r run) on(t *testing.T, d *database) {
	t.Logf("seed %d: go test ./internal/crash -run '%s' -seed %d", *seed, t.Name(), *seed)
	binary(t)
	begun := time.Now()
	dir := d.dir
	out := startOutside(t, dir, faults(*seed))
	list := newPlan(connectAll(t, d.url, out.address), "INV", r.items)
	servers := startServers(t, dir, d.url, r.servers)
	staff := newPeople(t, d.url)

	c := &chaos{servers: servers, outside: out, every: r.every, outages: r.outages}
	disturbed, calm := context.WithTimeout(t.Context(), r.lasts)
	defer calm()
	recording, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	planned := startPlanners(recording, servers, list, r.lasts*3/4)
	acting := make(chan struct{})
	go func() {
		defer close(acting)
		staff.run(disturbed)
	}()
	c.run(disturbed, r.kills, *seed)
	<-acting
	for _, s := range servers {
		s.ready(t)
	}
	planned.wait(t)
	for _, p := range c.problems {
		t.Error(p)
	}
	t.Logf("%s; %d keys recorded by two planners (%d batches posted again); %s; %s", c, len(list), planned.retries, staff, time.Since(begun).Round(time.Second))

	out.behave(t, dir)
	d.rest(t, r.settles)
	stopAll(t, servers)
	w := world{asked: list, rows: d.all(t), effects: out.effects(t), freezes: frozen(servers), settles: settle}
	w.sameAsAudit(t, out.journal)
	v := judge(w)
	t.Logf("at rest after %s, before anybody cleared the desk\n%s", time.Since(begun).Round(time.Second), v)
	v.report(t, dir, w)

	r.clear(t, d, servers, staff, out, w)
	t.Logf("took %s", time.Since(begun).Round(time.Second))
}

// clear lets a person settle what is left, and judges again: then nothing but what the outside itself refused is open.
func (r run) clear(t *testing.T, d *database, servers []*server, staff *people, out *outside, w world) {
	restart(t, servers)
	for round := 1; ; round++ {
		acted := 0
		eventually(t, 30*time.Second, "sends to settle before a person says what is there", func() (bool, string) {
			n, waiting, err := staff.clearDesk(t.Context(), whatIsThere(out.effects(t)))
			if err != nil {
				t.Fatal(err)
			}
			acted += n
			return waiting == 0, fmt.Sprint(waiting, " wait")
		})
		if acted == 0 {
			break
		}
		if round > 6 { // create and post, each looked at, sent and maybe looked at again
			t.Fatalf("the desk is not clear after %d rounds", round)
		}
		d.rest(t, r.settles)
	}
	stopAll(t, servers)
	w.rows, w.effects = d.all(t), out.effects(t)
	w.sameAsAudit(t, out.journal)
	v := judge(w)
	t.Logf("the desk is clear\n%s", v)
	v.report(t, d.dir, w)
	left := 0
	for name, n := range v.statuses {
		if strings.Contains(name, " review ") && !strings.HasSuffix(name, " duplicates") {
			left += n
		}
	}
	if most := r.items/20 + 5; left > most {
		t.Errorf("%d items are left to people, at most %d were to be expected", left, most)
	}
}

func restart(t *testing.T, servers []*server) {
	t.Helper()
	for _, s := range servers {
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range servers {
		s.ready(t)
	}
}

// stopAll asks every server to end: each lets its calls finish and writes down their answers.
func stopAll(t *testing.T, servers []*server) {
	t.Helper()
	for _, s := range servers {
		if err := s.stop(20 * time.Second); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// rest waits until nothing is due and nobody works on anything.
func (d *database) rest(t *testing.T, within time.Duration) {
	t.Helper()
	last := time.Now()
	eventually(t, within, "everything to come to rest", func() (bool, string) {
		state, moving, err := d.counts(t.Context())
		if err != nil {
			return false, err.Error()
		}
		if time.Since(last) > 10*time.Second {
			last = time.Now()
			t.Log(state)
		}
		return moving == 0, state
	})
}

func (d *database) all(t *testing.T) []*row {
	t.Helper()
	rows, err := d.items(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// sameAsAudit compares our reading of the journal with the sandbox's own.
func (w world) sameAsAudit(t *testing.T, journal string) {
	t.Helper()
	audit, err := sandboxserver.Audit(journal)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, times := range audit.Effects {
		n += times
	}
	if n != len(w.effects) {
		t.Fatalf("the sandbox counts %d effects, we count %d", n, len(w.effects))
	}
}

// report fails the test with each problem, and keeps the histories in question.
func (v verdict) report(t *testing.T, dir string, w world) {
	t.Helper()
	for _, e := range v.excused {
		t.Logf("frozen inside the write call: %s", e)
	}
	if v.overstays > 0 {
		t.Logf("%d effects came later than the accounting system promises (%s): the machine had no time for it", v.overstays, w.settles)
	}
	for i, p := range v.problems {
		if i == 20 {
			t.Errorf("and %d more", len(v.problems)-i)
			break
		}
		t.Error(p)
	}
	if len(v.problems) == 0 {
		return
	}
	var b strings.Builder
	for _, p := range v.problems {
		fmt.Fprintln(&b, p)
	}
	for _, r := range w.rows {
		if !strings.Contains(b.String(), fmt.Sprintf("item %d ", r.id)) {
			continue
		}
		fmt.Fprintf(&b, "\n%+v\n", *r)
		for _, e := range w.effects {
			if e.Books == r.key.system && e.Reference == r.key.reference {
				fmt.Fprintf(&b, "  outside: %+v\n", e)
			}
		}
	}
	for _, f := range w.freezes {
		fmt.Fprintf(&b, "frozen: %+v\n", f)
	}
	if err := os.WriteFile(filepath.Join(dir, "problems.txt"), []byte(b.String()), 0o600); err != nil {
		t.Error(err)
	}
}

// whatIsThere is what a person sees who looks through the accounting system's own pages.
func whatIsThere(effects []sandboxserver.Effect) func(key) (string, bool) {
	ids := map[key]string{}
	for _, e := range effects {
		step := "create"
		if e.Effect == "posted" {
			step = "post"
		}
		ids[key{e.Books, e.Reference, step}] = e.ID
	}
	return func(k key) (string, bool) {
		id, ok := ids[k]
		return id, ok
	}
}

// postgres makes a database of its own on the server that ONEFOLD_TEST_POSTGRES names.
func postgres(t *testing.T) *database {
	t.Helper()
	address := os.Getenv("ONEFOLD_TEST_POSTGRES")
	if address == "" {
		if os.Getenv("ONEFOLD_REQUIRE_POSTGRES") != "" {
			t.Fatal("ONEFOLD_TEST_POSTGRES is not set")
		}
		t.Skip("ONEFOLD_TEST_POSTGRES is not set: run make test, or scripts/with-postgres go test ./internal/crash")
	}
	admin, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() }) //nolint:errcheck,gosec // on the way out
	name := fmt.Sprintf("crash_%d_%d", os.Getpid(), rand.Uint32())
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() || *keep {
			t.Logf("the database %s is kept", name)
			return
		}
		if _, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return opened(t, &database{url: u.String(), dir: workspace(t)}, "pgx", u.String())
}

// sqlite is a file of its own.
func sqlite(t *testing.T) *database {
	t.Helper()
	dir := workspace(t)
	file := filepath.Join(dir, "onefold.db")
	return opened(t, &database{url: file, dir: dir}, "sqlite", "file:"+file+"?_pragma=busy_timeout(10000)")
}

func opened(t *testing.T, d *database, driver, dsn string) *database {
	t.Helper()
	d.driver, d.dsn = driver, dsn
	d.reopen(t)
	t.Cleanup(func() { d.sql.Close() }) //nolint:errcheck,gosec // on the way out
	return d
}

func (d *database) reopen(t *testing.T) {
	t.Helper()
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	d.sql = db
}

// close lets go of the file.
func (d *database) close(t *testing.T) {
	t.Helper()
	if err := d.sql.Close(); err != nil {
		t.Fatal(err)
	}
}
