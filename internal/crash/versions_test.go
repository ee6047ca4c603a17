//go:build unix

package crash

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A new version is rolled out while work goes on: its first server brings the schema up to date under the servers of the
// previous version, which record, claim and close as before, are killed and started again, and are then replaced one by
// one. The previous version is the commit before the newest migration, built from the history.
func TestTwoVersionsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds another version")
	}
	t.Parallel()
	previous, commit := previousVersion(t)
	d := postgres(t)
	out := startOutside(t, d.dir, slowOutside())
	old := []*server{newServer(t, d.dir, d.url, "old-a"), newServer(t, d.dir, d.url, "old-b")}
	for _, s := range old {
		s.path = previous
	}
	restart(t, old)
	before := d.schema(t)
	list := newPlan(connectAll(t, d.url, out.address), "INV", 240) // by the new version: the schema is up to date from here on
	after := d.schema(t)
	if after <= before {
		t.Fatalf("the previous version (%.12s) has schema %d, this one %d", commit, before, after)
	}
	t.Logf("%.12s with schema %d beside this version with schema %d", commit, before, after)
	fresh := []*server{newServer(t, d.dir, d.url, "new-a"), newServer(t, d.dir, d.url, "new-b")}
	restart(t, fresh[:1])
	rnd := rand.New(rand.NewPCG(*seed, 8)) //nolint:gosec // a test
	given := 0
	give := func(to ...*server) { // each of them takes some, whoever carries it out
		t.Helper()
		for _, s := range to {
			if err := record([]*server{s}, rnd, list[given:given+20]); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
			given += 20
		}
	}
	give(old[0], old[1], fresh[0])
	pause(t.Context(), time.Second)
	give(old...)
	old[0].kill() // in the middle of it
	give(old[1], fresh[0])
	if before >= toleratedFrom {
		restart(t, old[:1]) // a version that is put back
		give(old[0])
	}
	stopAll(t, []*server{old[1]})
	restart(t, fresh[1:])
	give(fresh...)
	if old[0].alive() {
		stopAll(t, old[:1])
	}
	give(fresh...)
	d.rest(t, time.Minute)
	stopAll(t, fresh)
	d.judged(t, out, list[:given])
}

// toleratedFrom is the first schema whose programs start on a newer one.
const toleratedFrom = 20

func (d *database) schema(t *testing.T) (version int) {
	t.Helper()
	if err := d.sql.QueryRow("SELECT max(version_id) FROM goose_db_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// previousVersion builds the server as it was before the newest migration was added. Without the history the test is
// skipped: an archive of the sources has none.
func previousVersion(t *testing.T) (path, commit string) {
	t.Helper()
	root := filepath.Join("..", "..")
	git := func(args ...string) string {
		text, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			t.Skipf("the history of the sources is not here: git %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(text))
	}
	files, err := filepath.Glob(filepath.Join(root, "migrations", "postgres", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal("no migrations", err)
	}
	newest := filepath.Base(files[len(files)-1])
	added := git("log", "--diff-filter=A", "--format=%H", "-1", "--", "migrations/postgres/"+newest)
	if added == "" {
		t.Skipf("%s is not committed yet", newest)
	}
	commit = git("rev-parse", added+"^")
	dir := t.TempDir()
	sources := filepath.Join(dir, "previous.tar")
	git("archive", "--format=tar", "--output="+sources, commit)
	if text, err := exec.Command("tar", "-xf", sources, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, text)
	}
	path = filepath.Join(dir, "previous")
	cmd := exec.Command("go", "build", "-gcflags=onefold/...=-N -l", "-o", path, "./cmd/server") // built sooner, and quick enough
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		// A commit of the history need not build: this says nothing about the migration.
		t.Skipf("the previous version (%.12s) does not build: %v\n%s", commit, err, text)
	}
	return path, commit
}
