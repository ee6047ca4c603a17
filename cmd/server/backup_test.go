package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackupAndRestoreCommands(t *testing.T) {
	data, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy.db")
	if _, err := command(t, "system", "add", "--data", data, "--id", "books", "--address", "http://127.0.0.1:9/acme"); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, "backup", copied, "--data", data)
	if err != nil || !strings.Contains(out, "0 items (0 of them open)") {
		t.Fatalf("%q, %v", out, err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the copy is there":     {[]string{"backup", copied, "--data", data}, "is not overwritten"},
		"nothing to copy":       {[]string{"backup", copied + "2", "--data", t.TempDir()}, "no such file"},
		"PostgreSQL":            {[]string{"backup", copied + "2", "--database", "postgres://ada:secret@h/books"}, "pg_dump"},
		"the database is there": {[]string{"restore", copied, "--data", data}, "with --force it is moved aside"},
		"no copy":               {[]string{"restore", copied + "2", "--data", t.TempDir()}, "no such file"},
		"another file":          {[]string{"restore", "backup_test.go", "--data", t.TempDir()}, "no whole database of Onefold"},
		"no name":               {[]string{"restore"}, "accepts 1 arg"},
	} {
		_, err := command(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") || exitCode(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out, err = command(t, "restore", copied, "--data", data, "--force"); err != nil || !strings.Contains(out, "Nothing is sent before it was looked for") {
		t.Fatalf("%q, %v", out, err)
	}
	if aside, _ := filepath.Glob(filepath.Join(data, "onefold.db.replaced-*")); len(aside) != 1 {
		t.Errorf("what was there is not kept: %v", aside)
	}
	fresh := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Mkdir(fresh, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{data, fresh} {
		if folder == fresh {
			if _, err := command(t, "restore", copied, "--data", fresh); err != nil {
				t.Fatal(err)
			}
		}
		if out, err = command(t, "system", "list", "--data", folder); err != nil || !strings.Contains(out, "look") {
			t.Errorf("after a restore the system does not look first: %q, %v", out, err)
		}
	}
}
