package automation

import (
	"strings"
	"testing"
)

func TestGuardDefusesTextAndLeavesNumbers(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "Acme": "Acme", "-45.00": "-45.00", "0": "0", "12.5": "12.5", "'": "'", "'Acme": "'Acme", "O'=1": "O'=1",
		"=1+1": "'=1+1", "+49 30 1": "'+49 30 1", "-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "-": "'-",
		"-45.00 EUR": "'-45.00 EUR", "--5": "'--5", "+5": "'+5", "＝1": "'＝1", "'=1": "''=1", "''": "'''", "'+": "''+", "'＠": "''＠",
	} {
		if got := Guard(cell); got != want {
			t.Errorf("%q becomes %q, not %q", cell, got, want)
		}
	}
}

func FuzzGuardIsUndone(f *testing.F) {
	for _, s := range []string{"'", "''", "'''=", "'=1", "-1", "-1x", "＝", "'\xff", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g := Guard(s)
		if unguard(g) != s {
			t.Errorf("%q becomes %q and then %q", s, g, unguard(g))
		}
		if startsWith(g, formulaSigns) && !trueNumber.MatchString(g) || !strings.HasSuffix(g, s) {
			t.Errorf("%q becomes %q", s, g)
		}
	})
}
