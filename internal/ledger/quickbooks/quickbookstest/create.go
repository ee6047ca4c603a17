package quickbookstest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"onefold/internal/work"
)

type asked struct {
	DocNumber   string
	CustomerRef struct{ Value string }
	CurrencyRef struct{ Value string }
	Tax         string `json:"GlobalTaxCalculation"`
	PrivateNote string
	Line        []struct {
		DetailType string
		Amount     json.Number
		Detail     struct {
			ItemRef        struct{ Value string }
			Qty, UnitPrice json.Number
			TaxInclusive   json.Number `json:"TaxInclusiveAmt"`
		} `json:"SalesItemLineDetail"`
	}
}

// create carries a create out, or brings the first answer back if the requestid is remembered.
func (c *Company) create(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("requestid")
	if len(key) > 50 {
		tell(w, 400, fault("ValidationFault", "2130", "Invalid request id", "at most 50 characters"))
		return
	}
	if a, ok := c.answers[key]; ok && key != "" && c.now().Before(a.until) {
		tell(w, a.status, a.body)
		return
	}
	body, _ := io.ReadAll(r.Body)
	c.Bodies = append(c.Bodies, body)
	status, said := c.refusal(w)
	if status == 0 {
		status, said = c.make(body)
	}
	if key != "" && (status == 200 || c.o.KeepRefusal) {
		c.answers[key] = answer{status, said, c.now().Add(c.o.KeyLifetime)}
	}
	tell(w, status, said)
}

// refusal is the fault that the company was told to commit instead of the work; 0: none.
func (c *Company) refusal(w http.ResponseWriter) (status int, body string) {
	const why = "the customer is blocked"
	switch c.faults[work.Send] {
	case "reject":
		return 400, fault("ValidationFault", "6000", "A business validation error has occurred while processing your request", why)
	case "reject_final":
		return 400, fault("ValidationFault", "2020", "Required param missing, need to supply the required value for the API", why)
	case "reject_charset":
		w.Header().Set("Content-Type", "Application/JSON; charset=UTF-8")
		return 400, fault("ValidationFault", "6000", "", why)
	case "reject_long":
		return 400, fault("ValidationFault", "6000", "", strings.Repeat("Größe ungültig 💶 ", 10_000))
	case "reject_zero_byte":
		return 400, fault("ValidationFault", "6000", "", "zero\x00byte")
	case "reject_not_utf8":
		return 400, strings.Replace(fault("ValidationFault", "6000", "", "ung*ltig"), "*", "\xfc", 1)
	case "reject_in_200":
		return 200, fault("ValidationFault", "6000", "", why)
	case "duplicate_error":
		return 400, fault("ValidationFault", "6140", "Duplicate Document Number Error", "Duplicate Document Number Error : You must specify a different number.")
	case "duplicate_in_xml":
		w.Header().Set("Content-Type", "application/xml")
		return 400, inXML("ValidationFault", "6140", "Duplicate Document Number Error")
	case "reject_in_xml":
		w.Header().Set("Content-Type", "application/xml")
		return 400, inXML("ValidationFault", "6000", why)
	case "throttled_in_xml":
		w.Header().Set("Content-Type", "application/xml")
		return 403, inXML("SERVICE", "3001", "message=ThrottleExceeded; errorCode=003001; statusCode=403")
	case "duplicate_in_french":
		return 400, fault("ValidationFault", "6140", "Numéro de document en double", "")
	case "id_used":
		return 400, fault("ValidationFault", "600", "Duplicate request id", "")
	case "system_fault":
		return 400, fault("SystemFault", "10000", "An application error has occurred while processing your request", "")
	case "no_access":
		return 403, noAccess
	case "throttled_403":
		return 403, `{"fault":{"error":[{"message":"message=ThrottleExceeded; errorCode=003001; statusCode=403","code":"3001"}],"type":"SERVICE"}}`
	}
	return 0, ""
}

func inXML(kind, code, message string) string {
	return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><IntuitResponse time="2026-11-30T01:00:00.000-08:00" xmlns="http://schema.intuit.com/finance/v3"><Fault type="` +
		kind + `"><Error code="` + code + `"><Message>` + message + `</Message><Detail></Detail></Error></Fault></IntuitResponse>`
}

// make makes the invoice, or refuses it as the vendor does.
func (c *Company) make(body []byte) (status int, said string) {
	var a asked
	if json.Unmarshal(body, &a) != nil || len(a.Line) == 0 {
		return 400, fault("ValidationFault", "2010", "Request has invalid or unsupported property", "")
	}
	sum := new(big.Rat)
	for _, l := range a.Line {
		amount, ok := new(big.Rat).SetString(l.Amount.String())
		if !ok || l.DetailType != "SalesItemLineDetail" || l.Detail.ItemRef.Value != Item {
			return 400, fault("ValidationFault", "2500", "Invalid Reference Id", "Invalid Reference Id : Item elements id "+l.Detail.ItemRef.Value+" not found")
		}
		if l.Detail.UnitPrice != "" && product(l.Detail.Qty.String(), l.Detail.UnitPrice.String()).Cmp(amount) != 0 {
			return 400, fault("ValidationFault", "6070", "Invalid or missing amount", "Amount is not equal to UnitPrice * Qty")
		}
		if a.Tax == "TaxInclusive" && l.Detail.TaxInclusive != l.Amount {
			amount.Mul(amount, big.NewRat(119, 100)) // a net amount: the tax comes on top
		}
		sum.Add(sum, amount)
	}
	switch {
	case a.CustomerRef.Value != Customer && a.CustomerRef.Value != Other:
		return 400, fault("ValidationFault", "2500", "Invalid Reference Id", "Invalid Reference Id : Names elements id "+a.CustomerRef.Value+" not found")
	case utf8.RuneCountInString(a.DocNumber) > 21:
		return 400, fault("ValidationFault", "2050", "String length is either shorter or longer than supported", "DocNumber")
	}
	v := &Invoice{ID: strconv.Itoa(len(c.invoices) + 145), Number: a.DocNumber, Asked: a.DocNumber, Customer: a.CustomerRef.Value,
		Currency: a.CurrencyRef.Value, Total: sum.FloatString(2), Note: a.PrivateNote, Made: c.now()}
	if c.o.OwnNumbers {
		v.Number = strconv.Itoa(len(c.invoices) + 1038)
	}
	for _, other := range c.invoices {
		if c.o.Unique && other.Number == v.Number && !other.Deleted {
			return 400, fault("ValidationFault", "6140", "Duplicate Document Number Error", "DocNumber="+v.Number+" is assigned to TxnType=Invoice with TxnId="+other.ID)
		}
	}
	c.spoil(v, sum)
	c.invoices = append(c.invoices, v)
	shown := c.shown(v)
	switch c.faults[work.Send] {
	case "zero_id":
		shown["Id"] = "0"
	case "null_id":
		shown["Id"] = nil
	case "empty_id":
		shown["Id"] = ""
	case "numeric_id":
		shown["Id"] = 145
	}
	out := map[string]any{"Invoice": shown, "time": "2026-11-30T01:00:00.000-08:00"}
	if c.faults[work.Send] == "both" {
		out["Fault"] = map[string]any{"type": "ValidationFault", "Error": []map[string]string{{"code": "6000"}}}
	}
	body, err := json.Marshal(out)
	if err != nil {
		return 500, fmt.Sprint(err)
	}
	return 200, string(body)
}

// spoil stores something else than was asked for.
func (c *Company) spoil(v *Invoice, sum *big.Rat) {
	switch c.faults[work.Send] {
	case "total_times_100":
		v.Total = sum.Mul(sum, big.NewRat(100, 1)).FloatString(2)
	case "total_plus_one":
		v.Total = sum.Add(sum, big.NewRat(1, 1)).FloatString(2)
	case "other_customer":
		v.Customer = Other
	case "voided":
		v.Void = true
	case "deleted":
		v.Deleted, v.StillShown = true, true
	case "trim_reference":
		v.Number = strings.TrimSpace(v.Number)
	case "upper_reference":
		v.Number = strings.ToUpper(v.Number)
	}
}
