package work

import (
	"strings"
	"unicode"
)

// maxErrorKind is the longest ErrorKind, in characters.
const maxErrorKind = 120

// ErrorKind is an error text without what differs from item to item, so that one trouble looks like one thing: words
// that contain a digit become "#", anything in quotation marks becomes "…", and the text is cut. Empty for an empty text.
func ErrorKind(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = unquote(text)
	words := strings.Fields(text)
	for i, w := range words {
		core := strings.Trim(w, "().,:;")
		if at := strings.Index(w, core); strings.ContainsFunc(core, unicode.IsDigit) {
			words[i] = w[:at] + "#" + w[at+len(core):]
		}
	}
	kind := []rune(strings.Join(words, " "))
	if len(kind) > maxErrorKind {
		kind = append(kind[:maxErrorKind-1], '…')
	}
	return string(kind)
}

// unquote replaces what stands between double quotation marks.
func unquote(text string) string {
	parts := strings.Split(text, `"`)
	if len(parts)%2 == 0 { // one is missing: nothing is certain
		return text
	}
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "…"
	}
	return strings.Join(parts, `"`)
}
