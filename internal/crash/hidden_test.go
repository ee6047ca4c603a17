//go:build unix

package crash

import (
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"onefold/internal/store"
	"onefold/internal/work"
)

// Where PostgreSQL hides which server it is, a replica that was promoted is noticed all the same; that PostgreSQL was restarted, in
// order or after a power cut, is no reason to stop.
func TestHiddenTimelineTellsAPromotion(t *testing.T) {
	t.Parallel()
	primary := newOwnServer(t)
	hide, err := sql.Open("pgx", fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", adminName, rolePassword, primary.port, roleName))
	if err != nil {
		t.Fatal(err)
	}
	defer hide.Close() //nolint:errcheck // on the way out
	for _, function := range []string{"pg_control_system()", "pg_walfile_name(pg_lsn)"} {
		if _, err := hide.Exec("REVOKE EXECUTE ON FUNCTION " + function + " FROM PUBLIC"); err != nil {
			t.Fatal(err)
		}
	}
	looks := func(s *ownServer) (looks bool) {
		t.Helper()
		var log strings.Builder
		st, err := store.Open(t.Context(), store.Config{URL: databaseOn(t, s).url, MaxConns: 3, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "this PostgreSQL hides") {
			t.Fatalf("nothing is hidden: %q", log.String())
		}
		defer st.Close() //nolint:errcheck // on the way out
		sys := work.System{ID: "books", CompanyID: 1, Name: "Books", Adapter: "sandbox", Address: "http://127.0.0.1:9", Policy: work.DefaultPolicy(),
			Capabilities: work.Capabilities{Searchable: true}, Steps: []string{"create"}, MaxInFlight: 1}
		if err := st.DeclareSystem(t.Context(), sys); err != nil {
			t.Fatal(err)
		}
		if sys, err = st.System(t.Context(), "books"); err != nil {
			t.Fatal(err)
		}
		looks = !sys.LookFirst.IsZero()
		if err := st.EndLookFirst(t.Context(), "books", work.Actor{Kind: work.Console, ID: "console"}, "done"); err != nil {
			t.Fatal(err)
		}
		return looks
	}
	for _, mode := range []string{"", "fast", "immediate"} {
		if mode != "" {
			primary.stop(mode)
			primary.start()
		}
		if looks(primary) {
			t.Fatalf("PostgreSQL was restarted (%s), and everything looks first", mode)
		}
	}
	replica := primary.replica()
	looks(primary) // it commits something, for the replica to follow
	eventually(t, 30*time.Second, "the replica to have it", func() (bool, string) {
		var followed sql.NullTime
		err := replica.admin().QueryRow("SELECT pg_last_xact_replay_timestamp()").Scan(&followed)
		return err == nil && followed.Valid, fmt.Sprint(err)
	})
	primary.stop("immediate")
	replica.promote()
	if !looks(replica) {
		t.Fatal("the promoted replica is trusted")
	}
	for _, mode := range []string{"fast", "immediate"} {
		replica.stop(mode)
		replica.start()
		if looks(replica) {
			t.Fatalf("the promoted replica was restarted (%s), and everything looks first again", mode)
		}
	}
}
