package xero

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const (
	invoicesPath     = "/api.xro/2.0/Invoices"
	organisationPath = "/api.xro/2.0/Organisation"
	salesInvoice     = "ACCREC"
	bill             = "ACCPAY"
)

// statuses are all that the published description knows.
var statuses = []string{"DRAFT", "SUBMITTED", "AUTHORISED", "PAID", "VOIDED", "DELETED"}

// newInvoices is the body of a writing request; it always holds one.
type newInvoices struct {
	Invoices []newInvoice `json:"Invoices"`
}

// newInvoice is what we send. Amounts are decimals as they were given, never floats.
type newInvoice struct {
	Type            string    `json:"Type"`
	Contact         contact   `json:"Contact"` // the id alone: more would change the contact
	InvoiceNumber   string    `json:"InvoiceNumber,omitempty"`
	Reference       string    `json:"Reference,omitempty"`
	Date            string    `json:"Date,omitempty"`
	DueDate         string    `json:"DueDate,omitempty"`
	CurrencyCode    string    `json:"CurrencyCode"`
	LineAmountTypes string    `json:"LineAmountTypes"`
	LineItems       []newLine `json:"LineItems"`
	Status          string    `json:"Status"`
}

type newLine struct {
	Description string      `json:"Description"`
	Quantity    json.Number `json:"Quantity,omitempty"`
	UnitAmount  json.Number `json:"UnitAmount,omitempty"`
	AccountCode string      `json:"AccountCode,omitempty"`
	TaxType     string      `json:"TaxType,omitempty"`
}

type contact struct {
	ContactID string `json:"ContactID"`
}

// invoice is a record as Xero tells it. The id is text; a number there is an answer that we cannot trust.
type invoice struct {
	Type             string          `json:"Type"`
	InvoiceID        json.RawMessage `json:"InvoiceID"`
	InvoiceNumber    string          `json:"InvoiceNumber"`
	Reference        string          `json:"Reference"`
	Contact          contact         `json:"Contact"`
	Total            json.Number     `json:"Total"`
	CurrencyCode     string          `json:"CurrencyCode"`
	Status           string          `json:"Status"`
	HasErrors        bool            `json:"HasErrors"`
	Attribute        string          `json:"StatusAttributeString"`
	ValidationErrors []message       `json:"ValidationErrors"`
}

type message struct {
	Message string `json:"Message"`
}

// answer is every body of the invoices endpoint: a list, or a refusal.
type answer struct {
	Invoices   *[]invoice `json:"Invoices"`
	Pagination *struct {
		Page      int `json:"page"`
		PageCount int `json:"pageCount"`
		ItemCount int `json:"itemCount"`
	} `json:"pagination"`

	Type     string    `json:"Type"` // of a refusal, for example ValidationException
	Message  string    `json:"Message"`
	Title    string    `json:"Title"` // of 401, 403
	Detail   string    `json:"Detail"`
	Elements []invoice `json:"Elements"`
}

func (v invoice) id() (id string) {
	if len(v.InvoiceID) > 0 && v.InvoiceID[0] == '"' {
		_ = json.Unmarshal(v.InvoiceID, &id)
	}
	return id
}

// failed reports whether the element was refused, inside whatever status.
func (v invoice) failed() bool {
	return v.HasErrors || v.Attribute == "ERROR" || len(v.ValidationErrors) > 0
}

func (v invoice) reference(byNumber bool) string {
	if byNumber {
		return v.InvoiceNumber
	}
	return v.Reference
}

// record translates. Contact ids are compared without case, as ids of this form are; asked may be empty.
func (v invoice) record(byNumber bool, askedCustomer string) work.Record {
	r := work.Record{ID: v.id(), Number: v.InvoiceNumber, Reference: v.reference(byNumber), Customer: v.Contact.ContactID}
	if guid.MatchString(askedCustomer) && strings.EqualFold(r.Customer, askedCustomer) {
		r.Customer = askedCustomer
	}
	if total, err := currency.NewAmount(v.Total.String(), v.CurrencyCode); err == nil {
		r.Total = total
	}
	switch v.Status {
	case "DRAFT", "SUBMITTED":
		r.State = work.StateDraft
	case "AUTHORISED", "PAID":
		r.State = work.StatePosted
	case "VOIDED", "DELETED":
		r.State = work.StateVoid
	}
	if ledger.UsableID(r.ID) {
		// Xero's guide to deep links, without the organisation's short code: opens in the organisation used last.
		r.URL = "https://go.xero.com/AccountsReceivable/View.aspx?InvoiceID=" + url.QueryEscape(r.ID)
	}
	return r
}

// reasons are all that a refusal says, the elements' own errors first.
func (a answer) reasons() []string {
	var all []string
	for _, list := range [][]invoice{a.Elements, one(a.Invoices)} {
		for _, v := range list {
			for _, m := range v.ValidationErrors {
				all = append(all, m.Message)
			}
		}
	}
	if len(all) == 0 {
		for _, s := range []string{a.Message, a.Detail, a.Title} {
			if strings.TrimSpace(s) != "" {
				return []string{s}
			}
		}
	}
	return all
}

func one(list *[]invoice) []invoice {
	if list == nil {
		return nil
	}
	return *list
}

// spoken reports whether the body is a refusal of Xero's own making.
func (a answer) spoken() bool { return a.Type != "" || a.Title != "" || len(a.Elements) > 0 }

// duplicate: "Invoice # must be unique." Wider rather than narrower: taken for a refusal, a duplicate would be sent again.
func duplicate(reasons []string) bool { return says(reasons, "must be unique") }

// keyReused: "Idempotency Key … is used with a different request". Something went out under this key within six minutes.
func keyReused(reasons []string) bool {
	return says(reasons, "idempotency") && says(reasons, "different request")
}

func says(reasons []string, words string) bool {
	return strings.Contains(strings.ToLower(strings.Join(reasons, "\n")), words)
}

func reasonOf(reasons []string) string {
	text := strings.TrimSpace(strings.Join(reasons, " "))
	if text == "" {
		return "no reason given"
	}
	// Short before Map: a reason may be very long.
	return strings.Map(plainly, ledger.Short(text, ledger.MaxSentence-40))
}

// plainly keeps markup out of a sentence.
func plainly(r rune) rune {
	if r == '<' || r == '>' {
		return ' '
	}
	return r
}

type connection struct {
	ID   string `json:"tenantId"`
	Type string `json:"tenantType"`
	Name string `json:"tenantName"`
}

// connectionsOf reads a bare list, which Reply.Object takes for the wrong answer everywhere else.
func connectionsOf(reply ledger.Reply) ([]connection, bool) {
	var list []connection
	ok := !reply.Cut && !reply.HTML() && reply.Status == 200 && json.Unmarshal(reply.Body, &list) == nil && list != nil
	return list, ok
}
