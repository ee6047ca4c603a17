package trytontest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"onefold/internal/work"
)

const (
	freshFor    = 300 * time.Second // a session that idles longer may not post
	mistypedFor = 5                 // passwords, then the user is locked for a while
)

// ServeHTTP implements ledgertest.Fake.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method != http.MethodPost || r.URL.Path != "/"+Database+"/" {
		page(w, http.StatusNotFound)
		return
	}
	var members map[string]json.RawMessage
	var call Call
	if json.Unmarshal(body, &members) != nil || json.Unmarshal(members["method"], &call.Method) != nil ||
		json.Unmarshal(members["params"], &call.Params) != nil || members["id"] == nil || len(members) != 3 ||
		!strings.Contains(r.Header.Get("Content-Type"), "json") {
		page(w, http.StatusInternalServerError)
		return
	}
	call.Header = r.Header.Clone()
	_, _, call.Basic = r.BasicAuth()
	f.calls = append(f.calls, call)
	if call.Method == "common.db.login" {
		f.login(w, call.Params)
		return
	}
	session, ok := f.authorized(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="Tryton"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if call.Method == postMethod && session != "" && f.now.Sub(f.sessions[session]) >= freshFor {
		delete(f.sessions, session)
		page(w, http.StatusUnauthorized)
		return
	}
	if session != "" && f.now.Sub(f.sessions[session]) < freshFor { // an idle session does not become fresh again
		f.sessions[session] = f.now
	}
	f.dispatch(w, call)
}

func (f *Fake) login(w http.ResponseWriter, params []json.RawMessage) {
	var user string
	var with struct {
		Password string `json:"password"`
	}
	if len(params) == 2 {
		_ = json.Unmarshal(params[0], &user)
		_ = json.Unmarshal(params[1], &with)
	}
	switch {
	case f.mistyped > mistypedFor:
		page(w, http.StatusTooManyRequests)
	case user != User || with.Password != Password:
		f.mistyped++
		page(w, http.StatusUnauthorized)
	default:
		f.mistyped = 0
		key := fmt.Sprintf("%064d", len(f.calls))
		f.sessions[key] = f.now
		answer(w, "result", []any{2, key})
	}
}

// authorized returns the session; empty for a password.
func (f *Fake) authorized(r *http.Request) (session string, ok bool) {
	if user, password, basic := r.BasicAuth(); basic {
		return "", user == User && password == Password
	}
	code, isSession := strings.CutPrefix(r.Header.Get("Authorization"), "Session ")
	text, err := base64.StdEncoding.DecodeString(code)
	parts := strings.Split(string(text), ":")
	if !isSession || err != nil || len(parts) != 3 || parts[0] != User || parts[1] != "2" {
		return "", false
	}
	_, known := f.sessions[parts[2]]
	return parts[2], known
}

func (f *Fake) dispatch(w http.ResponseWriter, call Call) {
	switch call.Method {
	case "model.res.user.get_preferences":
		v := map[string]any{"company": f.company(), "company.rec_name": "Acme Books GmbH", "company_filter": "one", "language": "en", "groups": []int{6}}
		if f.company() != Company {
			v["company"], v["company.rec_name"] = Company, "Books of somebody-else" // another database behind the address
		}
		if f.stranger {
			v["company"], v["company.rec_name"] = 7, "Another Company"
		}
		answer(w, "result", v)
	case "model.party.party.search_read":
		f.lookUp(w, call, map[string]int{Customer: 2, Other: 3, Homeless: 4})
	case "model.currency.currency.search_read":
		f.lookUp(w, call, map[string]int{"EUR": 1, "USD": 2})
	case "model.account.account.search_read":
		f.lookUp(w, call, map[string]int{Revenue: 6})
	case "model.account.tax.search_read":
		f.lookUp(w, call, map[string]int{Tax: 1})
	case "model.account.invoice.on_change":
		f.onChange(w, call)
	case "model.account.invoice.on_change_with":
		answer(w, "result", map[string]any{"account": 5})
	case searchMethod:
		f.search(w, call)
	case createMethod:
		f.create(w, call)
	case postMethod:
		f.post(w, call)
	case "model.account.invoice.delete":
		f.delete(w, call)
	default:
		page(w, http.StatusForbidden)
	}
}

// lookUp answers the search for one record by its code.
func (f *Fake) lookUp(w http.ResponseWriter, call Call, ids map[string]int) {
	var where [][]any
	rows := []any{}
	if len(call.Params) == 6 && json.Unmarshal(call.Params[0], &where) == nil && len(where) > 0 && len(where[0]) == 3 {
		if code, ok := where[0][2].(string); ok && ids[code] > 0 {
			rows = append(rows, map[string]any{"id": ids[code], "rec_name": code})
		}
	}
	answer(w, "result", rows)
}

func (f *Fake) search(w http.ResponseWriter, call Call) {
	switch f.fault[work.Find] {
	case "search_error":
		answer(w, "error", userError(`You are not allowed to read records of "Invoice".`))
		return
	case "search_empty":
		answer(w, "result", []any{})
		return
	}
	var where any
	if len(call.Params) != 6 || json.Unmarshal(call.Params[0], &where) != nil {
		answer(w, "error", []any{"not enough values to unpack", ""})
		return
	}
	rows := []any{}
	for _, r := range f.books {
		if r.Company != f.company() || f.stranger || !matches(where, map[string]any{"id": float64(r.ID), "reference": r.Reference,
			"company": float64(Company), "type": "out", "changed": r.Reference != r.Asked}) {
			continue
		}
		rows = append(rows, map[string]any{"id": r.ID, "number": r.Number, "reference": r.Reference, "state": r.State,
			"total_amount": map[string]string{"__class__": "Decimal", "decimal": r.Total.String()},
			"party.":       map[string]any{"id": 2, "code": r.Party}, "currency.": map[string]any{"id": 1, "code": r.Currency}})
	}
	answer(w, "result", rows)
}

// matches carries out a domain with = and OR. References are compared to the letter; where a Tryton trims them or turns
// them into capitals, it does so with what is searched for, too.
func matches(domain any, row map[string]any) bool {
	parts, _ := domain.([]any)
	if len(parts) == 3 {
		if name, ok := parts[0].(string); ok && name != "OR" {
			value := parts[2]
			if text, ok := value.(string); ok && name == "reference" {
				held, _ := row[name].(string)
				changed, _ := row["changed"].(bool)
				return held == text || changed && (held == trimmed(text) || held == strings.ToUpper(text))
			}
			return parts[1] == "=" && row[name] == value
		}
	}
	if len(parts) > 0 && parts[0] == "OR" {
		for _, part := range parts[1:] {
			if matches(part, row) {
				return true
			}
		}
		return false
	}
	for _, part := range parts {
		if !matches(part, row) {
			return false
		}
	}
	return true
}
