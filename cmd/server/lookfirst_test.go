package main

import (
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// A whole machine is put back, or a server starts that knows nothing of what another one sent: nothing in the database or beside it
// tells. After the command the first server that starts sends nothing that was not looked for, and the console is on record.
func TestLookFirstCommand(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		flags := []string{"--database", db.URL, "--data", t.TempDir()}
		for _, c := range [][]string{
			{"system", "add", "--id", "books", "--address", "http://127.0.0.1:9/acme"},
			{"system", "add", "--id", "shop", "--address", "http://127.0.0.1:9/shop"},
		} {
			if _, err := command(t, append(c, flags...)...); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range [][]string{{"look-first"}, {"look-first", "--why", " "}} {
			if _, err := command(t, append(c, flags...)...); err == nil || exitCode(err) != 2 {
				t.Errorf("%q begins look-first without a reason: %v", c, err)
			}
		}
		out, err := command(t, append([]string{"look-first", "--why", "the machine was set back to Sunday"}, flags...)...)
		if err != nil || !strings.Contains(out, "(books) looks first") || !strings.Contains(out, "(shop) looks first") {
			t.Fatalf("%q, %v", out, err)
		}

		st := db.Open(t, store.Config{})
		systems, err := st.Systems(t.Context())
		if err != nil || len(systems) != 2 {
			t.Fatalf("%+v, %v", systems, err)
		}
		it := work.Item{Status: work.Queued}
		for _, sys := range systems {
			if _, err := work.Gate(it, sys.Rules(), time.Now()); err == nil || sys.LookFirstWhy != "the machine was set back to Sunday" {
				t.Errorf("%s sends at once: %+v", sys.ID, sys)
			}
		}
		trail, err := st.AuditPage(t.Context(), auth.AuditFilter{Who: "console:console", What: []string{"look_first_on"}})
		if err != nil || len(trail.Records) != 2 {
			t.Errorf("the console is not on record: %+v, %v", trail, err)
		}
	})
}
