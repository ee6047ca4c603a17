package rest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// T21: amounts become smallest units and come back without a float in between; what does not fit fails.
func TestT21_SmallestUnits(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`"47.99" | minor("EUR")`, "4799"}, {`"47.9" | minor("EUR")`, "4790"}, {`"47" | minor("EUR")`, "4700"}, {`"0.05" | minor("EUR")`, "5"}, {`"0.00" | minor("EUR")`, "0"},
		{`"99999999999999.99" | minor("EUR")`, "9999999999999999"}, {`"1200" | minor("JPY")`, "1200"}, {`"1.234" | minor("KWD")`, "1234"}, {`"47.9900" | minor("EUR")`, "4799"},
		{`"-1.50" | minor("EUR")`, "-150"}, {`"47.999" | minor("EUR")`, "fails"}, {`"47.9" | minor("JPY")`, "fails"}, {`"1,000" | minor("EUR")`, "fails"}, {`"1" | minor("XXX1")`, "fails"},
		{`null | minor("EUR")`, "fails"}, {`4799 | major("EUR")`, "47.99"}, {`5 | major("EUR")`, "0.05"}, {`0 | major("EUR")`, "0.00"}, {`"9999999999999999" | major("EUR")`, "99999999999999.99"},
		{`1200 | major("JPY")`, "1200"}, {`-150 | major("EUR")`, "-1.50"}, {`47.99 | major("EUR")`, "fails"}, {`null | major("EUR")`, "fails"},
		{`"99999999999999.99" | decimal`, "99999999999999.99"}, {`"007" | decimal`, "fails"}, {`"1e3" | decimal`, "fails"}, {`"" | decimal`, "fails"}, {`true | decimal`, "fails"},
		{`.big`, "12345678901234567890.10"}, {`.big | decimal`, "12345678901234567890.10"}, {`.big | text`, "fails"}, {`"x" | number`, "fails"}, {`null | list`, "fails"},
	} {
		e, err := newExpression(1, "test", c.source)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.value(document{input: map[string]any{"big": json.Number("12345678901234567890.10")}})
		got := fmt.Sprint(v)
		if err != nil {
			got = "fails"
		}
		if got != c.want {
			t.Errorf("%s is %s, want %s", c.source, got, c.want)
		}
	}
}

// An expression ends in time and its value is bounded, whatever it does.
func TestExpressionsAreBounded(t *testing.T) {
	for source, says := range map[string]string{
		`"x" * 300000`: "too large", `{a: [("x" * 300000)]}`: "too large", `{("x" * 300000): 1}`: "too large", `last(repeat(1))`: "too long",
		`def f: f; f`: "too long", `halt`: "halt", `"x" * 3000000000`: "too large", `[limit(1; repeat("x" * 300000))] | .[0]`: "too large", `error("secret")`: "refuses",
	} {
		e, err := newExpression(7, "part", source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.value(document{input: map[string]any{}}); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "line 7, part") {
			t.Errorf("%s: %v", source, err)
		}
	}
	if _, err := newExpression(1, "part", strings.Repeat("1+", maxExpression)+"1"); err == nil {
		t.Error("an expression without end is taken")
	}
}
