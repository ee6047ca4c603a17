package erpnexttest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"onefold/internal/ledger/ledgertest"
)

// invoice is a Sales Invoice.
type invoice struct {
	name      string
	fields    map[string]string // po_no, the custom field if there is one, customer, company, currency, posting_date, due_date
	total     string
	docstatus int
	isReturn  bool
	since     time.Time

	asked   string // the reference as asked for
	submits int
	other   bool // on another site that answers under the same address
	gone    bool // deleted
}

var digits = map[string]int{"EUR": 2, "USD": 2, "JPY": 0, "KWD": 3}

func (s *Site) snapshot() []*invoice {
	var list []*invoice
	for _, v := range s.invoices {
		held := *v
		list = append(list, &held)
	}
	return list
}

func (s *Site) refField() string {
	if s.opts.Unique {
		return Field
	}
	return "po_no"
}

// fold is how MariaDB compares text: without regard to case and trailing blanks.
func fold(text string) string { return strings.ToLower(strings.TrimRight(text, " ")) }

// insert makes a draft, or with docstatus 1 a submitted invoice. Fields that the site does not know are dropped.
func (s *Site) insert(body []byte, f ledgertest.Fault) (any, *exception) {
	var v struct {
		DocStatus   int    `json:"docstatus"`
		SetTime     int    `json:"set_posting_time"`
		IgnoreRule  int    `json:"ignore_pricing_rule"`
		IgnoreTerms int    `json:"ignore_default_payment_terms_template"`
		Taxes       string `json:"taxes_and_charges"`
		Items       []struct {
			Item string      `json:"item_code"`
			Qty  json.Number `json:"qty"`
			Rate json.Number `json:"rate"`
		} `json:"items"`
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &v) != nil || json.Unmarshal(body, &all) != nil {
		return nil, &exception{"TypeError", "'str' object has no attribute 'get'", http.StatusInternalServerError}
	}
	doc := &invoice{name: fmt.Sprintf("ACC-SINV-2026-%05d", len(s.invoices)+1), fields: map[string]string{}, since: s.opts.Now().Add(s.ahead)}
	known := []string{"po_no", "customer", "company", "currency", "posting_date", "due_date", "remarks"}
	if s.opts.Unique {
		known = append(known, Field)
	}
	for _, name := range known {
		var text string
		_ = json.Unmarshal(all[name], &text) // none
		doc.fields[name] = text
	}
	ref := s.refField()
	doc.asked = doc.fields[ref]
	switch {
	case doc.fields["customer"] != Customer && doc.fields["customer"] != Other:
		return nil, &exception{"LinkValidationError", "Could not find Customer: " + doc.fields["customer"], http.StatusExpectationFailed}
	case doc.fields["company"] != Company:
		return nil, &exception{"LinkValidationError", "Could not find Company: " + doc.fields["company"], http.StatusExpectationFailed}
	case len([]rune(doc.fields[ref])) > 140:
		return nil, &exception{"CharacterLengthExceededError", "the field will get truncated, as max characters allowed is 140", http.StatusExpectationFailed}
	case len(v.Items) == 0:
		return nil, &exception{"MandatoryError", "Error: Data missing in table: Items", http.StatusExpectationFailed}
	}
	total := new(big.Rat)
	for _, item := range v.Items {
		qty, ok := new(big.Rat).SetString(item.Qty.String())
		rate, fine := new(big.Rat).SetString(item.Rate.String())
		if !ok || !fine || item.Item != Item {
			return nil, &exception{"LinkValidationError", "Could not find Item: " + item.Item, http.StatusExpectationFailed}
		}
		total.Add(total, qty.Mul(qty, rate))
	}
	if v.IgnoreRule == 0 { // a pricing rule of ten percent
		total.Mul(total, big.NewRat(9, 10))
	}
	if v.Taxes == TaxAdded || v.Taxes == "" && s.opts.DefaultTax {
		total.Mul(total, big.NewRat(119, 100))
	}
	today := doc.since.Format("2006-01-02")
	if v.SetTime == 0 || doc.fields["posting_date"] == "" {
		doc.fields["posting_date"] = today
	}
	if v.IgnoreTerms == 0 { // the customer's terms: thirty days
		doc.fields["due_date"] = "in thirty days"
	}
	s.alter(doc, total, f)
	if s.opts.Unique && f != "other_books" {
		for _, held := range s.invoices {
			if !held.gone && !held.other && doc.fields[Field] != "" && fold(held.fields[Field]) == fold(doc.fields[Field]) {
				return nil, &exception{"UniqueValidationError", "Work Item must be unique", http.StatusExpectationFailed}
			}
		}
	}
	doc.total = total.FloatString(digits[doc.fields["currency"]])
	s.invoices = append(s.invoices, doc)
	if v.DocStatus == 1 {
		s.submit(doc, f)
	}
	if f == "voided" {
		doc.docstatus = 2
	}
	return s.told(doc, f), nil
}

// alter is what scripts of the site may do, and other sites.
func (s *Site) alter(doc *invoice, total *big.Rat, f ledgertest.Fault) {
	ref := s.refField()
	switch f {
	case "total_times_100":
		total.Mul(total, big.NewRat(100, 1))
	case "total_plus_one":
		total.Add(total, big.NewRat(1, 1))
	case "other_customer":
		doc.fields["customer"] = Other
	case "trim_reference":
		doc.fields[ref] = strings.TrimSpace(doc.fields[ref])
	case "upper_reference":
		doc.fields[ref] = strings.ToUpper(doc.fields[ref])
	case "other_books":
		doc.other = true
		doc.fields["company"] = "somebody-else"
	}
}

// submit is carried out once; a site may also only queue it.
func (s *Site) submit(doc *invoice, f ledgertest.Fault) {
	if f != "queued" && doc.docstatus == 0 {
		doc.docstatus = 1
		doc.submits++
	}
}

// update is PUT: the fields are set and the document is saved, which carries out what the new docstatus means.
func (s *Site) update(v *invoice, body []byte, f ledgertest.Fault) (any, *exception) {
	var to struct {
		DocStatus *int `json:"docstatus"`
	}
	if json.Unmarshal(body, &to) != nil || to.DocStatus == nil {
		return nil, validation("Nothing to update")
	}
	switch {
	case v.docstatus == 2:
		return nil, validation("Cannot edit cancelled document")
	case *to.DocStatus < v.docstatus, *to.DocStatus == 2 && v.docstatus == 0:
		return nil, &exception{"DocstatusTransitionError", "Cannot change docstatus", http.StatusExpectationFailed}
	case *to.DocStatus == 2:
		v.docstatus = 2
	default:
		s.submit(v, f)
	}
	return s.told(v, f), nil
}

// told is the document as the API tells it.
func (s *Site) told(v *invoice, f ledgertest.Fault) map[string]any {
	doc := map[string]any{"name": v.name, "doctype": "Sales Invoice", "docstatus": v.docstatus, "grand_total": json.Number(v.total)}
	for name, text := range v.fields {
		doc[name] = text
	}
	switch f {
	case "zero_id":
		doc["name"] = "0"
	case "null_id":
		doc["name"] = nil
	case "empty_id":
		doc["name"] = ""
	case "numeric_id":
		doc["name"] = 4711
	}
	return doc
}

func (s *Site) byName(name string) *invoice {
	for _, v := range s.invoices {
		if v.name == name && !v.gone && !v.other {
			return v
		}
	}
	return nil
}

// search is get_list: all filters must hold; twenty rows unless asked otherwise.
func (s *Site) search(r *http.Request, f ledgertest.Fault) (any, *exception) {
	var filters [][]any
	var columns []string
	if json.Unmarshal([]byte(r.URL.Query().Get("filters")), &filters) != nil || json.Unmarshal([]byte(r.URL.Query().Get("fields")), &columns) != nil {
		return nil, validation("Filters must be a list")
	}
	start, _ := strconv.Atoi(r.URL.Query().Get("limit_start"))
	length, err := strconv.Atoi(r.URL.Query().Get("limit_page_length"))
	if err != nil {
		length = 20
	}
	switch {
	case f == "search_empty" || f == "other_books":
		return []any{}, nil
	case f == "search_broken_page" && start > 0:
		return nil, validation("the search is being maintained")
	}
	rows := []any{}
	for _, v := range s.invoices {
		meets := !v.gone && !v.other
		for _, filter := range filters {
			if len(filter) != 3 || filter[1] != "=" && filter[1] != "like" {
				return nil, validation("Invalid filter")
			}
			name, want := fmt.Sprint(filter[0]), fmt.Sprint(filter[2])
			have, known := v.fields[name]
			switch {
			case name == "is_return":
				meets = meets && (want == "1") == v.isReturn
			case !known:
				return nil, &exception{"DataError", "Field not permitted in query: " + name, http.StatusExpectationFailed}
			case filter[1] == "like":
				meets = meets && strings.Contains(fold(have), fold(strings.Trim(want, "%")))
			default:
				meets = meets && fold(have) == fold(want)
			}
		}
		if meets {
			row, told := map[string]any{}, s.told(v, "")
			for _, c := range columns {
				row[c] = told[c]
			}
			rows = append(rows, row)
		}
	}
	if length == 0 {
		length = len(rows)
	}
	if s.opts.PageSize > 0 {
		length = min(length, s.opts.PageSize)
	}
	from := min(start, len(rows))
	return rows[from:min(from+length, len(rows))], nil
}

// Effects implements ledgertest.Fake.
func (s *Site) Effects(step, reference string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, v := range s.invoices {
		switch {
		case v.asked != reference:
		case step == "create":
			n++
		default:
			n += v.submits
		}
	}
	return n
}
