package store

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// units is an amount in ten-thousandths, which every currency fits exactly.
type units struct{ n *big.Int }

const unitDigits = 4

// int64 is the amount as SQLite holds it; what does not fit is beyond every invoice.
func (u units) int64() int64 {
	if !u.n.IsInt64() {
		if u.n.Sign() < 0 {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	return u.n.Int64()
}

// longestAmount is more than any amount has, in characters.
const longestAmount = 40

var decimal = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// parseUnits reads a decimal such as "100.50". More decimals than units have are rounded up or down.
func parseUnits(text string, up bool) (units, error) {
	text = strings.TrimSpace(text)
	if len(text) > longestAmount || !decimal.MatchString(text) {
		return units{}, fmt.Errorf("the amount %q is not a decimal number", tidy(text, longestAmount))
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return units{}, fmt.Errorf("the amount %q is not a decimal number", text)
	}
	r.Mul(r, big.NewRat(10_000, 1))
	n, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int)) // toward minus infinity
	if up && rest.Sign() != 0 {
		n.Add(n, big.NewInt(1))
	}
	return units{n}, nil
}

// symbols are the currencies that people write as a sign.
var symbols = map[string][]string{
	"€": {"EUR"}, "£": {"GBP"}, "$": {"USD", "AUD", "CAD", "HKD", "NZD", "SGD"}, "¥": {"JPY", "CNY"}, "₹": {"INR"}, "₺": {"TRY"}, "zł": {"PLN"},
	"kč": {"CZK"}, "kr": {"DKK", "NOK", "SEK"}, "kr.": {"DKK", "NOK", "SEK"}, "fr.": {"CHF"},
}

var (
	codeBefore = regexp.MustCompile(`^([^\d\s.,'’+-]{1,3}\.?)\s*(\d.*)$`)
	codeAfter  = regexp.MustCompile(`^(.*\d)\s*([^\d\s,'’+-]{1,3})$`)
	letters    = regexp.MustCompile(`^[A-Za-z]{3}$`)
)

// readAmount understands an amount as people write it: "1,234.50", "1.234,50", "129", "EUR 129", "129 €". A point or comma
// before three digits may be either; then both amounts are meant. No currencies: any. Not an amount: no amounts.
func readAmount(text string) (amounts []units, currencies []string) {
	text = strings.TrimSpace(text)
	if len(text) > longestAmount {
		return nil, nil
	}
	sign := ""
	if m := codeBefore.FindStringSubmatch(text); m != nil {
		sign, text = m[1], m[2]
	} else if m := codeAfter.FindStringSubmatch(text); m != nil {
		text, sign = m[1], m[2]
	}
	if sign != "" {
		switch list, known := symbols[strings.ToLower(sign)]; {
		case known:
			currencies = list
		case letters.MatchString(sign):
			currencies = []string{strings.ToUpper(sign)}
		default:
			return nil, nil
		}
	}
	for _, number := range readings(text) {
		if n, err := parseUnits(number, false); err == nil && n.n.Sign() > 0 {
			amounts = append(amounts, n)
		}
	}
	return amounts, currencies
}

var (
	groupsOf = func(mark string) *regexp.Regexp { return regexp.MustCompile(`^\d{1,3}(` + mark + `\d{3})+$`) }
	grouped  = map[string]*regexp.Regexp{",": groupsOf(","), ".": groupsOf(`\.`), " ": groupsOf(" "), "'": groupsOf("'")}
	digits   = regexp.MustCompile(`^\d+$`)
)

// readings are the decimals that a number may mean. A number that begins with a zero is a key, unless it is below one.
func readings(text string) (list []string) {
	text = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "’", "'").Replace(text)
	for _, point := range []string{"", ".", ","} {
		whole, decimals := text, ""
		if point != "" {
			at := strings.LastIndex(text, point)
			if at < 0 || strings.Count(text, point) > 1 {
				continue
			}
			whole, decimals = text[:at], text[at+1:]
			if !digits.MatchString(decimals) || len(decimals) > unitDigits {
				continue
			}
		}
		for _, mark := range []string{"", ",", ".", " ", "'"} {
			if mark != "" && (mark == point || !grouped[mark].MatchString(whole)) {
				continue
			}
			plain := whole
			if mark != "" {
				plain = strings.ReplaceAll(whole, mark, "")
			}
			if !digits.MatchString(plain) || strings.HasPrefix(plain, "0") && (plain != "0" || decimals == "") {
				continue
			}
			if decimals != "" {
				plain += "." + decimals
			}
			if !slices.Contains(list, plain) {
				list = append(list, plain)
			}
		}
	}
	return list
}
