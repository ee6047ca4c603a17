package trytontest

import (
	"bytes"
	"context"
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
	"testing"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/misbehave"
	"onefold/internal/work"
)

// Variable names the folder with the prepared books; scripts/tryton-books makes them.
const Variable = "ONEFOLD_TEST_TRYTON"

// Stranger is a user of the prepared books who sees no company; the password is the same.
const Stranger = "stranger"

// Live is a real Tryton on a copy of the prepared books. It implements ledgertest.Fake: it can do nothing wrong by itself
// but take long, and what it holds is asked of it through a connection of its own.
type Live struct {
	URL string
	// Late is how long a call is held before Tryton gets it, where it is to take effect after the caller hung up.
	Late time.Duration

	t     testing.TB
	proxy *httputil.ReverseProxy

	mu   sync.Mutex
	late bool
}

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
	file, err := os.ReadFile(filepath.Join(books, Database+".sqlite"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, Database+".sqlite"), file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	const attempts = 5 // a port that was free may be taken a moment later
	for n := 1; ; n++ {
		l, err := start(t, dir, filepath.Join(books, "passlib.ini"))
		if err == nil {
			return l
		}
		if n == attempts {
			t.Fatal(err)
		}
	}
}

func start(t testing.TB, dir, passlib string) (*Live, error) {
	t.Helper()
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "trytond.conf")
	text := fmt.Sprintf("[database]\nuri = sqlite://\npath = %s\n[web]\nlisten = %s\n[password]\npasslib = %s\n", dir, port, passlib)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return nil, err
	}
	var log bytes.Buffer
	server := exec.Command("trytond", "-c", conf) //nolint:gosec // our own file
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
	l := &Live{URL: address.String(), t: t, proxy: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address) }}}
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
		if conn, err := net.Dial("tcp", port); err == nil {
			conn.Close() //nolint:errcheck,gosec // it only knocked
			t.Cleanup(stop)
			l.Ask("model.res.user.get_preferences", true, map[string]any{}) // the first answer takes long
			return l, nil
		}
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // the port is wanted, not the listener
	return l.Addr().String(), nil
}

// Ask calls a method as the user, behind the adapter's back, and returns the result; the test fails if there is none.
func (l *Live) Ask(method string, params ...any) json.RawMessage {
	l.t.Helper()
	body, err := json.Marshal(map[string]any{"id": 1, "method": method, "params": params})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.URL+"/"+Database+"/", bytes.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.SetBasicAuth(User, Password)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	var v struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(answer, &v) != nil || v.Result == nil {
		l.t.Fatalf("%s: %d %.500s", method, resp.StatusCode, answer)
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

// Classify implements ledgertest.Fake.
func (l *Live) Classify(r *http.Request, body []byte) ledgertest.Incoming {
	return (&Fake{}).Classify(r, body)
}

// ServeHTTP implements ledgertest.Fake.
func (l *Live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	late := l.late
	l.mu.Unlock()
	if late {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if l.Classify(r, body).Kind == work.Send {
			misbehave.Wait(l.Late)
		}
	}
	l.proxy.ServeHTTP(w, r)
}

// Misbehave implements ledgertest.Fake.
func (l *Live) Misbehave(_ work.Kind, f ledgertest.Fault) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = f == "commit_late"
	return l.late || f == ledgertest.NoFault
}

// Effects implements ledgertest.Fake.
func (l *Live) Effects(step, reference string) int {
	n := 0
	for _, v := range l.Invoices(reference) {
		if step == "create" || v.State == "posted" || v.State == "paid" {
			n++
		}
	}
	return n
}

// Advance implements ledgertest.Fake. Nothing at Tryton depends on the time that the tests let pass.
func (*Live) Advance(time.Duration) {}
