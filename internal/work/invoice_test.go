package work_test

import (
	"strings"
	"testing"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// TestInvoiceAmounts: cents are never lost or invented, whatever the currency's decimals (trials 58, 61 and 63).
func TestInvoiceAmounts(t *testing.T) {
	for _, c := range []struct {
		number, code string
		problem      string // empty: it can be issued
	}{
		{"100", "EUR", ""},
		{"100.5", "EUR", ""},
		{"0.01", "EUR", ""},
		{"100.000", "EUR", ""}, // only zeros
		{"5000", "JPY", ""},    // trial 58
		{"900", "KRW", ""},
		{"100.50", "JPY", "decimals"},
		{"99999747361065.39", "EUR", ""}, // trial 63
		{"45.00", "EUR", ""},             // trial 61
		{"-45.00", "EUR", "credit note"},
		{"1.234", "KWD", ""},
		{"99999999999999.99", "EUR", ""},
		{"100.005", "EUR", "decimals"},
		{"1000.5", "JPY", "decimals"},
		{"1.2345", "KWD", "decimals"},
		{"0.001", "EUR", "decimals"},
		{"-5", "EUR", "negative"},
		{"-0.01", "EUR", "negative"},
		{"0", "EUR", "zero"},
		{"0.00", "EUR", "zero"},
		{"100000000000000.00", "EUR", "limit"},
		{"99999999999999999999999999999", "EUR", "limit"},
		{"NaN", "EUR", "plain digits"},
		{"Infinity", "EUR", "plain digits"},
		{"1E+5", "EUR", "plain digits"},
	} {
		err := work.Invoice{CustomerID: "C1", Total: mustAmount(c.number, c.code)}.Validate()
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s %s: %v, want %q", c.number, c.code, err, c.problem)
		}
	}
	for name, v := range map[string]work.Invoice{
		"no customer":    {Total: mustAmount("1", "EUR")},
		"blank customer": {CustomerID: " \t", Total: mustAmount("1", "EUR")},
		"no total":       {CustomerID: "C1"},
		"no currency":    {CustomerID: "C1", Total: currency.Amount{}},
	} {
		if v.Validate() == nil {
			t.Errorf("%s: can be issued", name)
		}
	}
}

// TestAmountsAreExact: the stored form holds every digit.
func TestAmountsAreExact(t *testing.T) {
	for _, number := range []string{"0.10", "19.99", "1.15", "99999999999999.99", "99999747361065.39", "0.07"} {
		v := work.Invoice{CustomerID: "C1", Total: mustAmount(number, "EUR")}
		if !strings.Contains(string(v.JSON()), `"`+number+`"`) {
			t.Errorf("%s is stored as %s", number, v.JSON())
		}
	}
}
