package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/store"
	"onefold/internal/work"
)

func TestAuditIsAppendOnly(t *testing.T) {
	eachRaw(t, func(t *testing.T, s *store.Store, db *sql.DB) {
		must(t, s.Audit(t.Context(), auth.Entry{By: ada, What: auth.DidSignIn, Note: "no \x00, no \xff"}))
		texts := []string{"UPDATE audit SET note = 'x'", "UPDATE audit SET at = at WHERE id = 1", "DELETE FROM audit", "DELETE FROM audit WHERE id = 1"}
		if _, err := db.ExecContext(t.Context(), "SELECT now()"); err == nil {
			texts = append(texts, "TRUNCATE audit")
		}
		for _, text := range texts {
			if _, err := db.ExecContext(t.Context(), text); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
				t.Errorf("%s: %v", text, err)
			}
		}
		page, err := s.AuditPage(t.Context(), auth.AuditFilter{})
		must(t, err)
		if len(page.Records) != 1 || page.Records[0].Note != "no \uFFFD, no \uFFFD" || !page.Records[0].By.Same(ada) {
			t.Fatalf("%+v", page.Records)
		}
	})
}

// trail writes a mixed history: entries, acts on items and changes of settings, some at the same moment.
func trail(t *testing.T, s *store.Store, c *clock) (want []string) {
	t.Helper()
	it := record(t, s, "INV-1")
	for i := range 4 {
		must(t, s.Audit(t.Context(), auth.Entry{By: ada, From: auth.Origin{Address: "192.0.2.7", UserAgent: "Firefox"}, What: auth.DidExport,
			Object: fmt.Sprintf("list:%d", i), Before: `{"a":1}`, Note: "Month END"}))
		want = append(want, auth.DidExport)
		if i%2 == 0 {
			if _, err := apply(t, s, it.ID, work.Assign{By: ada, To: fmt.Sprintf("colleague %d", i)}); err != nil {
				t.Fatal(err)
			}
			must(t, s.Pause(t.Context(), "books", work.Actor{Kind: work.Person, ID: "8", Name: "Otto Ops"}, "month end"))
			must(t, s.Resume(t.Context(), "books", ada, ""))
			want = append(want, "item_assign", "system_paused", "system_resumed")
		}
		if i != 1 {
			c.advance(time.Hour)
		}
	}
	return want
}

func whats(records []auth.Record) (list []string) {
	for _, r := range records {
		list = append(list, r.What)
	}
	return list
}

// One page shows everything that people did, and paging shows each record once.
func TestAuditShowsEverything(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		want := trail(t, s, c)
		all, err := s.AuditPage(t.Context(), auth.AuditFilter{Limit: 100})
		must(t, err)
		got := whats(all.Records)
		if a, b := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)); !slices.Equal(a, b) || all.Next.Source != "" {
			t.Fatalf("%v, want %v", a, b)
		}
		for _, size := range []int{1, 2, 3} {
			var paged []auth.Record
			f := auth.AuditFilter{Limit: size}
			for {
				page, err := s.AuditPage(t.Context(), f)
				must(t, err)
				paged = append(paged, page.Records...)
				if f.After = page.Next; f.After.Source == "" {
					break
				}
			}
			if fmt.Sprint(paged) != fmt.Sprint(all.Records) {
				t.Errorf("pages of %d: %v, want %v", size, whats(paged), got)
			}
		}
		var streamed []auth.Record
		for r, err := range s.AuditAll(t.Context(), auth.AuditFilter{}) {
			must(t, err)
			streamed = append(streamed, r)
		}
		if fmt.Sprint(streamed) != fmt.Sprint(all.Records) {
			t.Errorf("streamed: %v", whats(streamed))
		}
		for r, err := range s.AuditAll(t.Context(), auth.AuditFilter{}) { // may be left
			must(t, err)
			if r.At.IsZero() {
				t.Error("no time")
			}
			break
		}
	})
}

func TestAuditFilters(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		trail(t, s, c)
		began := newClock().Now()
		for name, f := range map[string]struct {
			filter auth.AuditFilter
			want   int
		}{
			"who":               {auth.AuditFilter{Who: "person:8"}, 2},
			"who, all kinds":    {auth.AuditFilter{Who: "person:7"}, 8},
			"nobody":            {auth.AuditFilter{Who: "token:7"}, 0},
			"what":              {auth.AuditFilter{What: []string{auth.DidExport}}, 4},
			"several":           {auth.AuditFilter{What: []string{auth.DidPause, auth.DidResume}}, 4},
			"item":              {auth.AuditFilter{Object: "item:1"}, 2},
			"no other item":     {auth.AuditFilter{Object: "item:"}, 0},
			"system":            {auth.AuditFilter{Object: "system:books"}, 4},
			"from":              {auth.AuditFilter{From: began.Add(time.Hour)}, 6},
			"to":                {auth.AuditFilter{To: began.Add(time.Hour)}, 4},
			"from and to":       {auth.AuditFilter{From: began.Add(time.Hour), To: began.Add(2 * time.Hour)}, 5},
			"text":              {auth.AuditFilter{Text: "MONTH end"}, 8}, // four exports; two pauses and what they were before the resumes
			"address":           {auth.AuditFilter{Text: "192.0.2"}, 4},
			"business key":      {auth.AuditFilter{Text: "inv-1"}, 2},
			"signs of patterns": {auth.AuditFilter{Text: "%"}, 0},
			"together":          {auth.AuditFilter{Text: "month", What: []string{auth.DidPause}, Who: "person:8"}, 2},
			"no text":           {auth.AuditFilter{Text: "\x00"}, 0},
			"other firm":        {auth.AuditFilter{CompanyID: 2}, 0},
		} {
			page, err := s.AuditPage(t.Context(), f.filter)
			if err != nil || len(page.Records) != f.want {
				t.Errorf("%s: %d records, want %d: %v %v", name, len(page.Records), f.want, whats(page.Records), err)
			}
		}
	})
}

// What was done and its entry are one: a refused act leaves none.
func TestAuditGoesWithTheAct(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		u, err := s.AddUser(t.Context(), auth.User{CompanyID: 1, Login: "ada", Name: "Ada", Roles: []work.Role{work.Admin}, PasswordHash: "x", CreatedAt: newClock().Now()}, true,
			auth.Change{Entry: auth.Entry{What: auth.DidSetUp}})
		must(t, err)
		_, err = s.ChangeUser(t.Context(), u.ID, func(u *auth.User) (auth.Change, error) {
			u.Roles = []work.Role{work.Viewer}
			return auth.Change{Entry: auth.Entry{What: auth.DidChangeRoles}}, nil
		})
		if err != auth.ErrLastAdmin { //nolint:errorlint // exactly
			t.Fatal(err)
		}
		_, err = s.ChangeUser(t.Context(), u.ID, func(*auth.User) (auth.Change, error) {
			return auth.Change{Entry: auth.Entry{What: auth.DidUseCode}, SpendCode: "none"}, nil
		})
		if err == nil {
			t.Fatal("a code that is not there is spent")
		}
		page, err := s.AuditPage(t.Context(), auth.AuditFilter{})
		must(t, err)
		if got := whats(page.Records); len(got) != 1 || got[0] != auth.DidSetUp || page.Records[0].Object != "user:1 ada" {
			t.Errorf("%+v", page.Records)
		}
		if is, err := s.User(t.Context(), u.ID); err != nil || !is.CanAdminister() {
			t.Errorf("%+v %v", is, err)
		}
	})
}
