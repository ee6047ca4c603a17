package work

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bojanz/currency"
)

// Invoice is what is to be made outside. Only lasting business facts are in it, so that its fingerprint is stable.
type Invoice struct {
	CustomerID   string          `json:"customer_id"`             // the customer's id in the accounting system
	CustomerName string          `json:"customer_name,omitempty"` // as shown to people
	Total        currency.Amount `json:"total"`                   // with its currency; the decimals that the currency has
	IssueDate    string          `json:"issue_date,omitempty"`    // 2006-01-02, or empty
	DueDate      string          `json:"due_date,omitempty"`      // 2006-01-02, or empty
	Lines        []Line          `json:"lines,omitempty"`         // empty: one line with the total
	Note         string          `json:"note,omitempty"`
}

// Line is one row of an invoice.
type Line struct {
	Description string `json:"description"`
	Quantity    string `json:"quantity"`   // decimal
	UnitPrice   string `json:"unit_price"` // decimal, in the invoice's currency
	TaxCode     string `json:"tax_code,omitempty"`
}

// MaxTotal is the largest amount of an invoice, in units of its currency: above it accounting systems begin to lose cents.
const MaxTotal = "99999999999999.99"

// Validate returns an error in the user's words if the invoice cannot be issued.
func (v Invoice) Validate() error {
	if strings.TrimSpace(v.CustomerID) == "" {
		return fmt.Errorf("the customer is missing: name the customer as the accounting system knows it")
	}
	if !currency.IsValid(v.Total.CurrencyCode()) {
		return fmt.Errorf("the currency %q is not known: use a three-letter code such as EUR", v.Total.CurrencyCode())
	}
	if strings.Trim(v.Total.Number(), "-.0123456789") != "" { // NaN, infinity, exponents
		return fmt.Errorf("the amount %q is not a number in plain digits", v.Total.Number())
	}
	rounded := v.Total.Round()
	if !rounded.Equal(v.Total) {
		digits, _ := currency.GetDigits(v.Total.CurrencyCode())
		return fmt.Errorf("the amount %s has more decimals than %s allows (%d)", v.Total.Number(), v.Total.CurrencyCode(), digits)
	}
	if v.Total.IsNegative() {
		return fmt.Errorf("the amount %s is negative: issue a credit note instead", v.Total.Number())
	}
	if v.Total.IsZero() {
		return fmt.Errorf("the amount is zero: there is nothing to invoice")
	}
	limit, err := currency.NewAmount(MaxTotal, v.Total.CurrencyCode())
	if err != nil {
		return fmt.Errorf("the amount %s cannot be compared: %w", v.Total.Number(), err)
	}
	if over, err := v.Total.Cmp(limit); err != nil || over > 0 {
		return fmt.Errorf("the amount %s is above the limit of %s", v.Total.Number(), MaxTotal)
	}
	return nil
}

// Fingerprint identifies the content: equal for equal business facts whatever the order of JSON fields, the worker or
// the library's version.
func (v Invoice) Fingerprint() string {
	h := sha256.New()
	put := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s", len(p), p)
		}
	}
	put(v.CustomerID, v.CustomerName, v.Total.Round().Number(), v.Total.CurrencyCode(), v.IssueDate, v.DueDate, v.Note)
	for _, l := range v.Lines {
		put(l.Description, l.Quantity, l.UnitPrice, l.TaxCode)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// JSON is the stored form of the invoice.
func (v Invoice) JSON() []byte {
	b, err := json.Marshal(v)
	if err != nil { // cannot happen: every field is a string or an Amount
		return []byte("{}")
	}
	return b
}

// Record is what an accounting system holds, as far as it tells.
type Record struct {
	ID        string // the system's own id; never empty in a usable record
	Number    string // the number that people see; may be empty before posting
	Reference string // our reference as it came back
	Customer  string // the customer's id; empty if the system does not tell
	Total     currency.Amount
	State     RecordState
	URL       string // where a person can look at it; may be empty
}

// recordJSON is a record as it is kept with an attempt.
type recordJSON struct {
	ID        string      `json:"id,omitempty"`
	Number    string      `json:"number,omitempty"`
	Reference string      `json:"reference,omitempty"`
	Customer  string      `json:"customer,omitempty"`
	Total     string      `json:"total,omitempty"`
	Currency  string      `json:"currency,omitempty"`
	State     RecordState `json:"state,omitempty"`
	URL       string      `json:"url,omitempty"`
}

// JSON writes the record as it is kept with an attempt; the zero record is empty.
func (r Record) JSON() string {
	if r == (Record{}) {
		return ""
	}
	out := recordJSON{r.ID, r.Number, r.Reference, r.Customer, "", r.Total.CurrencyCode(), r.State, r.URL}
	if out.Currency != "" {
		out.Total = r.Total.Number()
	}
	text, err := json.Marshal(out)
	if err != nil {
		return ""
	}
	return string(text)
}

// ReadRecord reads what JSON wrote; false: there is none, or it cannot be read.
func ReadRecord(text string) (Record, bool) {
	var in recordJSON
	if text == "" || json.Unmarshal([]byte(text), &in) != nil {
		return Record{}, false
	}
	r := Record{ID: in.ID, Number: in.Number, Reference: in.Reference, Customer: in.Customer, State: in.State, URL: in.URL}
	if in.Currency != "" {
		total, err := currency.NewAmount(in.Total, in.Currency)
		if err != nil {
			return Record{}, false
		}
		r.Total = total
	}
	return r, true
}

// RecordState is the state of a record outside.
type RecordState string

const (
	StateUnknown RecordState = ""       // the system does not tell
	StateDraft   RecordState = "draft"  // there, not issued
	StatePosted  RecordState = "posted" // there and issued
	StateVoid    RecordState = "void"   // void, deleted, cancelled, aborted
)
