package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onefold/internal/auth"
)

// A file does not begin on a system that was never proven, unless whoever gives the command agrees, on record and once.
func TestImportCommandAsksBeforeAnUnprovenSystem(t *testing.T) {
	folder := t.TempDir()
	db, file := filepath.Join(folder, "onefold.db"), filepath.Join(folder, "november.csv")
	if err := os.WriteFile(file, []byte("key,customer_id,currency,amount\nINV-1,C-1,EUR,1.00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "system", "add", "--database", db, "--id", "books", "--name", "Books", "--address", "http://127.0.0.1:9/acme"); err != nil {
		t.Fatal(err)
	}
	agreements := func() int {
		t.Helper()
		page, err := testAuth(t, db).AuditPage(t.Context(), console, auth.AuditFilter{What: []string{"automation_on_unproven"}})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Records)
	}
	_, err := command(t, "import", file, "--database", db)
	for _, want := range []string{"nothing was recorded", "Books was never proven", "onefold verify", "--unproven"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%q is missing: %v", want, err)
		}
	}
	if out, err := command(t, "import", file, "--database", db, "--check", "--unproven"); err != nil || agreements() != 0 {
		t.Fatalf("checking agrees to something: %s %v", out, err)
	}
	broken := filepath.Join(folder, "broken.csv")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, "import", broken, "--database", db, "--unproven"); err == nil || agreements() != 0 {
		t.Fatalf("a file that cannot be read agrees to something: %s %v", out, err)
	}
	for range 2 {
		if out, err := command(t, "import", file, "--database", db, "--unproven"); err != nil || agreements() != 1 {
			t.Fatalf("%d agreements: %s %v", agreements(), out, err)
		}
	}
	if out, err := command(t, "import", file, "--database", db); err != nil { // it has begun
		t.Fatalf("asked again: %s %v", out, err)
	}

	if _, err := command(t, "import", file, "--database", db, "--automation", "another"); err == nil {
		t.Fatal("another automation begins unasked")
	}
	if out, err := command(t, "system", "begin", "--database", db, "--id", "books", "--automation", "another"); err != nil || !strings.Contains(out, "may begin") || agreements() != 2 {
		t.Fatalf("%d agreements: %s %v", agreements(), out, err)
	}
	if _, err := command(t, "system", "begin", "--database", db, "--id", "nobody", "--automation", "another"); err == nil {
		t.Error("something begins on a system that is not there")
	}
}
