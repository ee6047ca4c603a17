package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"onefold/internal/ledger/misbehave"
)

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
		misbehave.Drop(w)
	case ErrorBefore:
		reply(w, http.StatusInternalServerError, refusal{Code: "internal", Reason: "something went wrong"})
	case Unavailable:
		c.retryAfter()
		reply(w, http.StatusServiceUnavailable, refusal{Code: "unavailable", Reason: "try again later"})
	case GatewayPage:
		misbehave.Page(w, http.StatusBadGateway, misbehave.Gateway)
	case RateLimit:
		c.retryAfter()
		reply(w, http.StatusTooManyRequests, refusal{Code: "rate_limit", Reason: "too many requests"})
	case Login:
		reply(w, http.StatusUnauthorized, refusal{Code: "login", Reason: "the login has ended"})
	case PageBefore:
		misbehave.Page(w, http.StatusOK, misbehave.BackSoon)
	case EmptyBefore:
		w.WriteHeader(http.StatusOK)
	case Redirect301, Redirect302, Redirect303, Redirect307, Redirect308:
		code, _ := strconv.Atoi(strings.TrimPrefix(string(c.fault), "redirect_"))
		w.Header().Set("Location", "/"+c.b.Name+"/moved"+c.r.URL.Path+"?token=not-to-be-shown")
		w.WriteHeader(code)
	case DripHeaders:
		misbehave.DripHeaders(w, c.delay())
	case ListAnswer:
		reply(w, http.StatusOK, map[string]any{"invoice": strangers(50)})
	case Reject, RejectFinal:
		reply(w, http.StatusUnprocessableEntity, refusal{Code: "refused", Reason: c.reason(), Final: c.fault == RejectFinal})
	case RejectXML:
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "<?xml version=\"1.0\"?><error>%s</error>", c.reason()) //nolint:errcheck // the client may be gone
	case RejectPage:
		misbehave.Page(w, http.StatusBadRequest, misbehave.Blocked)
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

func (c *call) retryAfter() { misbehave.RetryAfter(c.w, c.rule.RetryAfter) }

// answer tells what was done, or spoils the telling.
func (s *Server) answer(c *call, status int, r Record) {
	switch c.fault {
	case DropAfter:
		misbehave.Drop(c.w)
	case CloseReused:
		if misbehave.Reused(c.r) {
			misbehave.Drop(c.w)
			return
		}
		s.send(c, status, map[string]any{"invoice": r})
	case ErrorAfter:
		reply(c.w, http.StatusInternalServerError, refusal{Code: "internal", Reason: "something went wrong"})
	case UnavailableAfter:
		reply(c.w, http.StatusServiceUnavailable, refusal{Code: "unavailable"})
	case GatewayAfter:
		misbehave.Page(c.w, http.StatusGatewayTimeout, misbehave.Gateway)
	case PageAfter:
		misbehave.Page(c.w, http.StatusOK, misbehave.BackSoon)
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
		misbehave.Drip(w, c.r, body, c.delay())
	case Endless:
		w.WriteHeader(status)
		misbehave.Endless(c.r, w)
	case EndlessError:
		w.WriteHeader(http.StatusInternalServerError)
		misbehave.Endless(c.r, w)
	case HugeGzip:
		misbehave.HugeGzip(w, c.r, status)
	default:
		reply(w, status, v)
	}
}
