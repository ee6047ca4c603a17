package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"onefold/internal/work"
)

// Reply is what came back from one call.
type Reply struct {
	Status     int // 0: no answer
	Header     http.Header
	Body       []byte // unpacked, at most Config.MaxBody
	Cut        bool   // the body was longer than Config.MaxBody
	Location   string // where a redirect points, without its query
	HandedOver bool   // a byte of the request may have left this process
	Err        error  // the call or the reading of its answer failed
	Exchange   work.Exchange

	read bool
	late bool // send-by passed
	now  func() time.Time
}

// HTML reports whether the answer is a web page, whatever its content type says.
func (r Reply) HTML() bool {
	if strings.Contains(strings.ToLower(r.Header.Get("Content-Type")), "html") {
		return true
	}
	head := bytes.ToLower(bytes.TrimSpace(r.Body[:min(len(r.Body), 512)]))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// Redirect reports whether the answer points elsewhere. It is never followed.
func (r Reply) Redirect() bool { return r.Status >= 300 && r.Status < 400 }

// Errors of Reply.Object.
var (
	ErrEmpty = errors.New("the accounting system answered with nothing")
	ErrPage  = errors.New("the accounting system answered with a web page")
	ErrList  = errors.New("the accounting system answered with a list instead of one record")
	ErrCut   = errors.New("the accounting system's answer was too large")
	ErrJSON  = errors.New("the accounting system's answer could not be read")
)

// Object decodes the body into v. The content type is not looked at: the meaning counts, not the form.
func (r Reply) Object(v any) error {
	body := bytes.TrimSpace(bytes.TrimPrefix(r.Body, []byte("\xef\xbb\xbf")))
	switch {
	case r.Cut:
		return ErrCut
	case len(body) == 0:
		return ErrEmpty
	case r.HTML():
		return ErrPage
	case body[0] == '[':
		return ErrList
	case json.Unmarshal(body, v) != nil:
		return ErrJSON
	}
	return nil
}

// RetryAfter is the wait that the answer asks for; 0 if it asks for none.
func (r Reply) RetryAfter() time.Duration {
	if r.now == nil {
		return RetryAfter(r.Header, time.Now())
	}
	return RetryAfter(r.Header, r.now())
}

// Write judges what is the same for every accounting system. If ok is false the answer is the system's own (2xx or 4xx
// that is no web page) and the adapter must read it; the answer returned then holds the Exchange and is Unknown.
func (r Reply) Write() (a work.Answer, ok bool) {
	a = work.Answer{Outcome: work.Unknown, Exchange: r.Exchange}
	switch {
	case r.Err != nil && !r.HandedOver:
		a.Outcome = work.NotSent
		a.Unreached = !r.late
	case r.Err != nil:
	case r.Status == http.StatusTooManyRequests:
		a.Outcome = work.Deferred
		a.RetryAfter = r.RetryAfter()
	case r.Status == http.StatusUnauthorized:
		a.Outcome = work.Deferred
		a.Login = true
	case r.Status >= 500:
		a.Unreached = true
		a.RetryAfter = r.RetryAfter()
	case r.Status < 200 || r.Redirect() || r.Status == http.StatusRequestTimeout || r.HTML():
	default:
		return a, false
	}
	return a, true
}

// Read is Write for lookups. If ok is false the adapter must read the answer.
func (r Reply) Read() (f Found, ok bool) {
	f = Found{Exchange: r.Exchange}
	switch {
	case r.Err != nil:
		f.Unreached = true
	case r.Status == http.StatusTooManyRequests, r.Status == http.StatusServiceUnavailable && r.RetryAfter() > 0:
		f.Deferred = true
		f.RetryAfter = r.RetryAfter()
		f.Unreached = r.Status >= 500
	case r.Status == http.StatusUnauthorized:
		f.Deferred = true
		f.Login = true
	case r.Status >= 500:
		f.Unreached = true
	case r.Status < 200 || r.Redirect() || r.Status == http.StatusRequestTimeout || r.HTML() || r.Cut:
	default:
		return f, false
	}
	return f, true
}
