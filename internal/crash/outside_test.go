//go:build unix

package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
)

const (
	searchLag = 300 * time.Millisecond // of the books that can be searched
	linger    = 3 * time.Second        // longer than the sandbox ever works on a request that was given up, also on a busy machine
)

// outside is the accounting system: a process of its own with its own durable file.
type outside struct {
	*process
	address string
	journal string
}

// startOutside runs a sandbox with one set of books for each personality, named after it.
func startOutside(t *testing.T, dir string, plan sandboxserver.Plan) *outside {
	t.Helper()
	var books []sandboxserver.Books
	for _, p := range sandbox.Personalities {
		books = append(books, sandboxserver.Books{Name: string(p), Personality: p, SearchLag: searchLag})
	}
	o := &outside{address: fmt.Sprintf("http://127.0.0.1:%d", freePort(t)), journal: filepath.Join(dir, "outside.journal")}
	o.process = newProcess(t, "outside", filepath.Join(dir, "outside.log"), binary(t), []string{"sandbox", "--listen", o.address[len("http://"):],
		"--file", o.journal, "--books", writeJSON(t, dir, "books.json", books), "--plan", writeJSON(t, dir, "plan.json", plan)})
	if err := o.start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "the accounting system to listen", func() (bool, string) { return answers(o.address + "/control/health") })
	return o
}

// behave lifts all faults.
func (o *outside) behave(t *testing.T, dir string) {
	t.Helper()
	writeJSON(t, dir, "plan.json", sandboxserver.Plan{}) // for another life
	req, err := http.NewRequest(http.MethodPut, o.address+"/control/plan", bytes.NewReader([]byte(`{"seed":0,"rules":[]}`)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close() //nolint:errcheck,gosec // nothing in it
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the faults could not be lifted: %s", res.Status)
	}
}

// effects reads what really happened. Audit, the sandbox's own judge, must count the same.
func (o *outside) effects(t *testing.T) []sandboxserver.Effect {
	t.Helper()
	text, err := os.ReadFile(o.journal)
	if err != nil {
		t.Fatal(err)
	}
	var list []sandboxserver.Effect
	lines := bufio.NewScanner(bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1]))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e sandboxserver.Effect
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("the journal is damaged: %v", err)
		}
		list = append(list, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

var client = &http.Client{Timeout: 5 * time.Second}

func answers(url string) (bool, string) {
	res, err := client.Get(url)
	if err != nil {
		return false, err.Error()
	}
	res.Body.Close() //nolint:errcheck,gosec // nothing in it
	return res.StatusCode == http.StatusOK, res.Status
}

func writeJSON(t *testing.T, dir, name string, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// faults is how the accounting system misbehaves during a crash run.
func faults(seed uint64) sandboxserver.Plan {
	slow := sandboxserver.Rule{Fault: sandboxserver.CommitLate, Probability: 0.5, DelayMS: 300} // so that something is always on its way
	late := sandboxserver.Rule{Fault: sandboxserver.CommitLate, Probability: 0.03, DelayMS: 1800}
	limited := sandboxserver.Rule{Fault: sandboxserver.RateLimit, Probability: 0.03, RetryAfter: "1"}
	blocked := sandboxserver.Rule{Fault: sandboxserver.Reject, Probability: 0.02, Reason: "the period is being closed", EachTimes: 2}
	rules := []sandboxserver.Rule{
		{Fault: sandboxserver.DropAfter, Probability: 0.06},
		{Fault: sandboxserver.DropBefore, Probability: 0.03},
		{Fault: sandboxserver.ErrorAfter, Probability: 0.03},
		{Fault: sandboxserver.ErrorBefore, Probability: 0.03},
		{Fault: sandboxserver.PageAfter, Probability: 0.02},
		late, limited, blocked,
		{Fault: sandboxserver.SearchBrokenPage, Kind: sandboxserver.Find, Probability: 0.02},
		{Fault: sandboxserver.SearchError, Kind: sandboxserver.Find, Probability: 0.03},
		{Fault: sandboxserver.DropBefore, Kind: sandboxserver.Find, Probability: 0.03},
		slow,
	}
	return sandboxserver.Plan{Seed: seed, Rules: rules}
}
