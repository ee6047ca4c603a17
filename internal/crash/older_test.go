//go:build unix

package crash

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

// An older database file is put back, with the side mark that stayed behind (the file alone was restored) and without
// any (moved to a new machine). The server sends nothing before it has looked: what is there is found and adopted, what
// cannot be searched waits for a person, and what was never there is sent after the look.
func TestOlderDatabaseFilePutBack(t *testing.T) {
	t.Run("beside its mark", func(t *testing.T) { olderFilePutBack(t, true) })
	t.Run("without a mark", func(t *testing.T) { olderFilePutBack(t, false) })
}

func olderFilePutBack(t *testing.T, mark bool) {
	t.Parallel()
	d := sqlite(t)
	out := startOutside(t, d.dir, sandboxserver.Plan{})
	systems := connectAll(t, d.url, out.address)
	known, open, forgotten, fresh := newPlan(systems, "KNOWN", 20), newPlan(systems, "OPEN", 20), newPlan(systems, "FORGOTTEN", 20), newPlan(systems, "FRESH", 20)
	s := startServers(t, d.dir, d.url, 1)[0]
	servers := []*server{s}
	rnd := rand.New(rand.NewPCG(*seed, 4)) //nolint:gosec // a test
	give := func(list []invoice) {
		t.Helper()
		mustRecord(t, servers, rnd, list)
	}
	give(known)
	d.rest(t, time.Minute)

	// The backup is made while work is open: the accounting system is away, so nothing of it is sent yet.
	out.kill()
	give(open)
	stopAll(t, servers)
	d.close(t)
	older := filepath.Join(d.dir, "older")
	copyDatabase(t, d.url, older)

	// Life goes on, and the database will know nothing of it.
	if err := out.start(); err != nil {
		t.Fatal(err)
	}
	restart(t, servers)
	d.reopen(t)
	give(forgotten)
	d.rest(t, 2*time.Minute)
	stopAll(t, servers)
	d.close(t)
	before := out.effects(t)
	if want := 2 * (len(known) + len(open) + len(forgotten)); len(before) != want {
		t.Fatalf("%d effects instead of %d before the older file is put back", len(before), want)
	}

	copyDatabase(t, older, d.url)
	if !mark {
		if err := os.Remove(d.url + ".mark"); err != nil {
			t.Fatal(err)
		}
	}
	restart(t, servers)
	d.reopen(t)
	put := time.Now()
	var looking int
	if err := d.sql.QueryRow("SELECT count(*) FROM systems WHERE look_first IS NOT NULL").Scan(&looking); err != nil {
		t.Fatal(err)
	}
	if looking != len(systems) {
		t.Fatalf("%d of %d systems look first", looking, len(systems))
	}
	give(forgotten) // the planners plan the same again
	give(fresh)
	d.rest(t, 2*time.Minute)
	stopAll(t, servers)

	w := world{asked: slices.Concat(known, open, forgotten, fresh), rows: d.all(t), effects: out.effects(t), settles: settle}
	v := judge(withoutForgotten(w, len(before)))
	t.Logf("after %s\n%s", time.Since(put).Round(time.Second), v)
	v.report(t, d.dir, w)
	for _, e := range w.effects[len(before):] {
		if e.Books == "keys" || e.Books == "blind" {
			t.Errorf("%s of %s in %s: sent though it could not be looked for", e.Effect, e.Reference, e.Books)
		}
	}
	for _, r := range w.rows {
		searchable := r.key.system == "search" || r.key.system == "unique"
		switch first := lookOrSend(r, put); {
		case first == string(work.Send):
			t.Errorf("%v was sent before it was looked for", r.key)
		case searchable && r.status != work.Confirmed:
			t.Errorf("%v is %s %s instead of confirmed", r.key, r.status, r.reason)
		}
	}
	d.close(t)
}

// withoutForgotten takes the attempts away from the question: the database rightly knows nothing of sends that were made
// after the copy. Their effects must still belong to items, once each.
func withoutForgotten(w world, before int) world {
	for _, e := range w.effects[:before] {
		for _, r := range w.rows {
			step := "create"
			if e.Effect == "posted" {
				step = "post"
			}
			if r.key == (key{e.Books, e.Reference, step}) {
				r.forgotten = true
			}
		}
	}
	return w
}

// lookOrSend is the kind of the first attempt of an item since a time.
func lookOrSend(r *row, since time.Time) string {
	for _, a := range r.tries {
		if a.started.After(since) {
			return a.kind
		}
	}
	return ""
}

// copyDatabase copies the file and its journal, as the same files beside the target; the target's own are removed first.
func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	for _, more := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(to + more); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(from + more)
		if os.IsNotExist(err) && more != "" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+more, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
