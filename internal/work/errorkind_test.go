package work_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"onefold/internal/work"
)

func TestErrorKindIsTheSameForTheSameTrouble(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"no answer after 30s", "no answer after 31s", "no answer after #"},
		{`customer "C-1" is unknown`, `customer "Straße 2" is unknown`, `customer "…" is unknown`},
		{"the accounting system is unreachable (502), outcome unknown", "the accounting system is unreachable (503), outcome unknown",
			"the accounting system is unreachable (#), outcome unknown"},
		{"", "", ""},
	} {
		if a, b := work.ErrorKind(c.a), work.ErrorKind(c.b); a != c.want || b != c.want {
			t.Errorf("%q and %q are %q and %q, want %q", c.a, c.b, a, b, c.want)
		}
	}
	if got := work.ErrorKind(strings.Repeat("ä\x00\xff ", 500)); !utf8.ValidString(got) || utf8.RuneCountInString(got) > 120 || strings.ContainsRune(got, 0) {
		t.Errorf("a hostile text: %q", got)
	}
}
