package ledger

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
)

// sentence says in finance's words why the reply is no usable answer; empty if it may be one.
func (r Reply) sentence() string {
	unknown := ", outcome unknown"
	if r.read {
		unknown = ", could not check"
	}
	switch {
	case r.Err != nil && r.late && !r.HandedOver:
		return "not sent in time, nothing was sent"
	case r.Err != nil && !r.HandedOver:
		return "the accounting system could not be reached" + cause(r.Err) + ", nothing was sent"
	case r.Err != nil && r.late:
		return "the time to send ended half way" + unknown
	case r.Err != nil && timedOut(r.Err):
		return "the accounting system did not answer in time" + unknown
	case r.Err != nil && r.Status != 0:
		return "the accounting system's answer broke off" + unknown
	case r.Err != nil && r.read:
		return "the accounting system could not be reached" + cause(r.Err) + unknown
	case r.Err != nil:
		return "the connection broke before an answer came" + unknown
	case r.Redirect() && r.Location != "":
		return "the address redirects to " + r.Location + unknown
	case r.Redirect():
		return fmt.Sprintf("the accounting system answered with a redirect to nowhere (%d)%s", r.Status, unknown)
	case r.Status == http.StatusTooManyRequests:
		return "the accounting system asks us to wait (429)"
	case r.Status == http.StatusUnauthorized:
		return "the accounting system refused our login (401)"
	case r.Status == http.StatusBadGateway, r.Status == http.StatusServiceUnavailable, r.Status == http.StatusGatewayTimeout:
		return fmt.Sprintf("the accounting system is unreachable (%d)%s", r.Status, unknown)
	case r.Status >= 500:
		return fmt.Sprintf("the accounting system reported an internal error (%d)%s", r.Status, unknown)
	case r.HTML():
		return "the accounting system answered with a web page" + unknown
	case r.Cut:
		return "the accounting system's answer was too large" + unknown
	case r.Status < 200 || r.Status == http.StatusRequestTimeout:
		return fmt.Sprintf("the accounting system gave no answer (%d)%s", r.Status, unknown)
	}
	return ""
}

func timedOut(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || (errors.As(err, &n) && n.Timeout())
}

// cause names the usual reasons; anything else stays out of a sentence for staff.
func cause(err error) string {
	var name *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return " (connection refused)"
	case errors.As(err, &name):
		return " (its name is not known)"
	case timedOut(err):
		return " (no connection in time)"
	}
	return ""
}
