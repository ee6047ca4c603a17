package server

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	backSoon = `<!DOCTYPE html><html><head><title>Maintenance</title></head><body><h1>We will be back soon</h1></body></html>`
	gateway  = `<html><body><h1>502 Bad Gateway</h1><script>alert("gateway")</script></body></html>`
)

func wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

func (c *call) delay() time.Duration {
	switch {
	case c.rule.DelayMS > 0:
		return time.Duration(c.rule.DelayMS) * time.Millisecond
	case c.fault == CommitLate:
		return 2 * time.Second
	case c.fault == Lag:
		return 5 * time.Second
	}
	return 50 * time.Millisecond
}

// before carries out the faults that come before any effect. It reports whether the request is over.
func (s *Server) before(c *call) bool {
	w := c.w
	switch c.fault {
	case DropBefore:
		drop(w)
	case ErrorBefore:
		reply(w, http.StatusInternalServerError, refusal{Code: "internal", Reason: "something went wrong"})
	case Unavailable:
		c.retryAfter()
		reply(w, http.StatusServiceUnavailable, refusal{Code: "unavailable", Reason: "try again later"})
	case GatewayPage:
		page(w, http.StatusBadGateway, gateway)
	case RateLimit:
		c.retryAfter()
		reply(w, http.StatusTooManyRequests, refusal{Code: "rate_limit", Reason: "too many requests"})
	case Login:
		reply(w, http.StatusUnauthorized, refusal{Code: "login", Reason: "the login has ended"})
	case PageBefore:
		page(w, http.StatusOK, backSoon)
	case EmptyBefore:
		w.WriteHeader(http.StatusOK)
	case Redirect301, Redirect302, Redirect303, Redirect307, Redirect308:
		code, _ := strconv.Atoi(strings.TrimPrefix(string(c.fault), "redirect_"))
		w.Header().Set("Location", "/"+c.b.Name+"/moved"+c.r.URL.Path+"?token=not-to-be-shown")
		w.WriteHeader(code)
	case DripHeaders:
		c.dripHeaders()
	case ListAnswer:
		reply(w, http.StatusOK, map[string]any{"invoice": strangers(50)})
	case Reject, RejectFinal:
		reply(w, http.StatusUnprocessableEntity, refusal{Code: "refused", Reason: c.reason(), Final: c.fault == RejectFinal})
	case RejectXML:
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "<?xml version=\"1.0\"?><error>%s</error>", c.reason()) //nolint:errcheck // the client may be gone
	case RejectPage:
		page(w, http.StatusBadRequest, "<html><body>blocked</body></html>")
	case RejectBare:
		w.Header()["Content-Type"] = nil
		w.WriteHeader(http.StatusBadRequest)
	case RejectCharset, RejectRaw:
		body, _ := json.Marshal(refusal{Code: "refused", Reason: c.reason()})
		w.Header().Set("Content-Type", "Application/JSON; charset=UTF-8")
		if c.fault == RejectRaw {
			body = []byte(`{"error":"refused","reason":"` + c.reason() + `"}`)
		}
		w.WriteHeader(http.StatusBadRequest)
		w.Write(body) //nolint:errcheck,gosec // the client may be gone
	case DuplicateError:
		reply(w, http.StatusConflict, refusal{Code: "duplicate", Reason: "reported earlier"})
	case SearchError:
		reply(w, http.StatusOK, map[string]any{"error": "busy", "reason": "the search is being maintained"})
	case SearchForbidden:
		reply(w, http.StatusForbidden, refusal{Code: "forbidden", Reason: "you may not search"})
	default:
		return false
	}
	return true
}

func (c *call) reason() string {
	if c.rule.Reason != "" {
		return c.rule.Reason
	}
	return "the customer is blocked"
}

func (c *call) retryAfter() {
	text := c.rule.RetryAfter
	if seconds, ok := strings.CutPrefix(text, "date"); ok {
		n, _ := strconv.Atoi(seconds)
		text = time.Now().Add(time.Duration(n) * time.Second).UTC().Format(http.TimeFormat)
	}
	if text != "" {
		c.w.Header().Set("Retry-After", text)
	}
}

// answer tells what was done, or spoils the telling.
func (s *Server) answer(c *call, status int, r Record) {
	switch c.fault {
	case DropAfter:
		drop(c.w)
	case CloseReused:
		if reused(c.r) {
			drop(c.w)
			return
		}
		s.send(c, status, map[string]any{"invoice": r})
	case ErrorAfter:
		reply(c.w, http.StatusInternalServerError, refusal{Code: "internal", Reason: "something went wrong"})
	case UnavailableAfter:
		reply(c.w, http.StatusServiceUnavailable, refusal{Code: "unavailable"})
	case GatewayAfter:
		page(c.w, http.StatusGatewayTimeout, gateway)
	case PageAfter:
		page(c.w, http.StatusOK, backSoon)
	case EmptyAfter:
		c.w.WriteHeader(http.StatusOK)
	case ZeroID:
		r.ID = "00000000-0000-0000-0000-000000000000"
		s.send(c, status, map[string]any{"invoice": r})
	case EmptyID:
		r.ID = ""
		s.send(c, status, map[string]any{"invoice": r})
	case NullID:
		s.send(c, status, map[string]any{"invoice": map[string]any{"id": nil, "reference": r.Reference}})
	case NumericID:
		s.send(c, status, map[string]any{"invoice": map[string]any{"id": 4711, "reference": r.Reference}})
	default:
		s.send(c, status, map[string]any{"invoice": r})
	}
}

// send writes a right answer, as slowly or as strangely as the fault wants it.
func (s *Server) send(c *call, status int, v any) {
	w := c.w
	body, err := json.Marshal(v)
	if err != nil {
		reply(w, http.StatusInternalServerError, refusal{Code: "internal"})
		return
	}
	switch c.fault {
	case WrongType:
		w.Header().Set("Content-Type", "text/plain; charset=latin1")
		w.WriteHeader(status)
		w.Write(body) //nolint:errcheck,gosec // the client may be gone
	case Garbage:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write(body[:len(body)/2]) //nolint:errcheck,gosec // the client may be gone
	case Drip:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		c.drip(body)
	case Endless:
		w.WriteHeader(status)
		endless(c.r, w)
	case EndlessError:
		w.WriteHeader(http.StatusInternalServerError)
		endless(c.r, w)
	case HugeGzip:
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		packed := gzip.NewWriter(w)
		endless(c.r, packed)
	default:
		reply(w, status, v)
	}
}

func page(w http.ResponseWriter, status int, html string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write([]byte(html)) //nolint:errcheck,gosec // the client may be gone
}

// drop breaks the line without an answer.
func drop(w http.ResponseWriter) {
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

func (c *call) drip(body []byte) {
	body = append(body, []byte(strings.Repeat(" ", mostDripped))...)
	flush := http.NewResponseController(c.w)
	for i := range body {
		if _, err := c.w.Write(body[i : i+1]); err != nil || flush.Flush() != nil || c.r.Context().Err() != nil {
			return
		}
		wait(c.delay())
	}
}

func (c *call) dripHeaders() {
	h, ok := c.w.(http.Hijacker)
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
		wait(c.delay())
	}
}

const mostEndless = 4 << 30

func endless(r *http.Request, w interface{ Write([]byte) (int, error) }) {
	chunk := []byte(strings.Repeat(" ", 64<<10))
	for sent := 0; sent < mostEndless && r.Context().Err() == nil; sent += len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}
