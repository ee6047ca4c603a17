package xero

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Xero calculates each line as quantity times unit price, rounded to two decimals, and adds the lines up. Unit prices have
// four decimals with unitdp=4, otherwise two; quantities have four (published description and Xero's guide to rounding).
const (
	lineDecimals  = 2
	priceDecimals = 4
	tolerance     = 1 // of the smallest unit: a firm may round the sum where Xero rounds each line
	maxText       = 4000
)

var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,12})?$`)

// body is the writing request's body. It depends on the request and the settings alone: the same key with another body is
// refused. Errors say in the user's words why nothing can be sent.
func (s settings) body(req ledger.Request) ([]byte, error) {
	v := newInvoice{Type: salesInvoice, Contact: contact{req.Invoice.CustomerID}, Date: req.Invoice.IssueDate, DueDate: req.Invoice.DueDate,
		CurrencyCode: req.Invoice.Total.CurrencyCode(), LineAmountTypes: "Inclusive", Status: "DRAFT"}
	if s.approved {
		v.Status = "AUTHORISED"
	}
	v.Reference = req.Reference
	if s.byNumber {
		v.InvoiceNumber = req.Reference
	}
	if v.DueDate == "" && v.Date != "" {
		issued, err := time.Parse(time.DateOnly, v.Date)
		if err != nil {
			return nil, fmt.Errorf("the issue date %q is not a day such as 2026-11-30", ledger.Short(v.Date, 40))
		}
		v.DueDate = issued.AddDate(0, 0, s.dueDays).Format(time.DateOnly)
	}
	var err error
	if v.LineItems, err = s.lines(req.Invoice); err != nil {
		return nil, err
	}
	return json.Marshal(newInvoices{[]newInvoice{v}})
}

func (s settings) lines(v work.Invoice) ([]newLine, error) {
	total := v.Total.Number()
	asked, ok := new(big.Rat).SetString(total)
	if !decimal.MatchString(total) || !ok || asked.Cmp(rounded(asked, lineDecimals)) != 0 {
		return nil, fmt.Errorf("the total %s has more than two decimals, which Xero does not keep", ledger.Short(total, 40))
	}
	lines := v.Lines
	if len(lines) == 0 {
		lines = []work.Line{{Description: "Invoice", Quantity: "1", UnitPrice: total}}
		if v.Note != "" {
			lines[0].Description = v.Note
		}
	}
	var out []newLine
	sum := new(big.Rat)
	for i, l := range lines {
		quantity, price := new(big.Rat), new(big.Rat)
		for _, n := range []struct {
			of         *big.Rat
			name, text string
		}{{quantity, "quantity", l.Quantity}, {price, "unit price", l.UnitPrice}} {
			if !decimal.MatchString(n.text) {
				return nil, fmt.Errorf("line %d: the %s %q is not a number in plain digits", i+1, n.name, ledger.Short(n.text, 40))
			}
			n.of.SetString(n.text)
			if n.of.Cmp(rounded(n.of, priceDecimals)) != 0 {
				return nil, fmt.Errorf("line %d: the %s %s has more than four decimals, which Xero does not keep", i+1, n.name, n.text)
			}
		}
		sum.Add(sum, rounded(quantity.Mul(quantity, price), lineDecimals))
		item := newLine{Description: l.Description, Quantity: json.Number(l.Quantity), UnitAmount: json.Number(l.UnitPrice), AccountCode: s.account, TaxType: l.TaxCode}
		if item.TaxType == "" {
			item.TaxType = s.taxType
		}
		if item.Description == "" {
			item.Description = "-"
		}
		out = append(out, item)
	}
	if v.Note != "" && len(v.Lines) > 0 {
		out = append(out, newLine{Description: v.Note}) // Xero takes a line that is only text
	}
	for _, l := range out {
		if len([]rune(l.Description)) > maxText {
			return nil, errors.New("a description or the note has more than 4000 characters, which Xero does not take")
		}
	}
	if off := new(big.Rat).Sub(sum, asked); off.Abs(off).Cmp(big.NewRat(tolerance, 100)) > 0 {
		return nil, fmt.Errorf("the lines add up to %s, the total is %s: lines must include tax", sum.FloatString(lineDecimals), total)
	}
	return out, nil
}

// rounded is r to so many decimals, half away from zero.
func rounded(r *big.Rat, decimals int) *big.Rat {
	out, _ := new(big.Rat).SetString(r.FloatString(decimals)) // FloatString rounds so
	return out
}
