package trytontest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"

	"onefold/internal/work"
)

// cents is an amount of money.
type cents int64

func (c cents) String() string { return fmt.Sprintf("%d.%02d", c/100, c%100) }

// half rounds to whole cents.
func half(r *big.Rat) cents {
	n := new(big.Rat).Mul(r, big.NewRat(100, 1))
	text := n.FloatString(0)
	var c cents
	fmt.Sscan(text, &c) //nolint:errcheck // the text is a whole number
	return c
}

type decimal struct {
	Decimal string `json:"decimal"`
}

type line struct {
	Quantity json.Number     `json:"quantity"`
	Price    decimal         `json:"unit_price"`
	Taxes    json.RawMessage `json:"taxes"`
}

func (l line) amount() *big.Rat {
	quantity, _ := new(big.Rat).SetString(l.Quantity.String())
	price, _ := new(big.Rat).SetString(l.Price.Decimal)
	if quantity == nil || price == nil {
		return new(big.Rat)
	}
	return quantity.Mul(quantity, price)
}

// onChange fills a form in: the address, and the taxes of the lines. The total that it shows leaves out the lines'
// amounts, which the form's own lines would have to bring.
func (f *Fake) onChange(w http.ResponseWriter, call Call) {
	var draft struct {
		Party int    `json:"party"`
		Lines []line `json:"lines"`
	}
	if json.Unmarshal(call.Params[0], &draft) != nil {
		answer(w, "error", []any{"'list' object has no attribute 'get'", ""})
		return
	}
	form := map[string]any{"invoice_address": draft.Party, "journal": 1, "payment_term": 9, "party_tax_identifier": nil,
		"invoice_address.": map[string]string{"rec_name": "Musterstadt"}}
	if draft.Party == 4 {
		form["invoice_address"] = nil
	}
	base := new(big.Rat)
	for _, l := range draft.Lines {
		var taxes []int
		if json.Unmarshal(l.Taxes, &taxes) == nil && len(taxes) > 0 {
			base.Add(base, l.amount())
		}
	}
	if base.Sign() != 0 {
		tax := half(new(big.Rat).Mul(base, big.NewRat(20, 100)))
		form["taxes"] = map[string]any{"add": []any{[]any{0, map[string]any{"id": nil, "create_uid": 2, "invoice_state": "draft", "manual": false,
			"account": 7, "account.": map[string]string{"rec_name": "Main Tax"}, "tax": 1, "description": Tax, "legal_notice": nil, "sequence": nil,
			"base": map[string]string{"__class__": "Decimal", "decimal": half(base).String()}, "amount": map[string]string{"__class__": "Decimal", "decimal": tax.String()}}}}}
	}
	answer(w, "result", []any{form})
}

// rejects answers the refusals that only Tryton itself can make.
func (f *Fake) rejects(w http.ResponseWriter) bool {
	switch f.fault[work.Send] {
	case "reject", "reject_charset":
		answer(w, "error", userError("the customer is blocked"))
	case "reject_long":
		answer(w, "error", userError(strings.Repeat("Größe ungültig 💶 ", 10_000)))
	case "reject_zero_byte":
		answer(w, "error", userError("zero\x00byte"))
	case "reject_not_utf8":
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte("{\"id\":1,\"error\":[\"UserError\",[\"ung\xfcltig\",\"\",null]]}")) //nolint:errcheck,gosec // the client may be gone
	default:
		return false
	}
	return true
}

func (f *Fake) create(w http.ResponseWriter, call Call) {
	var drafts []map[string]json.RawMessage
	if f.rejects(w) {
		return
	}
	if len(call.Params) != 2 || json.Unmarshal(call.Params[0], &drafts) != nil || len(drafts) != 1 {
		answer(w, "error", []any{"Missing context argument", ""})
		return
	}
	r, refusal := f.fromDraft(drafts[0])
	if refusal != "" {
		answer(w, "error", userError(refusal))
		return
	}
	var told any = []int{r.ID}
	switch f.fault[work.Send] {
	case "total_times_100":
		r.Total *= 100
	case "total_plus_one":
		r.Total += 100
	case "other_customer":
		r.Party = Other
	case "voided":
		r.State = "cancelled"
	case "trim_reference":
		r.Reference = trimmed(r.Reference)
	case "upper_reference":
		r.Reference = strings.ToUpper(r.Reference)
	case "zero_id":
		told = []int{0}
	case "null_id":
		told = []any{nil}
	case "empty_id":
		told = []int{}
	case "numeric_id": // Tryton's ids are numbers: the wrong kind is a text
		told = []string{"12"}
	}
	f.books = append(f.books, r)
	f.tell(w, told)
}

var known = []string{"type", "company", "party", "invoice_address", "account", "journal", "currency", "reference", "comment", "invoice_date",
	"payment_term", "payment_term_date", "party_tax_identifier", "lines", "taxes"}

func (f *Fake) fromDraft(draft map[string]json.RawMessage) (r *Record, refusal string) {
	for name := range draft {
		if !slices.Contains(known, name) {
			return nil, fmt.Sprintf("The field %q does not exist.", name)
		}
	}
	r = &Record{ID: len(f.books) + 1, State: "draft", Company: f.company()}
	var party, address, money int
	_ = json.Unmarshal(draft["reference"], &r.Reference)
	_ = json.Unmarshal(draft["party"], &party)
	_ = json.Unmarshal(draft["invoice_address"], &address)
	_ = json.Unmarshal(draft["currency"], &money)
	r.Asked, r.Party, r.Currency = r.Reference, fmt.Sprint(party), map[int]string{1: "EUR", 2: "USD"}[money]
	if strings.ContainsAny(r.Reference, "\t\n\r\v\f") {
		return nil, fmt.Sprintf("The value %q for field \"Reference\" in \"Invoice\" contains some invalid chars.", r.Reference)
	}
	if address != party || r.Currency == "" {
		return nil, `The value for field "Invoice Address" in "Invoice" is not valid according to its domain.`
	}
	var lines [][]json.RawMessage
	var rows []line
	if json.Unmarshal(draft["lines"], &lines) != nil || len(lines) != 1 || json.Unmarshal(lines[0][1], &rows) != nil || len(rows) == 0 {
		return nil, `The value for field "Lines" in "Invoice" is not valid.`
	}
	for _, l := range rows {
		if _, decimals, _ := strings.Cut(l.Quantity.String(), "."); len(decimals) > 2 {
			return nil, fmt.Sprintf("The number of digits in the value %q for field \"Quantity\" in \"Invoice Line\" exceeds the limit of \"2\".", l.Quantity)
		}
		r.Total += half(l.amount())
	}
	var taxes [][]json.RawMessage
	if json.Unmarshal(draft["taxes"], &taxes) == nil && len(taxes) == 1 {
		var add []struct {
			Amount decimal `json:"amount"`
		}
		_ = json.Unmarshal(taxes[0][1], &add)
		for _, tax := range add {
			if amount, ok := new(big.Rat).SetString(tax.Amount.Decimal); ok {
				r.Total += half(amount)
			}
		}
	}
	return r, ""
}

func (f *Fake) post(w http.ResponseWriter, call Call) {
	if f.rejects(w) {
		return
	}
	r := f.byID(call)
	if r == nil {
		answer(w, "error", userError(`You are trying to read records of "Invoice" that don't exist anymore.`))
		return
	}
	if r.State == "draft" { // posted twice is harmless; any other state is passed over
		number := fmt.Sprintf("2026-%d", r.ID)
		r.State, r.Number = "posted", &number
		r.Posts++
	}
	f.tell(w, nil)
}

// tell answers after the commit.
func (f *Fake) tell(w http.ResponseWriter, result any) {
	if f.fault[work.Send] == ErrorInside {
		answer(w, "error", []any{"disk I/O error", ""})
		return
	}
	answer(w, "result", result)
}

func (f *Fake) delete(w http.ResponseWriter, call Call) {
	r := f.byID(call)
	if r == nil || r.State != "draft" {
		answer(w, "error", userError("You cannot modify the invoice because it is posted, paid or cancelled."))
		return
	}
	r.Company = -1
	answer(w, "result", nil)
}

func (f *Fake) byID(call Call) *Record {
	var ids []int
	if len(call.Params) != 2 || json.Unmarshal(call.Params[0], &ids) != nil || len(ids) != 1 {
		return nil
	}
	for _, r := range f.books {
		if r.ID == ids[0] && r.Company == f.company() {
			return r
		}
	}
	return nil
}
