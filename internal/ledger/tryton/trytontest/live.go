package trytontest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// Variable names the folder with the prepared books; scripts/tryton-books makes them.
const Variable = "ONEFOLD_TEST_TRYTON"

// Stranger is a user of the prepared books who sees no company; the password is the same.
const Stranger = "stranger"

// Live is a real Tryton on a copy of the prepared books. It implements ledgertest.Fake: it does nothing wrong by
// itself, and what it holds is asked of it through a connection of its own.
type Live struct {
	URL      string
	Database string
	t        testing.TB
	dir      string // of the databases
	books    string // they are copies of this file
	proxy    *httputil.ReverseProxy

	mu    sync.Mutex
	held  *held
	fault map[work.Kind]ledgertest.Fault // replaced, not changed
	other *Live                          // the books of somebody else
}

// held keeps the next write from Tryton.
type held struct{ reached, release chan struct{} }

// Start starts a Tryton that ends with the test. Without the prepared books the test is skipped, or fails where they are
// required: with CI=true or ONEFOLD_REQUIRE_TRYTON=1.
func Start(t testing.TB) *Live {
	t.Helper()
	books := os.Getenv(Variable)
	if books == "" {
		const missing = "no Tryton: set " + Variable + " to the folder that scripts/tryton-books prints (make test does)"
		if os.Getenv("CI") == "true" || os.Getenv("ONEFOLD_REQUIRE_TRYTON") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	dir := t.TempDir()
	const attempts = 5 // a port that was free may be taken a moment later
	for n := 1; ; n++ {
		l, err := start(t, dir, filepath.Join(books, "passlib.ini"))
		if err == nil {
			l.dir, l.books = dir, filepath.Join(books, Database+".sqlite")
			l = l.Fresh(t)
			l.Warm()
			return l
		}
		if n == attempts {
			t.Fatal(err)
		}
	}
}

var databases atomic.Int64

// Fresh is the same server with one more copy of the books.
func (l *Live) Fresh(t testing.TB) *Live {
	t.Helper()
	return l.For(t).copied("", "")
}

// copied is the same server with one more copy of the books, in which a text is replaced by one of the same length.
func (l *Live) copied(text, by string) *Live {
	l.t.Helper()
	fresh := l.For(l.t)
	fresh.Database = fmt.Sprintf("%s%d", Database, databases.Add(1))
	file, err := os.ReadFile(l.books)
	if text != "" {
		file = bytes.ReplaceAll(file, []byte(text), []byte(by))
	}
	if err == nil {
		err = os.WriteFile(fresh.File(), file, 0o600)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return fresh
}

// For is the same books in another test.
func (l *Live) For(t testing.TB) *Live {
	return &Live{URL: l.URL, Database: l.Database, t: t, dir: l.dir, books: l.books, proxy: l.proxy}
}

// Warm makes the first call to the database, which takes Tryton a second or so.
func (l *Live) Warm() {
	l.t.Helper()
	l.Ask("model.res.user.get_preferences", true, map[string]any{})
}

func start(t testing.TB, dir, passlib string) (*Live, error) {
	t.Helper()
	port, err := freePort(t.Context())
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "trytond.conf")
	text := fmt.Sprintf("[database]\nuri = sqlite://\npath = %s\n[web]\nlisten = %s\n[password]\npasslib = %s\n", dir, port, passlib)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return nil, err
	}
	var log bytes.Buffer
	server := exec.CommandContext(t.Context(), "trytond", "-c", conf) //nolint:gosec // our own file
	server.Stderr = &log
	if err := server.Start(); err != nil {
		return nil, err
	}
	gone := make(chan struct{})
	go func() {
		server.Wait() //nolint:errcheck,gosec // it is killed
		close(gone)
	}()
	stop := func() {
		server.Process.Kill() //nolint:errcheck,gosec // it may be gone
		<-gone
	}
	address := &url.URL{Scheme: "http", Host: port}
	l := &Live{URL: address.String(), proxy: &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(address) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	enough := time.After(time.Minute)
	for {
		select {
		case <-gone:
			return nil, fmt.Errorf("trytond did not start: %s", log.String())
		case <-enough:
			stop()
			return nil, fmt.Errorf("trytond does not answer: %s", log.String())
		case <-tick.C:
		}
		if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", port); err == nil {
			conn.Close() //nolint:errcheck,gosec // it only knocked
			t.Cleanup(stop)
			return l, nil
		}
	}
}

func freePort(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // the port is wanted, not the listener
	return l.Addr().String(), nil
}

// File is the database.
func (l *Live) File() string { return filepath.Join(l.dir, l.Database+".sqlite") }

// Call calls a method with that authorization, behind the adapter's back.
func (l *Live) Call(authorization, method string, params ...any) (status int, answer []byte) {
	l.t.Helper()
	body, err := json.Marshal(map[string]any{"id": 1, "method": method, "params": params})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.URL+"/"+l.Database+"/", bytes.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Authorization", authorization)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if answer, err = io.ReadAll(resp.Body); err != nil {
		l.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// Ask calls a method as the user and returns the result; the test fails if there is none.
func (l *Live) Ask(method string, params ...any) json.RawMessage {
	l.t.Helper()
	status, answer := l.Call("Basic "+base64.StdEncoding.EncodeToString([]byte(User+":"+Password)), method, params...)
	var v struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(answer, &v) != nil || v.Result == nil {
		l.t.Fatalf("%s: %d %.500s", method, status, answer)
	}
	return v.Result
}

// Invoice is what the real Tryton holds.
type Invoice struct {
	ID      int    `json:"id"`
	State   string `json:"state"`
	Number  string `json:"number"`
	Comment string `json:"comment"`
	Total   struct {
		Decimal string `json:"decimal"`
	} `json:"total_amount"`
	Due []struct {
		Date struct{ Year, Month, Day int } `json:"maturity_date"`
	} `json:"lines_to_pay."`
}

// Invoices asks for those with that reference, in every state.
func (l *Live) Invoices(reference string) (rows []Invoice) {
	l.t.Helper()
	result := l.Ask("model.account.invoice.search_read", [][]any{{"reference", "=", reference}}, 0, nil, nil,
		[]string{"state", "number", "comment", "total_amount", "lines_to_pay.maturity_date"}, map[string]any{"company": Company})
	if err := json.Unmarshal(result, &rows); err != nil {
		l.t.Fatalf("%v: %s", err, result)
	}
	return rows
}

// References counts the invoices in every state by their reference.
func (l *Live) References() map[string]int {
	l.t.Helper()
	var rows []struct {
		Reference string `json:"reference"`
	}
	result := l.Ask("model.account.invoice.search_read", []any{}, 0, nil, nil, []string{"reference"}, map[string]any{"company": Company})
	if err := json.Unmarshal(result, &rows); err != nil {
		l.t.Fatalf("%v: %s", err, result)
	}
	n := map[string]int{}
	for _, row := range rows {
		n[row.Reference]++
	}
	return n
}

// Classify implements ledgertest.Fake.
func (l *Live) Classify(r *http.Request, body []byte) ledgertest.Incoming {
	return (&Fake{}).Classify(r, body)
}

// Hold keeps the next write from Tryton until it is released; reached is closed when it is there.
func (l *Live) Hold() (reached <-chan struct{}, release func()) {
	h := &held{make(chan struct{}), make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = h
	return h.reached, sync.OnceFunc(func() { close(h.release) })
}

// Effects implements ledgertest.Fake.
func (l *Live) Effects(step, reference string) int {
	n := 0
	l.mu.Lock()
	other := l.other
	l.mu.Unlock()
	if other != nil {
		n = other.Effects(step, reference)
	}
	for _, v := range l.Invoices(reference) {
		if step == "create" || v.State == "posted" || v.State == "paid" {
			n++
		}
	}
	return n
}

// Advance implements ledgertest.Fake. Nothing at Tryton depends on the time that the tests let pass.
func (*Live) Advance(time.Duration) {}
