package web

import (
	"slices"
	"strings"

	"github.com/bojanz/currency"

	"onefold/web/templates"
)

// What is wrong with a typed number: codes of templates.Words.Number.
const (
	noNumber = "number"
	twoWays  = "two_ways" // "1,234": a thousand here, one and a bit there
)

const (
	mostDigits   = 20
	mostDecimals = 12
)

var (
	typedMarks = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2019", "'", "\u2212", "-")
	// groupMarks are what stands between thousands.
	groupMarks = []string{"", " ", "'", ",", "."}
)

// typedNumber reads a number as people type it: "495,60", "1 234,50", "1.234,50", "1,234.50" or "1'234". It returns plain
// digits with a point, or the code of what is wrong. What could be two numbers is none, unless the currency has three
// decimals and the mark is a point.
func typedNumber(typed, code string) (plain, fault string) {
	s, sign := typedMarks.Replace(strings.TrimSpace(typed)), ""
	if rest, minus := strings.CutPrefix(s, "-"); minus {
		s, sign = rest, "-"
	}
	whole, decimals, mark := s, "", ""
	if at := strings.LastIndexAny(s, ".,"); at >= 0 && strings.Count(s, s[at:at+1]) == 1 {
		whole, decimals, mark = s[:at], s[at+1:], s[at:at+1]
		if !onlyDigits(decimals) || len(decimals) > mostDecimals {
			return "", noNumber
		}
		of, known := currency.GetDigits(code)
		thousands := len(decimals) == 3 && onlyDigits(whole) && len(whole) <= 3 && whole[0] != '0'
		if thousands && (!known || of != 3 || mark != ".") {
			return "", twoWays
		}
	}
	for _, between := range groupMarks {
		if digits, ok := ungrouped(whole, between); ok && (between == "" || between != mark) {
			if decimals != "" {
				digits += "." + decimals
			}
			return sign + digits, ""
		}
	}
	return "", noNumber
}

func onlyDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// ungrouped takes the marks between thousands out of a whole number.
func ungrouped(s, between string) (string, bool) {
	if between == "" {
		return s, onlyDigits(s) && len(s) <= mostDigits
	}
	groups := strings.Split(s, between)
	for i, g := range groups {
		if !onlyDigits(g) || i > 0 && len(g) != 3 || i == 0 && (len(g) > 3 || g[0] == '0') {
			return "", false
		}
	}
	digits := strings.Join(groups, "")
	return digits, len(digits) <= mostDigits
}

// formNumber reads a number that stands in a form, or says in the person's words what is wrong with it. A number that was
// there before stays as it was.
func formNumber(typed, code string, stood []string) (plain, problem string) {
	typed = strings.TrimSpace(typed)
	if slices.Contains(stood, typed) {
		return typed, ""
	}
	plain, fault := typedNumber(typed, code)
	if fault == "" {
		return plain, ""
	}
	large := strings.NewReplacer(",", "", ".", "").Replace(typed)
	return "", say(templates.Words.Number[fault], "typed", text(typed, 40), "large", large, "small", strings.Replace(typed, ",", ".", 1)+"0")
}
