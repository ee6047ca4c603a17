package quickbooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const (
	pageSize  = 25 // of 1000 that the vendor allows: a page must fit the bounds of an answer
	mostPages = 1000
	newest    = 25            // invoices looked through when no number matches and nothing more is known
	clocks    = 1 * time.Hour // how far the vendor's clock and ours may be apart
)

// Find implements ledger.System: it asks for all invoices with the number, to the last page, and reads each by its id. If
// there is none it looks for our reference in the private notes of the invoices made since the first send: the number may
// have been changed by a person, or given by QuickBooks. Notes cannot be searched.
//
// A deleted invoice is in no query and cannot be looked up by its number (vendor: change data capture shows only its id),
// so a miss means not there or deleted.
func (s *System) Find(ctx context.Context, q ledger.Query) ledger.Found {
	access, err := s.access(ctx)
	if err != nil {
		a := s.login.Refused(err)
		a.Exchange.Identity = s.company
		return ledger.Found{Deferred: true, Login: a.Login, Unreached: a.Unreached, Exchange: a.Exchange}
	}
	ids, found, ok := s.numbered(ctx, access, q.Reference)
	if ok && len(ids) == 0 {
		ids, found, ok = s.noted(ctx, access, q)
	}
	if !ok {
		return found
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		record, failed, ok := s.get(ctx, access, id, q.Reference)
		if !ok {
			failed.Records = found.Records
			return failed
		}
		found.Records = append(found.Records, record)
	}
	found.Searched = true
	return found
}

// numbered returns the ids of all invoices with the number.
func (s *System) numbered(ctx context.Context, access, number string) ([]string, ledger.Found, bool) {
	all := func(invoice) bool { return true }
	return s.pages(ctx, access, "where DocNumber = '"+escape(number)+"' ORDERBY Id", all)
}

// noted returns the ids of the invoices that carry our reference in their private note: of those made since the first send,
// for its customer, or, if nothing is known of a send, of the newest ones.
func (s *System) noted(ctx context.Context, access string, q ledger.Query) ([]string, ledger.Found, bool) {
	ours := func(v invoice) bool { return v.notes(q.Reference) }
	if q.Since.IsZero() {
		ids, _, f, ok := s.page(ctx, access, "ORDERBY MetaData.CreateTime DESC", 1, newest, ours)
		return ids, f, ok
	}
	where := "where MetaData.CreateTime >= '" + q.Since.Add(-clocks).UTC().Format("2006-01-02T15:04:05-07:00") + "'"
	if q.Customer != "" {
		where += " and CustomerRef = '" + escape(q.Customer) + "'"
	}
	return s.pages(ctx, access, where+" ORDERBY Id", ours)
}

// pages asks until a page is empty: one that is shorter than asked for may be the system's own limit.
func (s *System) pages(ctx context.Context, access, clause string, want func(invoice) bool) (ids []string, f ledger.Found, ok bool) {
	start := 1
	for range mostPages {
		wanted, n, f, ok := s.page(ctx, access, clause, start, pageSize, want)
		if !ok || n == 0 {
			return ids, f, ok
		}
		ids = append(ids, wanted...)
		start += n
	}
	f.Exchange = work.Exchange{Identity: s.company, Error: "the search does not come to an end, could not check"}
	return nil, f, false
}

// page returns the ids of the wanted ones among n invoices; ok is false if the search was not provably carried out.
func (s *System) page(ctx context.Context, access, clause string, start, size int, want func(invoice) bool) (ids []string, n int, f ledger.Found, ok bool) {
	text := fmt.Sprintf("select * from Invoice %s STARTPOSITION %d MAXRESULTS %d", clause, start, size)
	reply := s.http.Read(ctx, s.call(http.MethodGet, "/query", access, url.Values{"query": {text}}))
	f, said, ok := s.judged(reply, access)
	if !ok {
		return nil, 0, f, false
	}
	result := said.Query
	switch {
	case reply.Status != http.StatusOK || result == nil:
		f.Exchange.Error = "the accounting system did not carry out the search, could not check"
		return nil, 0, f, false
	case result.Start != 0 && result.Start != start, result.Count != nil && *result.Count != len(result.Invoices):
		f.Exchange.Error = "the accounting system answered with another page than was asked for, could not check"
		return nil, 0, f, false
	}
	for _, v := range result.Invoices {
		if !ledger.UsableID(v.id()) {
			f.Exchange.Error = "the search shows a record without a usable id, could not check"
			return nil, 0, f, false
		}
		if want(v) {
			ids = append(ids, v.id())
		}
	}
	return ids, len(result.Invoices), f, true
}

// get reads one invoice by its id: a query may show it as it was.
func (s *System) get(ctx context.Context, access, id, reference string) (r work.Record, f ledger.Found, ok bool) {
	reply := s.http.Read(ctx, s.call(http.MethodGet, "/invoice/"+url.PathEscape(id), access, nil))
	f, said, ok := s.judged(reply, access)
	if fault, spoken := said.fault(reply); spoken && fault.has([]string{"610"}) && !f.Deferred {
		return work.Record{ID: id, Reference: reference, State: work.StateVoid}, f, true // in the query, but deleted
	}
	if !ok {
		return r, f, false
	}
	if reply.Status != http.StatusOK || said.Invoice == nil || said.Invoice.id() != id {
		f.Exchange.Error = "the accounting system answered about another record, could not check"
		return r, f, false
	}
	if said.Invoice.CurrencyRef.Value == "" && s.home.Load() == nil {
		if _, err := s.preferences(ctx, access); err != nil {
			f.Exchange.Error = err.Error() + ", could not check"
			return r, f, false
		}
	}
	return s.record(*said.Invoice, ""), f, true
}

// judged reads an answer to a lookup; ok is false if it is none.
func (s *System) judged(reply ledger.Reply, access string) (f ledger.Found, said response, ok bool) {
	reply.Exchange.Identity = s.company
	if reply.Status == http.StatusUnauthorized {
		s.login.Forget(access)
	}
	f, done := reply.Read()
	if done {
		if f.Deferred && !f.Login && f.RetryAfter == 0 {
			f.RetryAfter = throttled
		}
		return f, said, false
	}
	err := reply.Object(&said)
	fault, spoken := said.fault(reply)
	switch {
	case spoken && fault.has(codesWait):
		f.Deferred, f.RetryAfter = true, throttled
	case spoken && fault.has(codesLogin):
		f.Deferred, f.Login = true, true
		f.Exchange.Error = "the accounting system refused our login: " + fault.reason()
	case spoken:
		f.Exchange.Error = "the accounting system refused the search: " + fault.reason()
	case err != nil:
		f.Exchange.Error = err.Error() + ", could not check"
	case reply.Status >= 400:
		f.Exchange.Error = fmt.Sprintf("the accounting system refused the search (%d), could not check", reply.Status)
	default:
		return f, said, true
	}
	return f, said, false
}

// escape makes text safe inside the quotes of a query (vendor: a backslash before an apostrophe).
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text)
}

// Identity implements ledger.System: the company id, once the company has answered under it. It refuses a company that
// numbers invoices by itself: our reference would not become the number, and no lookup would find it.
func (s *System) Identity(ctx context.Context) (string, error) {
	access, err := s.access(ctx)
	if err != nil {
		return "", err
	}
	var said struct {
		Company *struct{} `json:"CompanyInfo"`
	}
	if err := s.object(ctx, access, "/companyinfo/"+s.company, &said); err != nil {
		return "", err
	}
	if said.Company == nil {
		return "", errors.New("the accounting system did not tell whose books it keeps")
	}
	numbers, err := s.preferences(ctx, access)
	if err != nil {
		return "", err
	}
	if !numbers {
		return "", errors.New("QuickBooks gives invoices its own numbers: turn on Custom transaction numbers under Account and settings, Sales, Sales form content")
	}
	return s.company, nil
}

// preferences reports whether invoices keep the number that we give them, and keeps the home currency.
func (s *System) preferences(ctx context.Context, access string) (numbers bool, err error) {
	var said struct {
		Preferences *struct {
			Sales struct {
				Numbers bool `json:"CustomTxnNumbers"`
			} `json:"SalesFormsPrefs"`
			Currency struct {
				Home struct {
					Value string `json:"value"`
				} `json:"HomeCurrency"`
			} `json:"CurrencyPrefs"`
		} `json:"Preferences"`
	}
	if err := s.object(ctx, access, "/preferences", &said); err != nil {
		return false, err
	}
	if said.Preferences == nil {
		return false, errors.New("the accounting system did not tell its settings")
	}
	if home := said.Preferences.Currency.Home.Value; home != "" {
		s.home.Store(&home)
	}
	return said.Preferences.Sales.Numbers, nil
}

// object reads what is no invoice.
func (s *System) object(ctx context.Context, access, path string, v any) error {
	reply := s.http.Read(ctx, s.call(http.MethodGet, path, access, nil))
	f, _, ok := s.judged(reply, access)
	if !ok {
		return errors.New(orText(f.Exchange.Error, "the accounting system asks us to wait"))
	}
	return reply.Object(v)
}
