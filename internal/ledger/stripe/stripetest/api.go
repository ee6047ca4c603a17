package stripetest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/ledger/ledgertest"
)

// operation is what a writing request asks for; nil: there is no such thing.
type operation func(fault ledgertest.Fault) (v *Invoice, status int, message string)

func (f *Fake) operation(path string, form url.Values) operation {
	parts := strings.Split(strings.TrimPrefix(path, "/v1/invoices"), "/") // "", id, verb
	if !strings.HasPrefix(path, "/v1/invoices") || len(parts) == 2 || len(parts) > 3 {
		return nil
	}
	if len(parts) == 1 {
		return func(fault ledgertest.Fault) (*Invoice, int, string) { return f.create(form, fault) }
	}
	verb, known := map[string]func(*Invoice, url.Values) string{"add_lines": addLines, "finalize": f.issue, "void": void}[parts[2]]
	if !known {
		return nil
	}
	return func(ledgertest.Fault) (*Invoice, int, string) {
		v := f.find(parts[1])
		if v == nil {
			return nil, http.StatusNotFound, "No such invoice: '" + parts[1] + "'"
		}
		if refused := verb(v, form); refused != "" {
			return nil, http.StatusBadRequest, refused
		}
		return v, http.StatusOK, ""
	}
}

// execute carries an operation out, with the fault.
func (f *Fake) execute(w http.ResponseWriter, do operation, fault ledgertest.Fault) {
	switch fault {
	case "sticky_500":
		refuse(w, http.StatusInternalServerError, "api_error", "", "An unknown error occurred")
		return
	case "reject":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "the customer is blocked")
		return
	case "reject_charset":
		w.Header().Set("Content-Type", "application/json; charset=iso-8859-1")
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "the customer is blocked")
		return
	case "reject_long":
		refuse(w, http.StatusPaymentRequired, "card_error", "", strings.Repeat("Größe ungültig 💶 ", 10_000))
		return
	case "reject_zero_byte":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "zero\x00byte")
		return
	case "reject_not_utf8":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "ungRAWltig")
		return
	}
	v, status, message := do(fault)
	switch {
	case fault == "sticky_500_after":
		refuse(w, http.StatusInternalServerError, "api_error", "", "An unknown error occurred")
	case strings.HasPrefix(message, "No such "):
		refuse(w, status, "invalid_request_error", "resource_missing", message)
	case message == finalizedAlready:
		refuse(w, status, "invalid_request_error", "invoice_not_editable", message)
	case status != http.StatusOK:
		refuse(w, status, "invalid_request_error", "", message)
	default:
		shown := f.show(v)
		if id, spoilt := map[ledgertest.Fault]any{"zero_id": "0", "null_id": nil, "empty_id": "", "numeric_id": 12345}[fault]; spoilt {
			shown["id"] = id
		}
		switch fault {
		case "other_record":
			shown["id"] = "in_of_somebody_else"
		case "as_before":
			shown["status"], shown["metadata"], shown["lines"] = "draft", map[string]string{}, map[string]any{"object": "list", "data": []any{}}
		}
		f.tell(w, shown)
	}
}

const finalizedAlready = "This invoice is already finalized, you can't re-finalize a non-draft invoice."

// create makes a draft; what the fault stores differently is stored so.
func (f *Fake) create(form url.Values, fault ledgertest.Fault) (*Invoice, int, string) {
	v := &Invoice{ID: fmt.Sprintf("in_%06d", len(f.invoices)+1), Status: "draft", Customer: form.Get("customer"), Currency: form.Get("currency"),
		Metadata: metadata(form, "metadata"), AutoAdvance: form.Get("auto_advance") == "true", Created: f.now(), asked: form.Get("metadata[work_item]")}
	if !strings.HasPrefix(v.Customer, "cus_") || v.Customer == "cus_unknown" {
		return nil, http.StatusBadRequest, "No such customer: '" + v.Customer + "'"
	}
	total := v.Metadata["work_item_total"]
	switch fault {
	case "total_times_100":
		v.Metadata["work_item_total"] = changed(total, func(a currency.Amount) (currency.Amount, error) { return a.Mul("100") })
	case "total_plus_one":
		v.Metadata["work_item_total"] = changed(total, func(a currency.Amount) (currency.Amount, error) {
			cent, err := currency.NewAmount("0.01", a.CurrencyCode())
			if err != nil {
				return a, err
			}
			return a.Add(cent)
		})
	case "other_customer":
		v.Customer = "cus_somebody_else"
	case "voided":
		v.Status = "void"
	case "trim_reference":
		v.Metadata["work_item"] = strings.TrimSpace(v.asked)
	case "upper_reference":
		v.Metadata["work_item"] = strings.ToUpper(v.asked)
	}
	f.invoices = append(f.invoices, v)
	return v, http.StatusOK, ""
}

func changed(total string, by func(currency.Amount) (currency.Amount, error)) string {
	number, code, _ := strings.Cut(total, " ")
	a, err := currency.NewAmount(number, code)
	if err != nil {
		return total
	}
	if a, err = by(a); err != nil {
		return total
	}
	return a.Number() + " " + code
}

func metadata(form url.Values, field string) map[string]string {
	m := map[string]string{}
	for name, values := range form {
		if inner, ok := strings.CutPrefix(name, field+"["); ok {
			m[strings.TrimSuffix(inner, "]")] = values[0]
		}
	}
	return m
}

// addLines adds all lines or none. It is no idempotent thing: a second time adds them again.
func addLines(v *Invoice, form url.Values) string {
	if v.Status != "draft" {
		return finalizedAlready
	}
	var lines []Line
	for i := 0; ; i++ {
		at := fmt.Sprintf("lines[%d]", i)
		count := form.Get(at + "[amount]")
		if unit := form.Get(at + "[price_data][unit_amount_decimal]"); unit != "" {
			count = product(unit, form.Get(at+"[quantity]")+form.Get(at+"[quantity_decimal]"))
		}
		if count == "" {
			break
		}
		amount, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return "Invalid integer: " + count
		}
		lines = append(lines, Line{Amount: amount, Description: form.Get(at + "[description]")})
	}
	if len(lines) == 0 {
		return "Missing required param: lines."
	}
	v.Lines = append(v.Lines, lines...)
	maps.Copy(v.Metadata, metadata(form, "invoice_metadata"))
	v.lined++
	return ""
}

// product multiplies decimals; the tests use products that are whole.
func product(unit, quantity string) string {
	u, err := strconv.ParseFloat(unit, 64)
	q, err2 := strconv.ParseFloat(quantity, 64)
	if err != nil || err2 != nil {
		return "not a number"
	}
	return strconv.FormatFloat(u*q, 'f', 0, 64)
}

func (f *Fake) issue(v *Invoice, form url.Values) string {
	if v.Status != "draft" {
		return finalizedAlready
	}
	v.AutoAdvance = form.Get("auto_advance") == "true"
	f.finalize(v)
	return ""
}

func (f *Fake) finalize(v *Invoice) {
	v.Status, v.Number = "open", fmt.Sprintf("ONE-%s", strings.TrimPrefix(v.ID, "in_"))
	if v.Total() == 0 {
		v.Status = "paid" // nothing is due
	}
	v.finalized++
}

func void(v *Invoice, _ url.Values) string {
	if v.Status != "open" {
		return "You can only pass in open invoices."
	}
	v.Status = "void"
	return ""
}

func (f *Fake) remove(w http.ResponseWriter, id string) {
	v := f.find(id)
	switch {
	case v == nil:
		refuse(w, http.StatusNotFound, "invalid_request_error", "resource_missing", "No such invoice: '"+id+"'")
	case v.Status != "draft":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "You can only delete draft invoices.")
	default:
		v.Deleted = true
		f.tell(w, map[string]any{"id": v.ID, "object": "invoice", "deleted": true})
	}
}

// find does not show what was deleted.
func (f *Fake) find(id string) *Invoice {
	for _, v := range f.invoices {
		if v.ID == id && !v.Deleted {
			return v
		}
	}
	return nil
}
