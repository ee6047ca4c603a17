package ledgertest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"onefold/internal/ledger/misbehave"
	"onefold/internal/work"
)

// Fake is an accounting system in memory that keeps state and answers as its vendor's does. It is healthy unless told
// otherwise, knows nothing of lines that break, and is safe for concurrent use.
type Fake interface {
	// Classify says what a request is, before it is carried out. It must not consume the request's body.
	Classify(r *http.Request, body []byte) Incoming
	// ServeHTTP carries a request out.
	ServeHTTP(w http.ResponseWriter, r *http.Request)
	// Misbehave makes the system itself meet every following request of that kind with the fault; NoFault heals all. False:
	// the system cannot fail so by itself; Front is asked then whether the line in front of it can.
	Misbehave(kind work.Kind, f Fault) bool
	// Effects counts how often the step took effect for records asked for under the reference, void and deleted ones and
	// those in other books included.
	Effects(step, reference string) int
	// Advance moves the system's clock.
	Advance(d time.Duration)
}

// Bodiless is a Fake whose next answer to a write may have no body, so that the line has nothing to spoil.
type Bodiless interface{ Bodiless() bool }

// bodyFaults spoil a body.
var bodyFaults = map[Fault]bool{"garbage": true, "drip": true, "endless": true, "huge_gzip": true, "cut_answer": true}

// Incoming is a request as a Fake understands it.
type Incoming struct {
	Kind work.Kind // empty: neither a writing request nor a part of a lookup (login, identity)
	Key  string    // the idempotency key that it carries, wherever this system takes it from
}

// Front stands before a Fake and is the line and the gateway in between: it loses, delays, cuts and replaces answers. It
// implements Outside.
type Front struct {
	fake Fake
	http *httptest.Server

	received, sent atomic.Int64

	mu      sync.Mutex
	fault   map[work.Kind]Fault
	writes  []Write
	atWork  int
	resting *sync.Cond
}

// Serve starts a Front; it ends with the test.
func Serve(t *testing.T, fake Fake) *Front {
	t.Helper()
	f := &Front{fake: fake, fault: map[work.Kind]Fault{}}
	f.resting = sync.NewCond(&f.mu)
	f.http = httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	f.http.Config.ConnContext = misbehave.ConnContext
	f.http.Listener = countingListener{f.http.Listener, f}
	f.http.Start()
	t.Cleanup(func() {
		f.http.CloseClientConnections()
		f.http.Close()
	})
	return f
}

// URL is the address of the front.
func (f *Front) URL() string { return f.http.URL }

// Misbehave implements Outside.
func (f *Front) Misbehave(kind work.Kind, fault Fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault == NoFault {
		clear(f.fault)
		f.fake.Misbehave(kind, NoFault)
		return true
	}
	if f.fake.Misbehave(kind, fault) {
		return true
	}
	if fault == "unreachable" {
		f.http.Close()
		return true
	}
	if !lineFaults[fault] && !strings.HasPrefix(string(fault), "wait:") {
		return false
	}
	if b, ok := f.fake.(Bodiless); ok && kind == work.Send && bodyFaults[fault] && b.Bodiless() {
		return false
	}
	f.fault[kind] = fault
	return true
}

// Effects implements Outside.
func (f *Front) Effects(step, reference string) int { return f.fake.Effects(step, reference) }

// Advance implements Outside.
func (f *Front) Advance(d time.Duration) { f.fake.Advance(d) }

// Traffic implements Outside.
func (f *Front) Traffic() (received, sent int64) { return f.received.Load(), f.sent.Load() }

// Writes implements Outside.
func (f *Front) Writes() []Write {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Write(nil), f.writes...)
}

// Wait implements Outside.
func (f *Front) Wait() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.atWork > 0 {
		f.resting.Wait()
	}
}

const moved = "/moved-elsewhere"

func (f *Front) serve(w http.ResponseWriter, r *http.Request) {
	misbehave.Used(r)
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	f.atWork++
	if r.URL.Path == moved { // a redirect was followed
		f.writes = append(f.writes, Write{})
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		if f.atWork--; f.atWork == 0 {
			f.resting.Broadcast()
		}
		f.mu.Unlock()
	}()
	if r.URL.Path == moved {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{}`)) //nolint:errcheck,gosec // the client may be gone
		return
	}
	in := f.fake.Classify(r, body)
	f.mu.Lock()
	var fault Fault
	if in.Kind != "" {
		fault = f.fault[in.Kind]
	}
	if in.Kind == work.Send {
		f.writes = append(f.writes, Write{Key: in.Key})
	}
	f.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	if before(w, r, fault) {
		return
	}
	answer := httptest.NewRecorder()
	carriedOut := r.WithContext(context.WithoutCancel(r.Context()))
	switch fault {
	case "commit_late":
		hungUp(r)
	case "cut_request":
		if len(body) > 1 { // what has no body cannot be cut in it
			carriedOut.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), iotest.ErrReader(io.ErrUnexpectedEOF)))
			f.fake.ServeHTTP(answer, carriedOut)
		}
		misbehave.Drop(w)
		return
	}
	f.fake.ServeHTTP(answer, carriedOut)
	after(w, r, fault, answer)
}

type countingListener struct {
	net.Listener
	f *Front
}

func (l countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{conn, l.f}, nil
}

type countingConn struct {
	net.Conn
	f *Front
}

func (c countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.f.received.Add(int64(n))
	return n, err
}

func (c countingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.f.sent.Add(int64(n))
	return n, err
}
