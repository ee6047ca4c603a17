package rest_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/rest"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

// sandboxFake is the real sandbox as a Fake; the line in front of it is the suite's.
type sandboxFake struct {
	*server.Server
	mu  sync.Mutex
	now time.Time
}

func newSandbox(t *testing.T, p sandbox.Personality, s ledgertest.Setup) *sandboxFake {
	t.Helper()
	f := &sandboxFake{now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	var err error
	f.Server, err = server.New(server.Options{Token: ledgertest.Secret, Now: f.clock,
		Books: []server.Books{{Name: "books", Personality: p, SearchLag: time.Minute, KeyLifetime: time.Hour, PageSize: s.PageSize}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func (f *sandboxFake) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *sandboxFake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

func (f *sandboxFake) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	switch {
	case r.Method == http.MethodPost:
		return ledgertest.Incoming{Kind: work.Send, Key: r.Header.Get("Idempotency-Key")}
	case strings.HasPrefix(r.URL.Path, "/books/api/invoices"):
		return ledgertest.Incoming{Kind: work.Find}
	}
	return ledgertest.Incoming{}
}

func (f *sandboxFake) Effects(step, reference string) int {
	n := 0
	for _, books := range []string{"books", "books~other"} {
		for _, r := range f.Records(books, reference) {
			if step == "create" {
				n++
			} else {
				n += f.Posts(books, r.ID)
			}
		}
	}
	return n
}

func (f *sandboxFake) Misbehave(kind work.Kind, fault ledgertest.Fault) bool {
	if fault == ledgertest.NoFault {
		return f.SetPlan(server.Plan{}) == nil
	}
	rule := server.Rule{Fault: server.Fault(fault)}
	switch fault {
	case "reject", "reject_final", "reject_charset", "duplicate_error", "zero_id", "null_id", "empty_id", "numeric_id", "total_times_100", "total_plus_one", "other_customer",
		"voided", "deleted", "trim_reference", "upper_reference", "other_books", "search_error", "search_empty", "search_broken_page":
	case "reject_long":
		rule.Fault, rule.Reason = server.RejectCharset, strings.Repeat("Größe ungültig 💶 ", 10_000)
	case "reject_zero_byte":
		rule.Fault, rule.Reason = server.RejectCharset, "zero\x00byte"
	case "reject_not_utf8":
		rule.Fault, rule.Reason = server.RejectRaw, "ung\xfcltig"
	default:
		return false
	}
	rules := []server.Rule{rule}
	if kind == work.Find {
		rules[0].Kind = server.Find
		if fault == "other_books" || fault == "search_error" {
			rules = append(rules, rule)
			rules[1].Kind = server.Get
		}
	}
	return f.SetPlan(server.Plan{Rules: rules}) == nil
}

// sandboxDefinition is the example of the documents.
func sandboxDefinition(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/sandbox.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The example of the documents passes the suite against the real sandbox: two steps, keys that travel, books in a header.
func TestExamplePassesTheSuite(t *testing.T) {
	runSandbox(t, sandbox.Search, sandboxDefinition(t))
}

// Books that honour keys and cannot be searched, described so.
func TestExampleWithKeysPassesTheSuite(t *testing.T) {
	definition, _, _ := strings.Cut(sandboxDefinition(t), "search:\n")
	runSandbox(t, sandbox.Keys, strings.Replace(definition, "  misses: 2\n", "  keys: 1h\n  max_key: 64\n", 1))
}

// Books that refuse a second record with a reference, described so.
func TestExampleWithUniqueReferencesPassesTheSuite(t *testing.T) {
	runSandbox(t, sandbox.Unique, strings.Replace(sandboxDefinition(t), "  misses: 2\n", "  unique_references: true\n", 1))
}

func runSandbox(t *testing.T, p sandbox.Personality, definition string) {
	t.Helper()
	ledgertest.Run(t, ledgertest.Target{Lists: p == sandbox.Search, Cautious: cautious, New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
		front := ledgertest.Serve(t, newSandbox(t, p, s))
		sys := work.System{Address: front.URL() + "/books", Settings: map[string]string{"definition": definition}}
		sys.Policy.RequestTimeout = s.Timeout
		connected, err := rest.Adapter.Connect(ledger.Connection{System: sys, Secrets: map[string]string{"token": ledgertest.Secret}, Now: s.Now, MaxBody: s.MaxBody})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(connected.(interface{ Close() }).Close)
		return connected, front
	}})
}

// The page for admins shows the example as it is tested.
func TestExampleStandsInTheDocuments(t *testing.T) {
	page, err := os.ReadFile("../../../docs/accounting-systems/any-rest-system.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), sandboxDefinition(t)) {
		t.Error("docs/accounting-systems/any-rest-system.md does not hold testdata/sandbox.yaml as it is")
	}
}
