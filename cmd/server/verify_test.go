package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sandboxserver "onefold/internal/ledger/sandbox/server"
)

// A program can tell from the exit code alone how a proof ended.
func TestVerifyHasExitCodesForPrograms(t *testing.T) {
	outside, err := sandboxserver.New(sandboxserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close() //nolint:errcheck // on the way out
	h := httptest.NewServer(outside)
	defer h.Close()
	data := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	add := func(id, address, personality string) {
		t.Helper()
		if _, err := command(t, "system", "add", "--data", data, "--id", id, "--address", address, "--set", "personality="+personality+",linger=0s,search_lag=0s,misses=1"); err != nil {
			t.Fatal(err)
		}
	}
	add("unique", h.URL+"/unique", "unique")
	add("blind", h.URL+"/blind", "blind")
	add("lying", h.URL+"/blind", "keys")
	add("away", "http://127.0.0.1:1/books", "unique")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"verify"}, 2, "accepts 1 arg"},
		{[]string{"verify", "nothing"}, 2, `no accounting system "nothing"`},
		{[]string{"verify", "unique"}, 2, "name a test customer"},
		{[]string{"verify", "unique", "--customer", "C", "--currency", "Euro"}, 2, "the amount must be above zero"},
		{[]string{"verify", "unique", "--customer", "C", "--currency", "EUR"}, 0, ""},
		{[]string{"verify", "unique", "--amount", "2.00"}, 0, ""}, // the rest as the last time
		{[]string{"verify", "blind", "--customer", "C", "--currency", "EUR"}, 3, "was not proven"},
		{[]string{"verify", "lying", "--customer", "C", "--currency", "EUR", "--json", "--adopt"}, 1, "was not proven"},
		{[]string{"verify", "away", "--customer", "C", "--currency", "EUR"}, 1, "was not proven"},
	} {
		out, err := command(t, append(c.args, "--data", data)...)
		code, text := 0, ""
		if err != nil {
			code, text = exitCode(err), err.Error()
		}
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%v: exit code %d, not %d: %q\n%s", c.args, code, c.code, text, out)
		}
		if c.args[len(c.args)-1] == "--adopt" {
			var r report
			if err := json.Unmarshal([]byte(out), &r); err != nil || r.State != "failed" || !r.Offer.NoKeys || !r.Adopted || len(r.Left) == 0 {
				t.Errorf("the report: %v\n%s", err, out)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "onefold-proof-*")); err != nil || len(left) > 0 {
		t.Errorf("databases of proofs are left: %v %v", left, err)
	}
}
