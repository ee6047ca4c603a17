package ledgertest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"onefold/internal/ledger/misbehave"
)

// lineFaults are what Front can do by itself.
var lineFaults = map[Fault]bool{
	"drop_before": true, "drop_after": true, "commit_late": true, "error_before": true, "error_after": true, "unavailable": true,
	"unavailable_after": true, "gateway_page": true, "gateway_after": true, "login": true, "page_before": true, "page_after": true,
	"empty_before": true, "empty_after": true, "wrong_type": true, "garbage": true, "redirect_301": true, "redirect_302": true,
	"redirect_303": true, "redirect_307": true, "redirect_308": true, "drip": true, "drip_headers": true, "endless": true,
	"endless_error": true, "huge_gzip": true, "close_reused": true, "list_answer": true, "reject_xml": true, "reject_bare": true,
	"reject_page": true, "search_forbidden": true, "cut_request": true, "cut_answer": true, "answer_late": true,
}

const drippedEach = 5 * time.Millisecond

// before carries out the faults that come before any effect. It reports whether the request is over.
func before(w http.ResponseWriter, r *http.Request, fault Fault) bool {
	if wait, ok := strings.CutPrefix(string(fault), "wait:"); ok {
		misbehave.RetryAfter(w, wait)
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	if code, ok := strings.CutPrefix(string(fault), "redirect_"); ok {
		status, _ := strconv.Atoi(code)
		w.Header().Set("Location", moved+"?token=not-to-be-shown")
		w.WriteHeader(status)
		return true
	}
	switch fault {
	case "drop_before":
		misbehave.Drop(w)
	case "error_before":
		w.WriteHeader(http.StatusInternalServerError)
	case "unavailable":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "gateway_page":
		misbehave.Page(w, http.StatusBadGateway, misbehave.Gateway)
	case "login":
		w.WriteHeader(http.StatusUnauthorized)
	case "page_before":
		misbehave.Page(w, http.StatusOK, misbehave.BackSoon)
	case "empty_before":
		w.WriteHeader(http.StatusOK)
	case "drip_headers":
		misbehave.DripHeaders(w, drippedEach)
	case "list_answer":
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`[{"id":"of-somebody-else"},{"id":"of-another"}]`)) //nolint:errcheck,gosec // the client may be gone
	case "reject_xml":
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusBadRequest)
		w.Write([]byte(`<?xml version="1.0"?><error>the customer is blocked</error>`)) //nolint:errcheck,gosec // the client may be gone
	case "reject_bare":
		w.Header()["Content-Type"] = nil
		w.WriteHeader(http.StatusBadRequest)
	case "reject_page":
		misbehave.Page(w, http.StatusBadRequest, misbehave.Blocked)
	case "search_forbidden":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		w.Write([]byte(`{}`)) //nolint:errcheck,gosec // the client may be gone
	default:
		return false
	}
	return true
}

// hungUp returns when the client has.
func hungUp(r *http.Request) {
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
	case <-timer.C:
	}
}

// after tells what was done, or spoils the telling.
func after(w http.ResponseWriter, r *http.Request, fault Fault, answer *httptest.ResponseRecorder) {
	body := answer.Body.Bytes()
	switch fault {
	case "drop_after":
		misbehave.Drop(w)
		return
	case "answer_late":
		hungUp(r)
		misbehave.Drop(w)
		return
	case "close_reused":
		if misbehave.Reused(r) {
			misbehave.Drop(w)
			return
		}
	case "error_after":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case "unavailable_after":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case "gateway_after":
		misbehave.Page(w, http.StatusGatewayTimeout, misbehave.Gateway)
		return
	case "page_after":
		misbehave.Page(w, http.StatusOK, misbehave.BackSoon)
		return
	case "empty_after":
		w.WriteHeader(http.StatusOK)
		return
	case "endless":
		w.WriteHeader(answer.Code)
		misbehave.Endless(r, w)
		return
	case "endless_error":
		w.WriteHeader(http.StatusInternalServerError)
		misbehave.Endless(r, w)
		return
	case "huge_gzip":
		misbehave.HugeGzip(w, r, answer.Code)
		return
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	switch fault {
	case "wrong_type":
		w.Header().Set("Content-Type", "text/plain; charset=latin1")
	case "garbage":
		w.Header().Del("Content-Length") // else the line would be cut, too
		body = body[:len(body)/2]
	case "cut_answer":
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		body = body[:len(body)/2]
	case "drip":
		w.Header().Del("Content-Length") // it is followed by blanks
		w.WriteHeader(answer.Code)
		misbehave.Drip(w, r, body, drippedEach)
		return
	}
	w.WriteHeader(answer.Code)
	w.Write(body) //nolint:errcheck,gosec // the client may be gone
}
