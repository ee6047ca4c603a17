package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// apiNew is one item to be recorded, as it is sent to the API.
type apiNew struct {
	Key        string     `json:"key"`
	System     string     `json:"system"`
	Automation string     `json:"automation"`
	Period     string     `json:"period"` // a month, "2026-11"; empty: that of the issue date, else the present one
	Invoice    apiInvoice `json:"invoice"`
}

type apiInvoice struct {
	CustomerID   string    `json:"customer_id"`
	CustomerName string    `json:"customer_name"`
	Total        apiAmount `json:"total"`
	IssueDate    string    `json:"issue_date"`
	DueDate      string    `json:"due_date"`
	Lines        []apiLine `json:"lines"`
	Note         string    `json:"note"`
}

type apiLine struct {
	Description string  `json:"description"`
	Quantity    decimal `json:"quantity"`
	UnitPrice   decimal `json:"unit_price"`
	TaxCode     string  `json:"tax_code"`
}

// decimal is a number as it was written, in quotation marks or not; it never becomes a float.
type decimal string

var plainNumber = regexp.MustCompile(`^-?[0-9]{1,20}(\.[0-9]{1,12})?$`)

func (d *decimal) UnmarshalJSON(b []byte) error {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
	}
	if s == "null" {
		s = ""
	}
	if s != "" && !plainNumber.MatchString(s) {
		return fmt.Errorf("%q is not a number: write it like 1200.50", text(s, 60))
	}
	*d = decimal(s)
	return nil
}

// decodeStrict reads one JSON value and refuses what it does not know. Errors are in the caller's words.
func decodeStrict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return errors.New("something follows after the JSON")
		}
		return nil
	case errors.As(err, &wrongType):
		return fmt.Errorf("%q must be %s, not a %s", wrongType.Field, kindName(wrongType.Type.Kind().String()), wrongType.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("this is not JSON: %s at byte %d", syntax.Error(), syntax.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("this is not JSON: it ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func kindName(kind string) string {
	switch kind {
	case "string":
		return "a text"
	case "struct", "map":
		return "an object"
	case "slice":
		return "a list"
	}
	return "a " + kind
}

// item turns what was sent into a new item. Errors are in the caller's words.
func (n apiNew) item(by work.Actor) (work.New, error) {
	if n.Key == "" {
		return work.New{}, errors.New("\"key\" is missing: the firm's own name for the invoice")
	}
	if n.Invoice.Total.Number == "" || n.Invoice.Total.Currency == "" {
		return work.New{}, errors.New("\"invoice.total\" needs a \"number\" and a \"currency\"")
	}
	total, err := currency.NewAmount(string(n.Invoice.Total.Number), n.Invoice.Total.Currency)
	if err != nil {
		return work.New{}, fmt.Errorf("the currency %q is not known: use a three-letter code such as EUR", text(n.Invoice.Total.Currency, 20))
	}
	v := work.Invoice{CustomerID: n.Invoice.CustomerID, CustomerName: n.Invoice.CustomerName, Total: total, IssueDate: n.Invoice.IssueDate,
		DueDate: n.Invoice.DueDate, Note: n.Invoice.Note}
	for _, l := range n.Invoice.Lines {
		v.Lines = append(v.Lines, work.Line{Description: l.Description, Quantity: string(l.Quantity), UnitPrice: string(l.UnitPrice), TaxCode: l.TaxCode})
	}
	return work.New{Automation: orText(n.Automation, invoicesAutomation), BusinessKey: n.Key, SystemID: n.System, Invoice: v, Source: "api", Period: n.Period, By: by}, nil
}
