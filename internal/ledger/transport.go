package ledger

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"onefold/internal/work"
)

// Bounds of one exchange unless the Config sets others.
const (
	DefaultMaxBody = 1 << 20
	DefaultTimeout = 30 * time.Second
	maxHeader      = 64 << 10
)

// Config says how one accounting system is reached.
type Config struct {
	BaseURL   string            // http or https, without credentials
	Authorize func(http.Header) // sets the credentials of each call; nil: none
	Secrets   []string          // texts that are blotted out wherever they would be recorded
	MaxBody   int64             // most bytes of an answer, counted after unpacking; 0: DefaultMaxBody
	Timeout   time.Duration     // total time of one call; the context may end it sooner; 0: DefaultTimeout
	Now       func() time.Time  // this machine's clock, with monotonic reading; nil: time.Now
	TLS       *tls.Config       // nil: the system's roots
	Lose      func() bool       // asked after each write that was answered; true: the answer is lost; nil: never
}

// Transport is the hardened HTTP client of one accounting system. It is safe for concurrent use.
//
// A write uses HTTP/1.1 on a fresh connection of its own: Go's client sends a POST that carries an Idempotency-Key again,
// unseen, when a reused connection dies. No call follows a redirect, uses a proxy from the environment or retries.
type Transport struct {
	base    *url.URL
	cfg     Config
	secrets []string
	reads   *http.Transport
}

// NewTransport checks the configuration; it does not connect.
func NewTransport(cfg Config) (*Transport, error) {
	base, err := url.Parse(strings.TrimRight(cfg.BaseURL, "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("the address of the accounting system must look like https://host/path")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the address of the accounting system must not contain credentials, a query or a fragment")
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = DefaultMaxBody
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	t := &Transport{base: base, cfg: cfg}
	for _, s := range cfg.Secrets {
		if s != "" {
			t.secrets = append(t.secrets, s)
		}
	}
	t.reads = t.newHTTP()
	t.reads.MaxIdleConnsPerHost = 16
	t.reads.IdleConnTimeout = 30 * time.Second
	return t, nil
}

// newHTTP is a net/http transport without proxy, HTTP/2 and transparent unpacking.
func (t *Transport) newHTTP() *http.Transport {
	h := &http.Transport{
		DialContext:            (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext,
		DisableCompression:     true, // packed answers are unpacked under our own limit
		MaxResponseHeaderBytes: maxHeader,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	if t.cfg.TLS != nil {
		h.TLSClientConfig = t.cfg.TLS.Clone()
	}
	return h
}

// Call is one HTTP request.
type Call struct {
	Method string
	Path   string // below the base address, already escaped
	Query  url.Values
	Header http.Header
	Body   []byte
}

// Close drops idle connections.
func (t *Transport) Close() { t.reads.CloseIdleConnections() }

// Read makes a request that changes nothing. The connection may be reused.
func (t *Transport) Read(ctx context.Context, call Call) Reply {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
	defer cancel()
	req, err := t.request(ctx, call)
	if err != nil {
		return Reply{Err: err, Exchange: work.Exchange{Error: "the request could not be built"}}
	}
	reply := Reply{read: true, HandedOver: true, now: t.cfg.Now}
	t.exchange(t.reads, req, &reply)
	t.describe(req, call.Body, &reply)
	return reply
}

// Write makes a request that may create something, at most once. Past sendBy no byte of it is handed over; if none was,
// Reply.HandedOver is false and stays true to that: nothing leaves after Write has returned.
func (t *Transport) Write(ctx context.Context, call Call, sendBy Deadline) Reply {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
	defer cancel()
	req, err := t.request(ctx, call)
	if err != nil {
		return Reply{Err: err, Exchange: work.Exchange{Error: "the request could not be built, nothing was sent"}}
	}
	gate := &writeGate{sendBy: sendBy, now: t.cfg.Now}
	reply := Reply{now: t.cfg.Now}
	if sendBy.Passed(t.cfg.Now()) {
		reply.Err = errSendBy
	} else {
		h := t.newHTTP()
		h.DisableKeepAlives = true
		h.WriteBufferSize = 64 << 10 // one hand-over for all but the longest requests
		gate.install(h)
		t.exchange(h, req, &reply)
		if reply.Status != 0 && t.cfg.Lose != nil && t.cfg.Lose() {
			reply = Reply{Err: errLost, now: t.cfg.Now}
		}
	}
	reply.HandedOver, reply.late = gate.seal()
	if errors.Is(reply.Err, errSendBy) {
		reply.late = true
	}
	t.describe(req, call.Body, &reply)
	return reply
}

func (t *Transport) request(ctx context.Context, call Call) (*http.Request, error) {
	u := *t.base
	address := u.String() + call.Path
	if len(call.Query) > 0 {
		address += "?" + call.Query.Encode()
	}
	var body io.Reader = http.NoBody
	if len(call.Body) > 0 {
		body = struct{ io.Reader }{bytes.NewReader(call.Body)} // hides the type, so that GetBody stays nil
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, address, body)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	req.GetBody = nil
	req.ContentLength = int64(len(call.Body))
	for name, values := range call.Header {
		req.Header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	req.Header.Set("User-Agent", "onefold")
	if t.cfg.Authorize != nil {
		t.cfg.Authorize(req.Header)
	}
	return req, nil
}

// exchange makes the round trip and reads the answer within the bounds.
func (t *Transport) exchange(h *http.Transport, req *http.Request, reply *Reply) {
	resp, err := h.RoundTrip(req) // not http.Client: no redirects, no cookies
	if err != nil {
		reply.Err = err
		return
	}
	defer resp.Body.Close() //nolint:errcheck // nothing depends on it
	reply.Status = resp.StatusCode
	reply.Header = resp.Header
	reply.Location = cleanLocation(req.URL, resp.Header.Get("Location"))
	reply.Body, reply.Cut, reply.Err = readBody(resp, t.cfg.MaxBody)
}
