package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/bojanz/currency"
	"github.com/itchyny/gojq"
)

// functions are what definitions have beside jq's own.
func functions() []gojq.CompilerOption {
	return []gojq.CompilerOption{
		gojq.WithFunction("text", 0, 0, func(v any, _ []any) any {
			if s, ok := v.(string); ok {
				return s
			}
			return fmt.Errorf("a text is needed, not %s", gojq.TypeOf(v))
		}),
		gojq.WithFunction("number", 0, 0, func(v any, _ []any) any {
			if gojq.TypeOf(v) == "number" {
				return v
			}
			return fmt.Errorf("a number is needed, not %s", gojq.TypeOf(v))
		}),
		gojq.WithFunction("list", 0, 0, func(v any, _ []any) any {
			if l, ok := v.([]any); ok {
				return l
			}
			return fmt.Errorf("a list is needed, not %s", gojq.TypeOf(v))
		}),
		gojq.WithFunction("decimal", 0, 0, func(v any, _ []any) any {
			n, ok := decimal(v)
			if !ok {
				return fmt.Errorf("a decimal number is needed, not %s", gojq.TypeOf(v))
			}
			return json.Number(n)
		}),
		gojq.WithFunction("minor", 1, 1, func(v any, args []any) any { return minor(v, args[0]) }),
		gojq.WithFunction("major", 1, 1, func(v any, args []any) any { return major(v, args[0]) }),
	}
}

var plainDecimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// decimal is a number or a text as plain digits; a number keeps the digits that it was written with.
func decimal(v any) (string, bool) {
	text := fmt.Sprint(v)
	if s, ok := v.(string); !ok && gojq.TypeOf(v) != "number" {
		return "", false
	} else if ok {
		text = s
	}
	return text, plainDecimal.MatchString(text)
}

// minor is an amount in the smallest units of its currency: "47.99" | minor("EUR") is 4799.
func minor(v, code any) any {
	number, ok := decimal(v)
	name, _ := code.(string)
	digits, known := currency.GetDigits(name)
	if !ok || !known {
		return errors.New("an amount and a currency are needed")
	}
	whole, part, _ := strings.Cut(number, ".")
	if cut := strings.TrimRight(part, "0"); len(cut) > int(digits) {
		return errors.New("the amount has more decimals than its currency")
	}
	for len(part) < int(digits) {
		part += "0"
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	text := strings.TrimLeft(whole+part[:digits], "0")
	if text == "" {
		return json.Number("0")
	}
	return json.Number(sign + text)
}

// major is the amount that so many smallest units of a currency are, as a text: 4799 | major("EUR") is "47.99".
func major(v, code any) any {
	number, ok := decimal(v)
	name, _ := code.(string)
	digits, known := currency.GetDigits(name)
	if !ok || !known || strings.Contains(number, ".") {
		return errors.New("a whole number of smallest units and a currency are needed")
	}
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	if digits == 0 {
		return sign + number
	}
	for len(number) <= int(digits) {
		number = "0" + number
	}
	at := len(number) - int(digits)
	return sign + number[:at] + "." + number[at:]
}
