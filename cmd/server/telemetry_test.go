package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/store"
)

// heap is written and read at the same time.
type heap struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heap) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heap) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// watchedServer is a whole server with everything on that tells machines of it.
type watchedServer struct {
	t                   *testing.T
	out, log, traces    heap
	pages, metrics      string
	apiToken, scrapeKey string
	ended               chan error
}

// eventually asks again and again; the test's own time limit ends it.
func (w *watchedServer) eventually(what string, ask func() bool) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	for !ask() {
		select {
		case err := <-w.ended:
			w.t.Fatalf("the server ended: %v", err)
		case <-ctx.Done():
			w.t.Fatalf("not in time: %s\n%s\n%s", what, w.out.String(), w.log.String())
		case <-tick.C:
		}
	}
}

func (w *watchedServer) do(method, url, token, body string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// One invoice whose answer is lost goes through a whole server. What machines are told of it is true, and holds no secret
// and nothing of the customer.
func TestMachinesAreToldTheTruthAndNoSecret(t *testing.T) {
	outside, err := sandboxserver.New(sandboxserver.Options{Plan: sandboxserver.Plan{Rules: []sandboxserver.Rule{{Fault: sandboxserver.DropAfter, Probability: 1, Kind: sandboxserver.Create}}},
		Books: []sandboxserver.Books{{Name: demoBooks, Title: "Acme", Identity: "Acme", Personality: sandbox.Search, SearchLag: 10 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close() //nolint:errcheck // on the way out
	books := httptest.NewServer(outside)
	defer books.Close()
	w := &watchedServer{t: t, apiToken: "api-CANARY-token", scrapeKey: "metrics-CANARY-token", ended: make(chan error, 1)}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(&w.traces, r.Body) }))
	defer collector.Close()

	db := filepath.Join(t.TempDir(), "onefold.db")
	quiet := slog.New(slog.DiscardHandler)
	st, err := store.Open(t.Context(), store.Config{URL: db})
	if err != nil {
		t.Fatal(err)
	}
	sys, err := connections(st, nil, quiet).Declared(demoSystem(books.URL + "/" + demoBooks))
	if err == nil {
		err = st.DeclareSystem(t.Context(), sys)
	}
	if err == nil {
		_, err = letBegin(t.Context(), st, "invoices", demoBooks)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}

	sessionKey := base64.StdEncoding.EncodeToString([]byte("session-CANARY-key-of-32-bytes!!"))
	for name, value := range map[string]string{"ONEFOLD_API_TOKEN": w.apiToken, "ONEFOLD_METRICS_TOKEN": w.scrapeKey, "ONEFOLD_ADMIN_PASSWORD": "eleven CANARY geese fly",
		"ONEFOLD_SESSION_KEYS": sessionKey, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=CANARY", "OTEL_BSP_SCHEDULE_DELAY": "100"} {
		t.Setenv(name, value)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		w.ended <- run(ctx, []string{"serve", "--database", db, "--data", filepath.Dir(db), "--node", "one", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--log-format", "json",
			"--log-level", "debug", "--trace"}, &w.out, &w.log)
	}()
	address := regexp.MustCompile(`(Onefold is|Metrics are) at (http://\S+)`)
	w.eventually("it serves", func() bool {
		at := address.FindAllStringSubmatch(w.out.String(), -1)
		if len(at) < 2 {
			return false
		}
		w.pages, w.metrics = at[0][2], at[1][2]
		return true
	})

	if code, text := w.do("GET", w.pages+"readyz", "", ""); code != 200 || text != "{\"ready\":true}\n" {
		t.Errorf("/readyz: %d %s", code, text)
	}
	if code, _ := w.do("GET", w.pages+"metrics", w.scrapeKey, ""); code != 404 {
		t.Errorf("the metrics are among the pages: %d", code)
	}
	if code, _ := w.do("GET", w.metrics, "wrong-CANARY-token", ""); code != 401 {
		t.Errorf("the metrics for anybody: %d", code)
	}
	w.do("GET", w.pages+"nothing/CANARY?code=CANARY", "", "")
	w.do("GET", w.pages+"welcome/CANARY", "", "")
	w.do("GET", w.pages+"api/v1/systems", "wrong-CANARY-token", "")

	item := `{"key":"INV-2026-11-1","system":"acme","invoice":{"customer_id":"CANARY","customer_name":"CANARY Ltd","total":{"number":"12.00","currency":"EUR"}}}`
	if code, text := w.do("POST", w.pages+"api/v1/items", w.apiToken, item); code != 201 {
		t.Fatalf("recorded: %d %s", code, text)
	}
	page := ""
	w.eventually("the invoice is found", func() bool {
		_, page = w.do("GET", w.metrics, w.scrapeKey, "")
		return strings.Contains(page, `onefold_duplicates_prevented_total{by="lookup",system="acme"} 1`)
	})
	_, page = w.do("GET", w.metrics, w.scrapeKey, "") // numbers are gathered one after the other
	for _, want := range []string{`onefold_attempts_total{kind="send",result="unknown",system="acme"} 1`, `onefold_items_moved_total{status="confirmed",system="acme"} `,
		`onefold_http_requests_total{method="POST",route="/api/v1/items",status="2xx"} 1`, `onefold_http_requests_total{method="GET",route="none",status="4xx"} 2`, `node="one"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	stop()
	if err := <-w.ended; err != nil {
		t.Error(err)
	}

	sent := false
	for _, line := range strings.Split(strings.TrimSpace(w.log.String()), "\n") {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("a line of the log is no JSON: %s", line)
			continue
		}
		if l["node"] != "one" {
			t.Errorf("which server wrote this? %s", line)
		}
		if l["msg"] == "a call is over" && l["kind"] == "send" {
			sent = sent || l["key"] == "INV-2026-11-1" && l["attempt"] == 1.0 && l["system"] == "acme" && l["item"] != nil && l["result"] == "unknown" && len(l["trace"].(string)) == 32
		}
	}
	if !sent {
		t.Errorf("the log does not say which call was made:\n%s", w.log.String())
	}
	traces := w.traces.String()
	for _, span := range []string{"POST /api/v1/items", "change", "asked", "attempt", "claim", "send", "find"} {
		// The field "name" of a span (5, text), then its kind (6): attributes hold some of these words too.
		if !strings.Contains(traces, "\x2a"+string(rune(len(span)))+span+"\x30") {
			t.Errorf("no span %q was sent", span)
		}
	}
	for what, text := range map[string]string{"log": w.log.String(), "metrics": page, "traces": traces} {
		if i := strings.Index(text, "CANARY"); i >= 0 || strings.Contains(text, sessionKey) {
			t.Errorf("the %s tell a secret: …%q…", what, text[max(i-200, 0):min(i+100, len(text))])
		}
	}
}
