package quickbookstest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// ServeHTTP implements ledgertest.Fake.
func (c *Company) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Method == http.MethodPost && r.URL.Path == "/oauth2/v1/tokens/bearer" {
		c.renew(w, r)
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/v3/company/"+Realm)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+access(c.login) || c.revoked:
		tell(w, 401, `{"fault":{"error":[{"message":"message=AuthenticationFailed; errorCode=003200; statusCode=401","detail":"Token expired","code":"3200"}],"type":"AUTHENTICATION"}}`)
		return
	case !ok:
		tell(w, 403, noAccess)
		return
	}
	c.Queries = append(c.Queries, r.URL.Query())
	id, byID := strings.CutPrefix(path, "/invoice/")
	switch {
	case path == "/companyinfo/"+Realm:
		tell(w, 200, `{"CompanyInfo":{"CompanyName":"Acme","Country":"DE","Id":"1"},"time":"2026-11-30T01:00:00-08:00"}`)
	case path == "/preferences":
		tell(w, 200, fmt.Sprintf(`{"Preferences":{"SalesFormsPrefs":{"CustomTxnNumbers":%t},"CurrencyPrefs":{"MultiCurrencyEnabled":true,"HomeCurrency":{"value":%q}},"Id":"1"}}`, !c.o.OwnNumbers, Home))
	case path == "/query":
		c.query(w, r.URL.Query().Get("query"))
	case byID:
		c.get(w, id)
	case path == "/invoice" && r.URL.Query().Get("operation") == "void":
		c.void(w, r)
	case path == "/invoice":
		c.create(w, r)
	default:
		tell(w, 404, fault("ValidationFault", "500", "Unsupported Operation", "unsupported"))
	}
}

const noAccess = `{"fault":{"error":[{"message":"message=ApplicationAuthorizationFailed; errorCode=003100; statusCode=403","detail":null,"code":"3100"}],"type":"SERVICE"}}`

// renew rotates the refresh token; one that is spent ends the login.
func (c *Company) renew(w http.ResponseWriter, r *http.Request) {
	c.Renewals++
	if c.o.LoginDown {
		tell(w, 503, `{"error":"temporarily_unavailable"}`)
		return
	}
	if id, secret, ok := r.BasicAuth(); !ok || id != "app" || secret != ledgertest.Secret {
		tell(w, 401, `{"error":"invalid_client"}`)
		return
	}
	if c.revoked || r.FormValue("refresh_token") != refresh(c.login) {
		c.revoked = true
		tell(w, 400, `{"error":"invalid_grant","error_description":"Incorrect or invalid refresh token"}`)
		return
	}
	c.login++
	tell(w, 200, fmt.Sprintf(`{"token_type":"bearer","expires_in":3600,"refresh_token":%q,"x_refresh_token_expires_in":8726400,"access_token":%q}`, refresh(c.login), access(c.login)))
}

func tell(w http.ResponseWriter, status int, body string) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	}
	w.WriteHeader(status)
	io.WriteString(w, body) //nolint:errcheck // the client may be gone
}

func fault(kind, code, message, detail string) string {
	said, _ := json.Marshal(map[string]any{"Fault": map[string]any{"type": kind,
		"Error": []map[string]string{{"Message": message, "Detail": detail, "code": code, "element": ""}}}, "time": "2026-11-30T01:00:00.000-08:00"})
	return string(said)
}

var (
	where  = regexp.MustCompile(`(DocNumber|CustomerRef) = '((?:[^'\\]|\\.)*)'`)
	since  = regexp.MustCompile(`MetaData\.CreateTime >= '([^']*)'`)
	paging = regexp.MustCompile(` STARTPOSITION (\d+) MAXRESULTS (\d+)$`)
	text   = regexp.MustCompile(`'(?:[^'\\]|\\.)*'`)
)

// query understands the clauses that the adapter may use. Whether the vendor compares numbers to the letter is not
// published: here case and outer blanks do not count.
func (c *Company) query(w http.ResponseWriter, q string) {
	page := paging.FindStringSubmatch(q)
	rest, ours := strings.CutPrefix(q, "select * from Invoice ")
	if page == nil || !ours || strings.Contains(text.ReplaceAllString(q, ""), "'") {
		tell(w, 400, fault("ValidationFault", "4000", "Error parsing query", "QueryParserError: Encountered a token that is not expected"))
		return
	}
	start, _ := strconv.Atoi(page[1])
	most, _ := strconv.Atoi(page[2])
	switch f := c.faults[work.Find]; {
	case f == "no_access":
		tell(w, 403, noAccess)
		return
	case f == "search_error":
		tell(w, 200, fault("SystemFault", "10000", "An application error has occurred", "try later"))
		return
	case f == "search_empty":
		tell(w, 200, `{"QueryResponse":{},"time":"2026-11-30T01:00:00-08:00"}`)
		return
	case f == "search_broken_page" && start > 1:
		tell(w, 500, fault("SystemFault", "10000", "An application error has occurred", ""))
		return
	}
	var hits []*Invoice
	for _, v := range c.invoices {
		if (!v.Deleted || v.StillShown) && !c.now().Before(v.Made.Add(c.o.SearchLag)) && matches(v, rest) {
			hits = append(hits, v)
		}
	}
	if strings.Contains(rest, "ORDERBY MetaData.CreateTime DESC") {
		sort.SliceStable(hits, func(i, j int) bool { return hits[i].Made.After(hits[j].Made) })
	}
	hits = hits[min(start-1, len(hits)):]
	hits = hits[:min(most, c.o.PageSize, len(hits))]
	if len(hits) == 0 {
		tell(w, 200, `{"QueryResponse":{},"time":"2026-11-30T01:00:00-08:00"}`)
		return
	}
	var list []any
	for _, v := range hits {
		list = append(list, c.shown(v))
	}
	if c.faults[work.Find] == "other_page" {
		start++
	}
	said, _ := json.Marshal(map[string]any{"QueryResponse": map[string]any{"Invoice": list, "startPosition": start, "maxResults": len(list)}})
	tell(w, 200, string(said))
}

func matches(v *Invoice, clause string) bool {
	for _, m := range where.FindAllStringSubmatch(clause, -1) {
		asked, has := strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(m[2]), v.Number
		if m[1] == "CustomerRef" {
			has = v.Customer
		}
		if !strings.EqualFold(strings.TrimSpace(asked), strings.TrimSpace(has)) {
			return false
		}
	}
	if m := since.FindStringSubmatch(clause); m != nil {
		from, err := time.Parse(time.RFC3339, m[1])
		return err == nil && !v.Made.Before(from)
	}
	return true
}

func (c *Company) get(w http.ResponseWriter, id string) {
	for _, v := range c.invoices {
		if v.ID == id && !v.Deleted {
			said, _ := json.Marshal(map[string]any{"Invoice": c.shown(v)})
			tell(w, 200, string(said))
			return
		}
	}
	tell(w, 400, fault("ValidationFault", "610", "Object Not Found", "Object Not Found : Something you're trying to use has been made inactive."))
}

func (c *Company) void(w http.ResponseWriter, r *http.Request) {
	var asked struct{ ID, SyncToken string }
	if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.SyncToken != "0" {
		tell(w, 400, fault("ValidationFault", "5010", "Stale Object Error", ""))
		return
	}
	for _, v := range c.invoices {
		if v.ID == asked.ID && !v.Deleted {
			v.Void = true
		}
	}
	c.get(w, asked.ID)
}

// shown is an invoice as the API tells it.
func (c *Company) shown(v *Invoice) map[string]any {
	total, note := json.Number(v.Total), v.Note
	if v.Void {
		total, note = "0", "Voided\n"+note
	}
	out := map[string]any{"Id": v.ID, "SyncToken": "0", "domain": "QBO", "DocNumber": v.Number, "CustomerRef": map[string]string{"value": v.Customer, "name": "Acme"},
		"TotalAmt": total, "Balance": total, "PrivateNote": note, "MetaData": map[string]string{"CreateTime": v.Made.Format(time.RFC3339)}}
	if !c.o.OneCurrency {
		out["CurrencyRef"] = map[string]string{"value": v.Currency, "name": v.Currency}
	}
	return out
}
