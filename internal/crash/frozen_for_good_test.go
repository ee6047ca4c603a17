//go:build unix

package crash

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
)

// A server that is frozen for good in the middle of a transaction (a paused virtual machine: nothing ends its connection)
// holds its locks. The others must be able to go on all the same.
func TestServerFrozenForGoodInATransaction(t *testing.T) {
	t.Parallel()
	d := postgres(t)
	out := startOutside(t, d.dir, sandboxserver.Plan{})
	connect(t, d.url, connection{id: "search", personality: sandbox.Search, address: out.address + "/search"})
	servers := startServers(t, d.dir, d.url, 2)
	frozenOne, other := servers[0], servers[1:]
	rnd := rand.New(rand.NewPCG(*seed, 5)) //nolint:gosec // a test
	list := newPlan([]string{"search"}, "INV", 1000)
	given := 0
	give := func(to []*server, n int) {
		t.Helper()
		mustRecord(t, to, rnd, list[given:given+n])
		given += n
	}
	give(servers, 100)
	eventually(t, 60*time.Second, "the server to be caught in a claim", func() (bool, string) {
		if given+20 < len(list)-100 {
			give(servers, 10)
		}
		frozenOne.freeze()
		var locks int
		err := d.sql.QueryRow(`SELECT count(*) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
			WHERE a.application_name = 'onefold node-a' AND a.state = 'idle in transaction' AND l.relation = 'systems'::regclass
				AND l.mode = 'RowShareLock' AND l.granted`).Scan(&locks)
		if err != nil || locks == 0 {
			frozenOne.signal(syscall.SIGCONT)
		}
		return err == nil && locks > 0, "not yet"
	})
	give(other, 50)
	d.rest(t, 60*time.Second)
	frozenOne.signal(syscall.SIGCONT)
	give([]*server{frozenOne}, 10) // it goes on too
	d.rest(t, 60*time.Second)
	stopAll(t, servers)
	w := world{asked: list[:given], rows: d.all(t), effects: out.effects(t), settles: settle}
	v := judge(w)
	t.Log(v)
	v.report(t, d.dir, w)
}
