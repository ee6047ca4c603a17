package storetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Dump makes a dump of the database in pg_dump's custom format.
func Dump(t testing.TB, db DB, file string) {
	t.Helper()
	tool(t, "pg_dump", "--format=custom", "--file="+file, db.URL)
}

// Restore loads a dump into the database with pg_restore, with more options.
func Restore(t testing.TB, db DB, file string, more ...string) {
	t.Helper()
	tool(t, "pg_restore", append(more, "--exit-on-error", "--no-owner", "--dbname="+db.URL, file)...)
}

// tool runs one of PostgreSQL's programs. Without it the test is skipped, or fails where PostgreSQL is required.
func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
			path = slices.Max(found)
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" || os.Getenv("ONEFOLD_REQUIRE_POSTGRES") == "1" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("%s is not installed", name)
	}
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
