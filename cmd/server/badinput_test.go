package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// command runs a sub-command as from a shell and returns what it printed and its error.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out bytes.Buffer
	err := run(ctx, args, &out, io.Discard)
	return out.String(), err
}

// Bad input gets one clear sentence and an error, never a stack trace and never a secret.
func TestBadInput(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder) // what a command makes where it runs
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fresh := filepath.Join(folder, "fresh.db")
	if _, err := command(t, "system", "add", "--database", fresh, "--id", "books", "--address", "http://127.0.0.1:9/acme"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"unknown command":       {args: []string{"explode"}, want: `unknown command "explode"`},
		"unknown flag":          {args: []string{"serve", "--exploed"}, want: "unknown flag: --exploed"},
		"flag without a number": {args: []string{"system", "add", "--in-flight", "many"}, want: "--in-flight"},
		"environment":           {env: map[string]string{"ONEFOLD_SECURE": "perhaps"}, args: []string{"serve"}, want: "ONEFOLD_SECURE"},
		"secret file missing":   {env: map[string]string{"ONEFOLD_API_TOKEN_FILE": filepath.Join(folder, "nowhere")}, args: []string{"serve"}, want: "ONEFOLD_API_TOKEN_FILE"},
		"zone":                  {args: []string{"serve", "--zone", "Mars/Olympus"}, want: `the zone "Mars/Olympus" is not known`},
		"address in use":        {args: []string{"serve", "--database", fresh, "--data", folder, "--listen", "256.0.0.1:1"}, want: "cannot listen on 256.0.0.1:1"},
		"too few connections":   {args: []string{"serve", "--database-connections", "2"}, want: "at least 3"},
		"unreachable database":  {args: []string{"migrate", "--database", "postgres://onefold:s3cret@127.0.0.1:1/onefold"}, want: "database"},
		"not a database":        {args: []string{"migrate", "--database", file("text.db", strings.Repeat("not a database ", 1000))}, want: "database"},
		"folder as database":    {args: []string{"migrate", "--database", folder}, want: "database"},
		"no file":               {args: []string{"import", filepath.Join(folder, "none.csv"), "--database", fresh}, want: "none.csv"},
		"no file named":         {args: []string{"import"}, want: "arg"},
		"empty file":            {args: []string{"import", file("empty.csv", ""), "--database", fresh}, want: "empty"},
		"no key column":         {args: []string{"import", file("nokey.csv", "customer,amount\nA,1\n"), "--database", fresh}, want: "key"},
		"system not connected":  {args: []string{"import", file("one.csv", "key,customer_id,currency,amount\nA,C,EUR,1.00\n"), "--database", fresh, "--system", "nobody"}, want: "nobody"},
		"unknown adapter":       {args: []string{"system", "add", "--database", fresh, "--id", "x", "--address", "http://x", "--adapter", "abacus"}, want: `no adapter "abacus"`},
		"unknown personality":   {args: []string{"system", "add", "--database", fresh, "--id", "x", "--address", "http://x", "--set", "personality=moody"}, want: `no personality "moody"`},
		"address of a system":   {args: []string{"system", "add", "--database", fresh, "--id", "x", "--address", "books"}, want: "address"},
		"limits":                {args: []string{"system", "add", "--database", fresh, "--id", "x", "--address", "http://x", "--sends", "0"}, want: "number of sends must be between 1 and 20"},
		"health without server": {args: []string{"health", "--address", "http://127.0.0.1:1"}, want: "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			out, err := command(t, c.args...)
			if err == nil {
				t.Fatalf("accepted; printed %q", out)
			}
			text := err.Error()
			if !strings.Contains(text, c.want) {
				t.Errorf("says %q, which does not name %q", text, c.want)
			}
			if strings.Contains(text, "\n") || strings.Contains(text, "goroutine") || strings.Contains(text, "s3cret") || len(text) > 400 {
				t.Errorf("is not one clear sentence: %q", text)
			}
		})
	}
}
