//go:build unix

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"onefold/internal/ledger/sandbox"
	"onefold/internal/work"
)

// The policy of every system in these runs: what a real system does in minutes happens in seconds.
const (
	requestTimeout = time.Second
	sendWindow     = 500 * time.Millisecond
	lease          = sendWindow + requestTimeout + work.LeaseMargin
	settle         = linger
)

// connection says how a set of books is connected; the zero value is the policy above.
type connection struct {
	id, address             string
	personality             sandbox.Personality
	requestTimeout, settles time.Duration
}

const token = "crash-run-only-token"

// server is one Onefold server.
type server struct {
	*process
	url string

	mu      sync.Mutex
	busy    bool // somebody is killing or freezing it
	freezes []freeze
}

// freeze is a time in which a server stood still.
type freeze struct {
	node            string
	from, still, to time.Time // told to stop, stood still, told to go on
}

// startServers runs n servers on the database and waits until they are ready.
func startServers(t *testing.T, dir, databaseURL string, n int, env ...string) []*server {
	t.Helper()
	var all []*server
	for i := range n {
		s := newServer(t, dir, databaseURL, fmt.Sprintf("node-%c", 'a'+i), env...)
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for _, s := range all {
		s.ready(t)
	}
	return all
}

func newServer(t *testing.T, dir, databaseURL, node string, env ...string) *server {
	t.Helper()
	data := filepath.Join(dir, node)
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	s := &server{url: "http://" + listen}
	s.process = newProcess(t, node, filepath.Join(dir, node+".log"), binary(t), []string{"serve", "--database", databaseURL, "--data", data,
		"--listen", listen, "--node", node}, append([]string{"ONEFOLD_ADMIN_PASSWORD=crash-run-only", "ONEFOLD_API_TOKEN=" + token}, env...)...)
	return s
}

func (s *server) ready(t *testing.T) {
	t.Helper()
	eventually(t, 60*time.Second, s.name+" to be ready", func() (bool, string) {
		if !s.alive() {
			t.Fatalf("%s ended at start: see %s", s.name, s.log)
		}
		return answers(s.url + "/healthz")
	})
}

// standStill stops the server for a time, as a paused virtual machine stops, and remembers it.
func (s *server) standStill(d time.Duration, wait func(time.Duration) bool) {
	f := freeze{node: s.name, from: time.Now().UTC()}
	s.freeze()
	f.still = time.Now().UTC()
	wait(d)
	s.mu.Lock()
	f.to = time.Now().UTC()
	s.freezes = append(s.freezes, f)
	s.mu.Unlock()
	s.signal(syscall.SIGCONT)
}

// take claims the server for a disturbance.
func (s *server) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		return false
	}
	s.busy = true
	return true
}

func (s *server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
}

func frozen(servers []*server) []freeze {
	var all []freeze
	for _, s := range servers {
		s.mu.Lock()
		all = append(all, s.freezes...)
		s.mu.Unlock()
	}
	return all
}

// connect connects books through the sub-command.
func connect(t *testing.T, databaseURL string, c connection) {
	t.Helper()
	if c.requestTimeout == 0 {
		c.requestTimeout = requestTimeout
	}
	if c.settles == 0 {
		c.settles = settle
	}
	cmd := exec.Command(binary(t), "system", "add", "--database", databaseURL, "--id", c.id, "--adapter", "sandbox", "--address", c.address,
		"--set", fmt.Sprintf("personality=%s,search_lag=%s,linger=%s,misses=2", c.personality, searchLag, c.settles),
		"--in-flight", "32", "--sends", "8", "--first-delay", "200ms", "--longest-delay", "2s", "--request-timeout", c.requestTimeout.String(),
		"--send-window", sendWindow.String(), "--settle", c.settles.String(), "--lookups", "60")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s could not be connected: %v\n%s", c.id, err, out)
	}
	cmd = exec.Command(binary(t), "system", "begin", "--database", databaseURL, "--id", c.id, "--automation", plannedUnder) // it was never proven
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("nothing may begin on %s: %v\n%s", c.id, err, out)
	}
}

// connectAll connects one system for each personality, named after it.
func connectAll(t *testing.T, databaseURL, address string) []string {
	t.Helper()
	var ids []string
	for _, p := range sandbox.Personalities {
		connect(t, databaseURL, connection{id: string(p), address: address + "/" + string(p), personality: p})
		ids = append(ids, string(p))
	}
	return ids
}

// invoice is one thing to record, in the API's form.
type invoice struct {
	System     string         `json:"system"`
	Automation string         `json:"automation"`
	Key        string         `json:"key"`
	Invoice    map[string]any `json:"invoice"`
}

// plannedUnder is the automation under which everything is recorded.
const plannedUnder = "monthly"

// newInvoice is always the same for the same key.
func newInvoice(system, businessKey string, n int) invoice {
	return invoice{System: system, Automation: plannedUnder, Key: businessKey, Invoice: map[string]any{
		"customer_id": fmt.Sprintf("C-%03d", n%97), "customer_name": fmt.Sprintf("Customer %d", n%97),
		"total": map[string]string{"number": fmt.Sprintf("%d.%02d", 10+n%900, n%100), "currency": "EUR"}, "issue_date": "2026-11-30"}}
}

var planner = &http.Client{Timeout: 2 * time.Second}

// record posts the batch to one of the servers.
func record(servers []*server, rnd *rand.Rand, batch []invoice) error {
	body, err := json.Marshal(map[string]any{"items": batch})
	if err != nil {
		return err
	}
	s := servers[rnd.IntN(len(servers))]
	req, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/items", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := planner.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read to the end
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusOK {
		return nil
	}
	err = fmt.Errorf("%s: %s", res.Status, text)
	var each struct {
		Items []struct{ Status int }
	}
	if res.StatusCode < 500 && json.Unmarshal(text, &each) == nil {
		for _, item := range each.Items {
			if item.Status >= 400 && item.Status < 500 {
				return refusedError{err}
			}
		}
	}
	return err
}

// mustRecord posts the batch, and again while no answer comes in time, as its client would: on a busy machine one may be late. An
// answer that does not take it is a failure at once.
func mustRecord(t *testing.T, servers []*server, rnd *rand.Rand, batch []invoice) {
	t.Helper()
	eventually(t, 30*time.Second, "an answer to a batch", func() (bool, string) {
		err := record(servers, rnd, batch)
		var none net.Error
		if err != nil && (!errors.As(err, &none) || !none.Timeout()) {
			t.Fatal(err)
		}
		return err == nil, fmt.Sprint(err)
	})
}

// refusedError says that sending the batch again would not help.
type refusedError struct{ error }
