// Package misbehave breaks HTTP answers on purpose, for servers that stand in for accounting systems.
package misbehave

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Pages as they come from something in between.
const (
	BackSoon = `<!DOCTYPE html><html><head><title>Maintenance</title></head><body><h1>We will be back soon</h1></body></html>`
	Gateway  = `<html><body><h1>502 Bad Gateway</h1><script>alert("gateway")</script></body></html>`
	Blocked  = `<html><body>blocked</body></html>`
)

// Wait waits.
func Wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// Page answers with a web page.
func Page(w http.ResponseWriter, status int, html string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write([]byte(html)) //nolint:errcheck,gosec // the client may be gone
}

// Drop breaks the line without an answer.
func Drop(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				tcp.SetLinger(0) //nolint:errcheck,gosec // then it is closed the gentle way
			}
			conn.Close() //nolint:errcheck,gosec // broken on purpose
			return
		}
	}
	panic(http.ErrAbortHandler)
}

const mostDripped = 10_000

// Drip writes the body a byte at a time, and then blanks.
func Drip(w http.ResponseWriter, r *http.Request, body []byte, each time.Duration) {
	body = append(body, []byte(strings.Repeat(" ", mostDripped))...)
	flush := http.NewResponseController(w)
	for i := range body {
		if _, err := w.Write(body[i : i+1]); err != nil || flush.Flush() != nil || r.Context().Err() != nil {
			return
		}
		Wait(each)
	}
}

// DripHeaders answers with headers without end, a byte at a time.
func DripHeaders(w http.ResponseWriter, each time.Duration) {
	h, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := h.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close() //nolint:errcheck // broken on purpose
	for _, b := range []byte("HTTP/1.1 200 OK\r\nX-Slow: " + strings.Repeat("x", mostDripped)) {
		if _, err := conn.Write([]byte{b}); err != nil {
			return
		}
		Wait(each)
	}
}

const mostEndless = 4 << 30

// Endless writes blanks without end, until the client is gone.
func Endless(r *http.Request, w io.Writer) {
	chunk := []byte(strings.Repeat(" ", 64<<10))
	for sent := 0; sent < mostEndless && r.Context().Err() == nil; sent += len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// HugeGzip is a small answer that unpacks without end.
func HugeGzip(w http.ResponseWriter, r *http.Request, status int) {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	Endless(r, gzip.NewWriter(w))
}

// RetryAfter sets the header to the text as it is; "date+90" becomes a date, "" sets none.
func RetryAfter(w http.ResponseWriter, text string) {
	if seconds, ok := strings.CutPrefix(text, "date"); ok {
		n, _ := strconv.Atoi(seconds)
		text = time.Now().Add(time.Duration(n) * time.Second).UTC().Format(http.TimeFormat)
	}
	if text != "" {
		w.Header().Set("Retry-After", text)
	}
}

type connUses struct{}

// ConnContext counts the requests of a connection; for http.Server.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connUses{}, new(atomic.Int64))
}

// Used counts a request; Reused reports whether its connection had another one before.
func Used(r *http.Request) {
	if n, ok := r.Context().Value(connUses{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}

// Reused reports whether the request came on a connection that had carried another one before.
func Reused(r *http.Request) bool {
	n, ok := r.Context().Value(connUses{}).(*atomic.Int64)
	return ok && n.Load() > 1
}
