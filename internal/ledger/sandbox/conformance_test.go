package sandbox_test

import (
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

func TestConformance(t *testing.T) {
	for _, p := range sandbox.Personalities {
		for _, single := range []bool{false, true} {
			name := string(p)
			if single {
				name += "/single step"
			}
			t.Run(name, func(t *testing.T) {
				ledgertest.Run(t, ledgertest.Target{Lists: p == sandbox.Search, New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
					return target(t, p, single, s)
				}})
			})
		}
	}
}

// outside is a sandbox behind a listener that counts bytes.
type outside struct {
	*server.Server
	http     *httptest.Server
	received atomic.Int64
	sent     atomic.Int64

	mu  sync.Mutex
	now time.Time
}

func target(t *testing.T, p sandbox.Personality, single bool, setup ledgertest.Setup) (*sandbox.Client, *outside) {
	t.Helper()
	o := &outside{now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	s, err := server.New(server.Options{Token: ledgertest.Secret, Now: o.clock, Books: []server.Books{{Name: "books", Personality: p,
		KeyLifetime: time.Hour, SearchLag: lagOf(p), PageSize: setup.PageSize, SingleStep: single}}})
	if err != nil {
		t.Fatal(err)
	}
	o.Server = s
	o.http = httptest.NewUnstartedServer(s)
	o.http.Config.ConnContext = server.ConnContext
	o.http.Listener = counting{o.http.Listener, o}
	o.http.Start()
	cfg := s.Connect(o.http.URL, "books")
	cfg.Timeout, cfg.MaxBody, cfg.Now = setup.Timeout, setup.MaxBody, setup.Now
	c, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		o.http.CloseClientConnections()
		o.http.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, o
}

func lagOf(p sandbox.Personality) time.Duration {
	if p == sandbox.Search {
		return time.Minute
	}
	return 0
}

func (o *outside) clock() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

func (o *outside) Advance(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = o.now.Add(d)
}

func (o *outside) Traffic() (received, sent int64) { return o.received.Load(), o.sent.Load() }

func (o *outside) Writes() []ledgertest.Write {
	var writes []ledgertest.Write
	for _, r := range o.Log() {
		writes = append(writes, ledgertest.Write{Key: r.Key})
	}
	for range o.Requests("books", server.Moved) { // a redirect was followed
		writes = append(writes, ledgertest.Write{})
	}
	return writes
}

func (o *outside) Effects(step, reference string) int {
	n := 0
	for _, books := range []string{"books", "books~other"} {
		for _, r := range o.Records(books, reference) {
			if step == sandbox.StepCreate {
				n++
			} else {
				n += o.Posts(books, r.ID)
			}
		}
	}
	return n
}

func (o *outside) Misbehave(kind work.Kind, f ledgertest.Fault) bool {
	if f == ledgertest.NoFault {
		return o.SetPlan(server.Plan{}) == nil
	}
	rule := server.Rule{Fault: server.Fault(f), DelayMS: 5}
	switch wait, waits := strings.CutPrefix(string(f), "wait:"); {
	case waits:
		rule.Fault, rule.RetryAfter = server.RateLimit, wait
	case f == "commit_late":
		rule.DelayMS = 600
	case f == "reject_long":
		rule.Fault, rule.Reason = server.RejectCharset, strings.Repeat("Größe ungültig 💶 ", 10_000)
	case f == "reject_zero_byte":
		rule.Fault, rule.Reason = server.RejectCharset, "zero\x00byte"
	case f == "reject_not_utf8":
		rule.Fault, rule.Reason = server.RejectRaw, "ung\xfcltig"
	case f == "unreachable":
		o.http.Close()
		return true
	}
	rules := []server.Rule{rule}
	if kind == work.Find {
		rules[0].Kind = server.Find
		if f != "search_broken_page" && f != "search_empty" {
			rules = append(rules, rule)
			rules[1].Kind = server.Get
		}
	}
	return o.SetPlan(server.Plan{Rules: rules}) == nil
}

type counting struct {
	net.Listener
	o *outside
}

func (l counting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{conn, l.o}, nil
}

type countingConn struct {
	net.Conn
	o *outside
}

func (c countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.o.received.Add(int64(n))
	return n, err
}

func (c countingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.o.sent.Add(int64(n))
	return n, err
}
