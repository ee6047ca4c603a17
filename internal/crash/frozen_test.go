//go:build unix

package crash

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

// A worker frozen between claim and send, for longer than its lease, sends nothing when it wakes up; another server
// settles the item. Likewise one that was frozen past send-by only: what it did not begin in time it does not begin.
func TestFrozenBetweenClaimAndSend(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		frozenBetweenClaimAndSend(t, postgres(t), true)
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		frozenBetweenClaimAndSend(t, sqlite(t), false)
	})
}

// frozenTimeout is long enough for send-by to pass well before it.
const frozenTimeout = 3 * time.Second

func frozenBetweenClaimAndSend(t *testing.T, d *database, several bool) {
	out := startOutside(t, d.dir, sandboxserver.Plan{})
	proxy := newTLSProxy(t, d.dir, out.address[len("http://"):])
	connect(t, d.url, connection{id: "search", personality: sandbox.Search, address: proxy.address + "/search", requestTimeout: frozenTimeout, settles: time.Second})
	a := newServer(t, d.dir, d.url, "node-a", "SSL_CERT_FILE="+proxy.roots)
	if err := a.start(); err != nil {
		t.Fatal(err)
	}
	a.ready(t)
	eventually(t, 20*time.Second, "the first server to know whose books these are", func() (bool, string) {
		var identity string
		err := d.sql.QueryRow("SELECT identity FROM systems").Scan(&identity)
		return err == nil && identity != "", identity
	})

	t.Run("past send-by", func(t *testing.T) {
		h, it := frozenWith(t, d, proxy, a, "INV-1")
		close(h.release)
		untilDatabase(t, d, it.tries[0].sendBy.Add(100*time.Millisecond))
		a.signal(syscall.SIGCONT)
		<-h.over
		if h.bytes != 0 {
			t.Errorf("%d bytes of the request were handed over after send-by", h.bytes)
		}
		it = settled(t, d, "INV-1")
		if first := it.tries[0]; first.outcome != string(work.NotSent) {
			t.Errorf("the attempt ended as %s instead of not_sent: %s", first.outcome, first.why)
		}
	})

	t.Run("longer than a lease", func(t *testing.T) {
		h, it := frozenWith(t, d, proxy, a, "INV-2")
		close(h.release)
		others := []*server{}
		if several {
			b := newServer(t, d.dir, d.url, "node-b", "SSL_CERT_FILE="+proxy.roots)
			if err := b.start(); err != nil {
				t.Fatal(err)
			}
			b.ready(t)
			others = append(others, b)
			it = settled(t, d, "INV-2")
			if last := it.tries[len(it.tries)-1]; last.node != "node-b" {
				t.Errorf("%s settled it while node-a stood still", last.node)
			}
		} else {
			untilDatabase(t, d, it.lease.Add(time.Second))
		}
		a.signal(syscall.SIGCONT)
		<-h.over
		if h.bytes != 0 {
			t.Errorf("%d bytes of the request were handed over after the lease", h.bytes)
		}
		it = settled(t, d, "INV-2")
		eventually(t, 20*time.Second, "the late server to say that it sent nothing", func() (bool, string) {
			it = d.one(t, it.key)
			for _, a := range it.tries {
				if first := it.tries[0]; a.lateFor == 1 || first.outcome == string(work.NotSent) {
					return a.outcome == string(work.NotSent), a.outcome
				}
			}
			return false, "no late answer"
		})
		d.rest(t, time.Minute)
		stopAll(t, append(others, a))
	})

	w := world{asked: []invoice{newInvoice("search", "INV-1", 1), newInvoice("search", "INV-2", 1)}, rows: d.all(t), effects: out.effects(t), settles: settle}
	v := judge(w)
	v.report(t, d.dir, w)
	if v.effects != 4 {
		t.Errorf("two invoices, each created and posted, are 4 effects, not %d", v.effects)
	}
}

// frozenWith records an invoice and freezes the server when it has claimed it and dialled, and cannot have sent.
func frozenWith(t *testing.T, d *database, proxy *tlsProxy, s *server, businessKey string) (*held, *row) {
	t.Helper()
	h := proxy.holdNext()
	mustRecord(t, []*server{s}, rand.New(rand.NewPCG(1, 1)), []invoice{newInvoice("search", businessKey, 1)}) //nolint:gosec // one server
	select {
	case <-h.dialled:
	case <-time.After(20 * time.Second):
		t.Fatal("the server did not begin to send")
	}
	s.freeze()
	it := d.one(t, key{"search", businessKey, "create"})
	if it == nil || it.open != 1 || it.tries[0].kind != string(work.Send) || !it.tries[0].ended.IsZero() {
		t.Fatalf("the send is not on record as open: %+v", it)
	}
	return h, it
}

// untilDatabase waits until the database's clock has passed a time.
func untilDatabase(t *testing.T, _ *database, at time.Time) {
	t.Helper()
	// Both databases run on this machine.
	eventually(t, 30*time.Second, "a time to pass", func() (bool, string) { return time.Now().After(at), at.String() })
}

// settled waits until the invoice is created and posted.
func settled(t *testing.T, d *database, businessKey string) *row {
	t.Helper()
	eventually(t, 60*time.Second, businessKey+" to be created and posted", func() (bool, string) {
		post := d.one(t, key{"search", businessKey, "post"})
		if post == nil {
			return false, "not created yet"
		}
		return post.status == work.Confirmed, string(post.status)
	})
	return d.one(t, key{"search", businessKey, "create"})
}
