package ledger

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"onefold/internal/work"
)

func transport(t *testing.T, cfg Config) *Transport {
	t.Helper()
	tr, err := NewTransport(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

func soon() Deadline { return NewDeadline(time.Now(), time.Minute) }

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestEveryWriteHasAConnectionOfItsOwn(t *testing.T) {
	var mu sync.Mutex
	addresses := map[string]bool{}
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		addresses[r.RemoteAddr] = true
		if r.ProtoMajor != 1 || r.Header.Get("Idempotency-Key") == "" {
			t.Errorf("%s %v", r.Proto, r.Header)
		}
	})
	tr := transport(t, Config{BaseURL: s.URL})
	for range 5 {
		r := tr.Write(t.Context(), Call{Method: "POST", Path: "/", Header: http.Header{"Idempotency-Key": {"K"}}}, soon())
		if r.Status != 200 || !r.HandedOver {
			t.Fatalf("%+v", r)
		}
	}
	if len(addresses) != 5 {
		t.Errorf("%d connections for 5 writes", len(addresses))
	}
}

func TestTheProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	tr := transport(t, Config{BaseURL: "http://example.invalid"})
	if tr.newHTTP().Proxy != nil || tr.reads.Proxy != nil {
		t.Error("a proxy would stand between the check of send-by and the accounting system")
	}
}

func TestSendByAboveTLS(t *testing.T) {
	var requests atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.ProtoMajor != 1 {
			t.Errorf("%s", r.Proto)
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs

	var readings atomic.Int64
	start := time.Now()
	frozenAfter := int64(1 << 60)
	cfg := Config{BaseURL: s.URL, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Now: func() time.Time {
		if readings.Add(1) > frozenAfter {
			return start.Add(time.Hour)
		}
		return start
	}}
	tr := transport(t, cfg)
	call := Call{Method: "POST", Path: "/", Body: []byte(`{}`)}
	if r := tr.Write(t.Context(), call, NewDeadline(start, time.Minute)); r.Status != 200 {
		t.Fatalf("%v", r.Err)
	}
	requests.Store(0)
	readings.Store(0)
	frozenAfter = 1 // passes the check before the connection, not the one after the handshake
	r := tr.Write(t.Context(), call, NewDeadline(start, time.Minute))
	if r.HandedOver || requests.Load() != 0 {
		t.Errorf("handed over %v, %d requests", r.HandedOver, requests.Load())
	}
	a, ok := r.Write()
	if !ok || a.Outcome != work.NotSent || a.Unreached || a.Exchange.Error != "not sent in time, nothing was sent" {
		t.Errorf("%+v", a)
	}

	frozenAfter = 1 << 60
	wrong := transport(t, Config{BaseURL: s.URL}) // does not trust the server
	r = wrong.Write(t.Context(), call, soon())
	if a, _ := r.Write(); a.Outcome != work.NotSent || !a.Unreached {
		t.Errorf("a failed handshake: %+v", a)
	}
}

// A long request is handed over in pieces: once the first has left, the rest being refused makes it unknown.
func TestSendByInTheMiddleOfARequest(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }) //nolint:errcheck // its end is the test
	var readings atomic.Int64
	start := time.Now()
	tr := transport(t, Config{BaseURL: s.URL, Now: func() time.Time {
		if readings.Add(1) > 2 {
			return start.Add(time.Hour)
		}
		return start
	}})
	r := tr.Write(t.Context(), Call{Method: "POST", Path: "/", Body: bytes.Repeat([]byte("x"), 1<<20)}, NewDeadline(start, time.Minute))
	if a, ok := r.Write(); !ok || a.Outcome != work.Unknown || !r.HandedOver || !strings.Contains(a.Exchange.Error, "half way") {
		t.Errorf("%v %+v", r.HandedOver, a)
	}
}

// Once a write has been called "not sent" nothing may leave any more, whatever net/http still holds.
func TestTheGateIsSealed(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()  //nolint:errcheck // test
	defer there.Close() //nolint:errcheck // test
	g := &writeGate{now: time.Now, sendBy: soon()}
	if handed, _ := g.seal(); handed {
		t.Fatal("handed over before anything was written")
	}
	if n, err := (gatedConn{here, g}).Write([]byte("POST")); n != 0 || !errors.Is(err, errSealed) {
		t.Errorf("%d bytes left after the call was over: %v", n, err)
	}
}

func TestAContextThatEndsWhileConnecting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tr := transport(t, Config{BaseURL: "http://127.0.0.1:9", Now: func() time.Time { cancel(); return time.Now() }})
	r := tr.Write(ctx, Call{Method: "POST", Path: "/"}, soon())
	if a, ok := r.Write(); !ok || a.Outcome != work.NotSent {
		t.Errorf("%+v", a)
	}
}

func TestReadsFollowNoRedirect(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("followed to another host") })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/x?token=abc", http.StatusFound)
	})
	r := transport(t, Config{BaseURL: s.URL}).Read(t.Context(), Call{Method: "GET", Path: "/"})
	f, ok := r.Read()
	if !ok || f.Searched || !strings.Contains(f.Exchange.Error, "redirects to "+other.URL+"/x") || strings.Contains(f.Exchange.Error+f.Exchange.Response, "abc") {
		t.Errorf("%+v", f)
	}
}

func TestPackedAnswersAreUnpackedOnce(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Error("packed answers were asked for")
		}
		w.Header().Set("Content-Encoding", "GZIP")
		z := gzip.NewWriter(w)
		z.Write([]byte(`{"id":"a"}`)) //nolint:errcheck,gosec // test
		z.Close()                     //nolint:errcheck,gosec // test
	})
	var v struct{ ID string }
	if err := transport(t, Config{BaseURL: s.URL}).Read(t.Context(), Call{Method: "GET", Path: "/"}).Object(&v); err != nil || v.ID != "a" {
		t.Errorf("%v %+v", err, v)
	}
}

func TestTheLimitCountsUnpackedBytes(t *testing.T) {
	for n, cut := range map[int]bool{1000: false, 1001: true} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", n)) }) //nolint:errcheck // test
		r := transport(t, Config{BaseURL: s.URL, MaxBody: 1000}).Read(t.Context(), Call{Method: "GET", Path: "/"})
		if r.Cut != cut || len(r.Body) != 1000 {
			t.Errorf("%d bytes: cut %v, %d kept", n, r.Cut, len(r.Body))
		}
	}
}

func TestSecretsAreNotRecorded(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "sid=COOKIE-1")
		io.WriteString(w, `{"access_token":"TOKEN-1","password" : "PASS\"-1","client_secret":987654321,"id":"a","business_key":"INV-1","echo":"MY-SECRET-1","h":"Bearer abcdefghijkl"}`) //nolint:errcheck // test
	})
	tr := transport(t, Config{BaseURL: s.URL, Secrets: []string{"MY-SECRET-1", ""}, Authorize: func(h http.Header) {
		h.Set("Authorization", "Bearer MY-SECRET-1")
		h.Set("X-Api-Key", "KEY-9")
	}})
	r := tr.Write(t.Context(), Call{Method: "POST", Path: "/x", Query: map[string][]string{"token": {"QUERY-1"}, "page": {"2"}},
		Header: http.Header{"Idempotency-Key": {"IDEM-1"}}, Body: []byte("grant=x&refresh_token=FORM-1&a=b")}, soon())
	all := r.Exchange.Request + r.Exchange.Response
	for _, secret := range []string{"COOKIE-1", "TOKEN-1", "PASS", "987654321", "MY-SECRET-1", "abcdefghijkl", "KEY-9", "QUERY-1", "FORM-1"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is recorded:\n%s", secret, all)
		}
	}
	for _, plain := range []string{"IDEM-1", "INV-1", `"id":"a"`, "page=2", "a=b"} {
		if !strings.Contains(all, plain) {
			t.Errorf("%s is not recorded:\n%s", plain, all)
		}
	}
}

func TestBadAddresses(t *testing.T) {
	for _, address := range []string{"", "example.com", "ftp://example.com", "https://", "https://me:pw@example.com", "https://example.com?x=1", "://"} {
		if _, err := NewTransport(Config{BaseURL: address}); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// A server that answers before it has read, and one that speaks no HTTP.
func TestAnswersThatAreNone(t *testing.T) {
	for name, text := range map[string]string{"no HTTP": "220 mail.example ESMTP\r\n", "half a head": "HTTP/1.1 200 OK\r\nContent-Le", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close() //nolint:errcheck // test
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				http.ReadRequest(bufio.NewReader(conn)) //nolint:errcheck,bodyclose // only drained
				io.WriteString(conn, text)              //nolint:errcheck // test
				conn.Close()                            //nolint:errcheck,gosec // test
			}()
			r := transport(t, Config{BaseURL: "http://" + l.Addr().String()}).Write(t.Context(), Call{Method: "POST", Path: "/"}, soon())
			if a, ok := r.Write(); !ok || a.Outcome != work.Unknown || a.Exchange.Error == "" {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestManyWritesAtOnce(t *testing.T) {
	var n atomic.Int64
	s := serve(t, func(http.ResponseWriter, *http.Request) { n.Add(1) })
	tr := transport(t, Config{BaseURL: s.URL})
	done := make(chan Reply)
	for range 64 {
		go func() { done <- tr.Write(t.Context(), Call{Method: "POST", Path: "/", Body: []byte("x")}, soon()) }()
	}
	for range 64 {
		if r := <-done; r.Status != 200 {
			t.Errorf("%v", r.Err)
		}
	}
	if n.Load() != 64 {
		t.Errorf("%d requests for 64 writes", n.Load())
	}
}

func TestAnAnswerThatIsLostOnPurpose(t *testing.T) {
	var acted atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		acted.Add(1)
		_, _ = w.Write([]byte(`{"id":"secret-of-the-answer"}`))
	})
	lose := true
	tr := transport(t, Config{BaseURL: s.URL, Lose: func() bool { return lose }})
	r := tr.Write(t.Context(), Call{Method: "POST", Path: "/"}, soon())
	if a, done := r.Write(); !done || a.Outcome != work.Unknown || !r.HandedOver || acted.Load() != 1 || len(r.Body) != 0 || strings.Contains(a.Exchange.Response, "secret") {
		t.Errorf("%d effects, %+v", acted.Load(), r)
	}
	if r := tr.Read(t.Context(), Call{Method: "GET", Path: "/"}); r.Status != 200 {
		t.Errorf("a read was lost: %+v", r)
	}
	lose = false
	if r := tr.Write(t.Context(), Call{Method: "POST", Path: "/"}, soon()); r.Status != 200 {
		t.Errorf("%+v", r)
	}
}
