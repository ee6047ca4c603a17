//go:build unix

package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A new version is rolled out while work goes on: its first server brings the schema up to date under the servers of an
// older version, which record, claim, close and show pages as before, are killed and started again, and are then replaced
// one by one. The older versions are built from the history: the one before the newest migration, and the oldest that
// the schema lets start, which is several migrations away as from one release to the next. Both, since no release is tagged yet.
func TestTwoVersionsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds other versions")
	}
	t.Parallel()
	h := readHistory(t)
	newest := h.migrations[len(h.migrations)-1]
	before, oldest := h.before(t, newest.file), ""
	for _, m := range h.migrations {
		if m.number > h.needs() {
			if c := h.before(t, m.file); h.has(c, h.needs()) {
				oldest = c
				break
			}
		}
	}
	versions := map[string]string{"the one before": before}
	if oldest != "" && oldest != before {
		versions["the oldest that starts"] = oldest
	}
	for name, commit := range versions {
		t.Run(name, func(t *testing.T) {
			path, commit := h.build(t, commit)
			besideVersion(t, path, commit)
		})
	}
}

func besideVersion(t *testing.T, previous, commit string) {
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
			mustRecord(t, []*server{s}, rnd, list[given:given+20])
			given += 20
		}
	}
	give(old[0], old[1], fresh[0])
	pause(t.Context(), time.Second)
	asksPages(t, d, old[1])
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

// asksPages looks at the pages of a server as a person would.
func asksPages(t *testing.T, d *database, s *server) {
	t.Helper()
	var item int64
	if err := d.sql.QueryRow("SELECT min(id) FROM items").Scan(&item); err != nil {
		t.Fatal(err)
	}
	visitor := signIn(t, s)
	for _, page := range []string{"/", "/?tab=all", fmt.Sprintf("/items/%d", item), "/overview", "/attempts", "/systems", "/limits", "/automations", "/events", "/import",
		"/plans", "/reports", "/settings/retention", "/servers", "/people", "/audit"} {
		if status, _, text := visitor.ask(t, http.MethodGet, page, nil); status != http.StatusOK {
			t.Errorf("%s shows %s so over the newer schema: %d %s", s.name, page, status, text)
		}
	}
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

// history is that of the sources: the migrations in order, and the commits that added them.
type history struct {
	root       string
	migrations []migration
}

type migration struct {
	number int
	file   string
}

// unavailable fails the test where PostgreSQL is required, as a test that cannot reach it does; elsewhere it is skipped: an archive
// of the sources has no history.
func unavailable(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" || os.Getenv("ONEFOLD_REQUIRE_POSTGRES") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func readHistory(t *testing.T) history {
	t.Helper()
	h := history{root: filepath.Join("..", "..")}
	files, err := filepath.Glob(filepath.Join(h.root, "migrations", "postgres", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal("no migrations", err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		number, _, _ := strings.Cut(name, "_")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		h.migrations = append(h.migrations, migration{n, name})
	}
	return h
}

func (h history) git(args ...string) (string, error) {
	text, err := exec.Command("git", append([]string{"-C", h.root}, args...)...).Output()
	return strings.TrimSpace(string(text)), err
}

var raised = regexp.MustCompile(`UPDATE schema_needs SET version = (\d+)`)

// needs is the schema that a program must know to start on that of this version.
func (h history) needs() int {
	needs := toleratedFrom
	for _, m := range h.migrations {
		text, _ := os.ReadFile(filepath.Join(h.root, "migrations", "postgres", m.file)) //nolint:errcheck // it was listed
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		if found := raised.FindStringSubmatch(up); found != nil {
			needs, _ = strconv.Atoi(found[1]) //nolint:errcheck // digits
		}
	}
	return needs
}

// before is the commit before the one that added a migration; of one that is not committed yet, the last commit.
func (h history) before(t *testing.T, file string) string {
	t.Helper()
	added, err := h.git("log", "--diff-filter=A", "--format=%H", "-1", "--", "migrations/postgres/"+file)
	if err != nil {
		unavailable(t, "the history of the sources is not here: %v", err)
	}
	commit := "HEAD"
	if added != "" {
		commit = added + "^"
	}
	if commit, err = h.git("rev-parse", "--verify", commit); err != nil {
		unavailable(t, "the history of the sources does not go back to %s: %v", file, err)
	}
	return commit
}

// has reports whether the program of a commit knows the migration.
func (h history) has(commit string, number int) bool {
	list, err := h.git("ls-tree", "--name-only", commit, "migrations/postgres/")
	return err == nil && strings.Contains(list, fmt.Sprintf("/%05d_", number))
}

// build makes the server of a commit, or of one shortly before it: not each commit of a history need build.
func (h history) build(t *testing.T, commit string) (path, built string) {
	t.Helper()
	var text []byte
	for range 4 {
		dir := t.TempDir()
		sources := filepath.Join(dir, "sources.tar")
		if _, err := h.git("archive", "--format=tar", "--output="+sources, commit); err != nil {
			unavailable(t, "the sources of %.12s are not here: %v", commit, err)
		}
		if text, err := exec.Command("tar", "-xf", sources, "-C", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, text)
		}
		path = filepath.Join(dir, "onefold")
		cmd := exec.Command("go", "build", "-gcflags=onefold/...=-N -l", "-o", path, "./cmd/server") // built sooner, and quick enough
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		var err error
		if text, err = cmd.CombinedOutput(); err == nil {
			return path, commit
		}
		t.Logf("%.12s does not build", commit)
		if commit, err = h.git("rev-parse", "--verify", commit+"^"); err != nil {
			break
		}
	}
	unavailable(t, "no older version builds: %s", text)
	return "", ""
}
