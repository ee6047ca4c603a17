package automation

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// What a spreadsheet takes for the beginning of a formula, also in the wide signs of East Asian keyboards.
const formulaSigns = "=+-@\t\r＝＋－＠"

var trueNumber = regexp.MustCompile(`^-?[0-9]{1,20}(\.[0-9]{1,12})?$`)

// Guard returns the cell of an export so that no spreadsheet takes it for a formula: text gets an apostrophe before it,
// true numbers stay numbers. Our import takes the apostrophe away again, and no other.
func Guard(cell string) string {
	if !trueNumber.MatchString(cell) && (startsWith(cell, formulaSigns) || guarded(cell)) {
		return "'" + cell
	}
	return cell
}

// Unguard undoes Guard.
func Unguard(cell string) string { return unguard(cell) }

// unguard undoes Guard.
func unguard(cell string) string {
	if guarded(cell) {
		return cell[1:]
	}
	return cell
}

// guarded reports whether the cell looks like one that Guard made.
func guarded(cell string) bool {
	return strings.HasPrefix(cell, "'") && startsWith(cell[1:], formulaSigns+"'")
}

func startsWith(s, signs string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && strings.ContainsRune(signs, r)
}
