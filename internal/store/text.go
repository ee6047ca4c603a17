package store

import (
	"strings"
	"unicode/utf8"
)

// Bounds of text that comes from outside, in bytes. No state change depends on them: longer text is cut.
const (
	maxShort = 2000
	maxLong  = 16 << 10
)

// tidy makes text storable whatever it holds: valid UTF-8, no NUL, at most limit bytes.
func tidy(s string, limit int) string {
	if len(s) <= limit && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
