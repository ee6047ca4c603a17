package trytontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// What is changed on the way to the real server, so that it really holds what was not asked for: the suite's total, and
// the customer with its address.
var rewritten = map[ledgertest.Fault][]string{
	"total_times_100": {`"decimal":"47.99"`, `"decimal":"4799.00"`},
	"total_plus_one":  {`"decimal":"47.99"`, `"decimal":"48.99"`},
	"other_customer":  {`"party":2`, `"party":3`, `"invoice_address":2`, `"invoice_address":3`},
}

// idless are answers to a create without a usable id; Tryton has made the invoice.
var idless = map[ledgertest.Fault]string{"zero_id": "[0]", "null_id": "[null]", "empty_id": "[]", "numeric_id": `["12"]`}

// somebodyElse's company has a name of the same length, so that the file of a database stays one.
const ours, somebodyElse = "Acme Books GmbH", "somebody-else's"

// Misbehave implements ledgertest.Fake: what Tryton does not do wrong by itself, something between it and the front does.
func (l *Live) Misbehave(kind work.Kind, f ledgertest.Fault) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f == ledgertest.NoFault {
		l.fault = nil
		return true
	}
	if !slices.Contains(own[kind], f) || f == "trim_reference" || f == "upper_reference" || f == ErrorInside {
		return false
	}
	if f == "other_books" && l.other == nil {
		l.other = l.copied(ours, somebodyElse)
	}
	l.fault = maps.Clone(l.fault)
	if l.fault == nil {
		l.fault = map[work.Kind]ledgertest.Fault{}
	}
	l.fault[kind] = f
	return true
}

// ServeHTTP implements ledgertest.Fake.
func (l *Live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	faults, other, h := l.fault, l.other, l.held
	_, _, write := r.BasicAuth() // a read comes with a session
	if write {
		l.held = nil
	}
	l.mu.Unlock()
	if write && h != nil {
		close(h.reached)
		<-h.release
	}
	for _, f := range faults {
		if f == "other_books" { // they are behind the same address
			r.URL.Path = "/" + other.Database + "/"
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		l.cut(r, body)
		return
	}
	method := methodOf(body)
	fault := faults[l.Classify(r, body).Kind]
	if answeredForIt(w, method, fault) {
		return
	}
	if method == createMethod {
		body = []byte(strings.NewReplacer(rewritten[fault]...).Replace(string(body)))
		r.ContentLength = int64(len(body))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	l.proxy.ServeHTTP(answer, r)
	if method == createMethod && answer.Code == http.StatusOK {
		if result := idless[fault]; result != "" {
			answer = httptest.NewRecorder()
			io.WriteString(answer, `{"id":1,"result":`+result+`}`) //nolint:errcheck,gosec // to memory
		}
		if fault == "voided" {
			l.cancel(answer.Body.Bytes())
		}
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes()) //nolint:errcheck,gosec // the client may be gone
}

// cut hands Tryton a part of a request and ends the line; it returns when Tryton is done with it. A proxy of net/http would
// keep the part back.
func (l *Live) cut(r *http.Request, part []byte) {
	conn, err := new(net.Dialer).DialContext(r.Context(), "tcp", strings.TrimPrefix(l.URL, "http://"))
	if err != nil {
		l.t.Error(err)
		return
	}
	defer conn.Close() //nolint:errcheck // it was cut
	_, err = fmt.Fprintf(conn, "POST /%s/ HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		l.Database, r.Header.Get("Authorization"), r.ContentLength, part)
	if tcp, ok := conn.(*net.TCPConn); err == nil && ok {
		err = tcp.CloseWrite()
	}
	if err != nil {
		l.t.Error(err)
	}
	io.Copy(io.Discard, conn) //nolint:errcheck,gosec // what it says is lost
}

// cancel cancels what was just created, as a person does.
func (l *Live) cancel(created []byte) {
	var v struct {
		Result []int `json:"result"`
	}
	if err := json.Unmarshal(created, &v); err != nil {
		l.t.Errorf("%v: %s", err, created)
		return
	}
	l.Ask("model.account.invoice.cancel", v.Result, map[string]any{"company": Company})
}

// answeredForIt gives the answers that Tryton gives only for reasons that the suite does not have.
func answeredForIt(w http.ResponseWriter, method string, fault ledgertest.Fault) bool {
	switch {
	case method == createMethod || method == postMethod:
		return (&Fake{fault: map[work.Kind]ledgertest.Fault{work.Send: fault}}).rejects(w)
	case method == searchMethod && (fault == "search_error" || fault == "search_empty"):
		(&Fake{fault: map[work.Kind]ledgertest.Fault{work.Find: fault}}).search(w, Call{})
		return true
	}
	return false
}
