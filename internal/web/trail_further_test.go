package web

import (
	"database/sql"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"onefold/internal/auth"
	"onefold/internal/store/storetest"
)

// What a filter asks for may lie behind thousands of other records: the page says how far back it looked and offers to go on, and
// the way ends at the record.
func TestTrailLooksFurtherBack(t *testing.T) {
	db := storetest.SQLite(t)
	s, people := trailSite(t, db)
	if err := people.Audit(t.Context(), auth.Entry{By: boss, What: auth.DidExport, Object: "number:7"}); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(db.URL, "sqlite:")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // a test
	_, err = raw.ExecContext(t.Context(), `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 9000)
		INSERT INTO audit (company_id, at, actor_kind, actor_id, actor_name, address, user_agent, what, object, before, after, note)
		SELECT t.company_id, t.at + n, t.actor_kind, 'other', 'Otto', '', '', 'sign_in', '', '', '', '' FROM audit t JOIN n ON t.what = ?`, auth.DidExport)
	if err != nil {
		t.Fatal(err)
	}
	admin := s.signIn("admin")
	link := regexp.MustCompile(`href="(/audit\?[^"]*after=[^"]*)"`)
	address, pages := "/audit?what=export", 0
	for ; ; pages++ {
		a := admin.get(address)
		if a.status != http.StatusOK || pages > 3 {
			t.Fatalf("page %d, %d: %s", pages, a.status, a.visible())
		}
		if strings.Contains(a.body, "<bdi>number:7</bdi>") {
			break
		}
		next := link.FindStringSubmatch(a.body)
		if next == nil || !strings.Contains(a.visible(), "None in the trail back to") || !strings.Contains(a.visible(), "Look further back") || strings.Contains(a.visible(), "Nothing like it is on record") {
			t.Fatalf("page %d is an end: %s", pages, a.visible())
		}
		address = strings.ReplaceAll(next[1], "&amp;", "&")
	}
	if pages == 0 {
		t.Error("nothing was left out")
	}
}
