package rest

import (
	"encoding/json"
	"fmt"
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
