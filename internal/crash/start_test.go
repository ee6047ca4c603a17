//go:build unix

package crash

import (
	"math/rand/v2"
	"testing"
	"time"

	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
)

// Many servers start at once on an empty database: one of them makes the schema, all of them work.
func TestManyServersStartAtOnce(t *testing.T) {
	t.Parallel()
	d := postgres(t)
	out := startOutside(t, d.dir, sandboxserver.Plan{})
	servers := startServers(t, d.dir, d.url, 6)
	var one, migrations int
	if err := d.sql.QueryRow("SELECT (SELECT count(*) FROM installation), (SELECT count(*) FROM goose_db_version WHERE version_id = 1)").Scan(&one, &migrations); err != nil {
		t.Fatal(err)
	}
	if one != 1 || migrations != 1 {
		t.Errorf("%d installations, the first migration ran %d times", one, migrations)
	}
	connect(t, d.url, connection{id: "search", personality: sandbox.Search, address: out.address + "/search"})
	list := newPlan([]string{"search"}, "INV", 60)
	rnd := rand.New(rand.NewPCG(*seed, 3)) //nolint:gosec // a test
	for i := range list {
		mustRecord(t, servers, rnd, list[i:i+1])
	}
	d.rest(t, time.Minute)
	stopAll(t, servers)
	w := world{asked: list, rows: d.all(t), effects: out.effects(t), settles: settle}
	v := judge(w)
	v.report(t, d.dir, w)
	if v.statuses["search confirmed"] != 2*len(list) {
		t.Errorf("not everything is confirmed:\n%s", v)
	}
}
