package crash

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var (
	torture   = flag.Bool("torture", false, "make the long run too")
	kills     = flag.Int("kills", 200, "of the long run: servers killed on PostgreSQL, at least")
	items     = flag.Int("items", 20_000, "of the long run: business keys recorded on PostgreSQL")
	seed      = flag.Uint64("seed", 0, "of all that is random; 0: from the clock")
	keep      = flag.Bool("keep", false, "keep the folder of a run that passed too")
	binaryDir string
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano()) % 1_000_000 //nolint:gosec // after 1970
	}
	code := m.Run()
	if binaryDir != "" {
		os.RemoveAll(binaryDir) //nolint:errcheck,gosec // on the way out
	}
	os.Exit(code)
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "onefold-binary-")
	if err != nil {
		return "", err
	}
	binaryDir = dir
	out := filepath.Join(dir, "onefold")
	cmd := exec.Command("go", "build", "-o", out, "./cmd/server")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the server does not build: %w\n%s", err, text)
	}
	return out, nil
})

// binary is the server, built once in a test run.
func binary(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// workspace is the folder of one run. It is kept, and named, if the test fails.
func workspace(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "onefold-crash-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() || *keep {
			t.Logf("logs, journal and database are in %s", dir)
			return
		}
		os.RemoveAll(dir) //nolint:errcheck,gosec // on the way out
	})
	return dir
}
