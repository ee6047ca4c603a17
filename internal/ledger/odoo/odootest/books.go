package odootest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// move is an account.move.
type move struct {
	id       int64
	ref      string
	origin   string
	partner  int64
	currency int64
	company  int64
	kind     string
	total    string
	state    string
	name     string

	asked string // the reference as asked for
	posts int
	since time.Time
	other bool // in another database that answers under the same address
	gone  bool // deleted
}

var currencies = []string{"", "EUR", "USD", "JPY", "KWD"} // by id
var digits = []int{0, 2, 2, 0, 3}

// since are the companies with the time they were set up; 1 is the user's own.
var since = map[int64]string{1: "2019-03-04 10:11:12", Company: "2020-05-06 07:08:09"}

const otherSince = "1999-12-31 23:59:59 at somebody-else"

func (o *Odoo) snapshot() []*move {
	var list []*move
	for _, m := range o.moves {
		held := *m
		list = append(list, &held)
	}
	return list
}

// call runs a method. What it changed is undone if it raises.
func (o *Odoo) call(q request, f ledgertest.Fault) (any, *exception) {
	var context struct {
		Companies []int64 `json:"allowed_company_ids"`
	}
	_ = json.Unmarshal(q.named["context"], &context) // none: the user's own
	companies := context.Companies
	if len(companies) == 0 {
		companies = []int64{1}
	}
	for _, c := range companies {
		if since[c] == "" {
			return nil, &exception{Name: "odoo.exceptions.AccessError", Message: "Access to unauthorized or invalid companies.", status: http.StatusForbidden}
		}
	}
	switch q.model + "." + q.method {
	case "res.company.search_read":
		return o.searchCompanies(q, o.faults[work.Find] == "other_books")
	case "res.currency.search_read":
		var rows []map[string]any
		for id, code := range currencies[1:] {
			rows = append(rows, map[string]any{"id": id + 1, "name": code})
		}
		return rows, nil
	case "account.move.search_read":
		return o.search(q, companies, f)
	case "account.move.create":
		m, exc := o.create(q.vals, companies, f)
		if exc != nil {
			return nil, exc
		}
		if f == "empty_id" {
			return false, nil
		}
		if id, yes := wrong(f); yes {
			return id, nil
		}
		return m.id, nil
	case "account.move.web_save":
		if o.opts.Old {
			return nil, &exception{Name: "builtins.AttributeError", Message: "The method 'account.move.web_save' does not exist", status: http.StatusInternalServerError}
		}
		m, exc := o.create(q.named["vals"], companies, f)
		if exc != nil {
			return nil, exc
		}
		return o.saved(m, f), nil
	case "account.move.action_post":
		return o.post(q.ids)
	case "account.move.unlink", "account.move.button_draft", "account.move.button_cancel":
		return o.withdraw(q)
	}
	return nil, &exception{Name: "werkzeug.exceptions.NotFound", Message: "the method does not exist", status: http.StatusNotFound}
}

func (o *Odoo) searchCompanies(q request, other bool) (any, *exception) {
	meets, ok := domain(q.named["domain"])
	if !ok {
		return nil, userError("Invalid domain")
	}
	rows := []map[string]any{}
	for id, at := range since {
		if !meets(map[string]string{"id": fmt.Sprint(id)}) {
			continue
		}
		if other {
			at = otherSince
		}
		rows = append(rows, map[string]any{"id": id, "create_date": at})
	}
	return rows, nil
}

// create makes a draft. A line that does not tell its taxes gets the company's usual one, which is added to the price.
func (o *Odoo) create(body json.RawMessage, companies []int64, f ledgertest.Fault) (*move, *exception) {
	var v struct {
		Kind     string              `json:"move_type"`
		Partner  int64               `json:"partner_id"`
		Ref      string              `json:"ref"`
		Origin   string              `json:"invoice_origin"`
		Currency int64               `json:"currency_id"`
		Company  int64               `json:"company_id"`
		Lines    [][]json.RawMessage `json:"invoice_line_ids"`
	}
	if json.Unmarshal(body, &v) != nil {
		return nil, &exception{Name: "builtins.ValueError", Message: "Invalid field", status: http.StatusInternalServerError}
	}
	if v.Partner != Partner && v.Partner != Partner+1 {
		return nil, &exception{Name: "odoo.exceptions.ValidationError", Message: "The operation cannot be completed: another model requires the record being deleted.", status: http.StatusUnprocessableEntity}
	}
	if !slices.Contains(companies, v.Company) || v.Currency < 1 || int(v.Currency) >= len(currencies) {
		return nil, userError("Incompatible companies or currencies on records")
	}
	total := new(big.Rat)
	for _, command := range v.Lines {
		amount, ok := lineTotal(command)
		if !ok {
			return nil, userError("Wrong value for invoice_line_ids")
		}
		total.Add(total, amount)
	}
	m := &move{id: int64(len(o.moves) + 1), ref: v.Ref, origin: v.Origin, asked: v.Ref, partner: v.Partner, currency: v.Currency, company: v.Company, kind: v.Kind,
		state: "draft", name: "/", since: o.clock(), other: f == "other_books"}
	switch f {
	case "total_times_100":
		total.Mul(total, big.NewRat(100, 1))
	case "total_plus_one":
		total.Add(total, big.NewRat(1, 1))
	case "other_customer":
		m.partner++
	case "voided":
		m.state = "cancel"
	}
	m.total = total.FloatString(digits[v.Currency])
	o.moves = append(o.moves, m)
	return m, nil
}

func lineTotal(command []json.RawMessage) (*big.Rat, bool) {
	var line struct {
		Quantity json.Number          `json:"quantity"`
		Price    json.Number          `json:"price_unit"`
		Taxes    *[][]json.RawMessage `json:"tax_ids"`
	}
	if len(command) != 3 || string(command[0]) != "0" || json.Unmarshal(command[2], &line) != nil {
		return nil, false
	}
	quantity, ok := new(big.Rat).SetString(line.Quantity.String())
	price, fine := new(big.Rat).SetString(line.Price.String())
	if !ok || !fine {
		return nil, false
	}
	added := line.Taxes == nil
	if line.Taxes != nil {
		for _, c := range *line.Taxes {
			var ids []int
			if len(c) != 3 || string(c[0]) != "6" || json.Unmarshal(c[2], &ids) != nil {
				return nil, false
			}
			added = added || slices.Contains(ids, TaxAdded)
		}
	}
	amount := new(big.Rat).Mul(quantity, price)
	if added {
		amount.Mul(amount, big.NewRat(119, 100))
	}
	return amount, true
}

// saved is what web_save answers: the record read back, links as the specification has them.
func (o *Odoo) saved(m *move, f ledgertest.Fault) any {
	if f == "empty_id" {
		return []any{}
	}
	at := since[m.company]
	if m.other {
		at = otherSince
	}
	row := map[string]any{"id": m.id, "name": m.name, "ref": m.ref, "partner_id": m.partner, "amount_total": json.Number(m.total), "state": m.state,
		"currency_id": map[string]any{"id": m.currency, "name": currencies[m.currency]}, "company_id": map[string]any{"id": m.company, "create_date": at}}
	if id, yes := wrong(f); yes {
		row["id"] = id
	}
	return []any{row}
}

func (o *Odoo) byID(id int64) *move {
	for _, m := range o.moves {
		if m.id == id && !m.gone && !m.other {
			return m
		}
	}
	return nil
}

var missing = exception{Name: "odoo.exceptions.MissingError", Message: "Record does not exist or has been deleted.", status: http.StatusNotFound}

func (o *Odoo) post(ids []int64) (any, *exception) {
	for _, id := range ids {
		m := o.byID(id)
		if m == nil {
			gone := missing
			return nil, &gone
		}
		if m.state != "draft" {
			return nil, userError(fmt.Sprintf("The entry %s (id %d) must be in draft.", m.name, m.id))
		}
		m.state, m.name = "posted", fmt.Sprintf("INV/2026/%05d", m.id)
		m.posts++
	}
	return false, nil
}

func (o *Odoo) withdraw(q request) (any, *exception) {
	for _, id := range q.ids {
		m := o.byID(id)
		switch {
		case m == nil:
			gone := missing
			return nil, &gone
		case q.method == "unlink" && m.state == "posted":
			return nil, userError("You cannot delete a posted invoice.")
		case q.method == "unlink":
			m.gone = true
		case q.method == "button_draft":
			m.state = "draft"
		default:
			m.state = "cancel"
		}
	}
	return true, nil
}

// Effects implements ledgertest.Fake.
func (o *Odoo) Effects(step, reference string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, m := range o.moves {
		switch {
		case m.asked != reference:
		case step == "create":
			n++
		default:
			n += m.posts
		}
	}
	return n
}

// States are the states of the invoices with the reference, in the order in which they were made; deleted ones are left out.
func (o *Odoo) States(reference string) (states []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.moves {
		if m.ref == reference && !m.gone {
			states = append(states, m.state)
		}
	}
	return states
}

// Edit is what a person does in Odoo: the invoices with the reference get another one.
func (o *Odoo) Edit(reference, to string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.moves {
		if m.ref == reference {
			m.ref = to
		}
	}
}

// Totals are the totals of the invoices with the reference.
func (o *Odoo) Totals(reference string) (totals []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.moves {
		if m.ref == reference {
			totals = append(totals, m.total)
		}
	}
	return totals
}
