package ledger

import (
	"strings"
	"testing"
	"unicode/utf8"

	"onefold/internal/work"
)

func TestTrial123_TextsAreStorable(t *testing.T) {
	for name, text := range map[string]string{
		"200 KB":       strings.Repeat("Größe 💶 ", 20_000),
		"zero byte":    "zero\x00byte",
		"not UTF-8":    "ung\xfcltig",
		"cut in half":  strings.Repeat("a", MaxExcerpt-1) + "💶" + strings.Repeat("b", 100),
		"all of marks": strings.Repeat("\xff", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			x := cleanExchange(work.Exchange{Error: text, Request: text, Response: text, Identity: text})
			for _, s := range []string{x.Error, x.Request, x.Response, x.Identity} {
				if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || s == "" {
					t.Errorf("not storable: %.60q", s)
				}
			}
			if utf8.RuneCountInString(x.Error) > MaxSentence || len(x.Response) > MaxExcerpt || len(x.Request) > MaxExcerpt {
				t.Errorf("too long: %d characters, %d bytes", utf8.RuneCountInString(x.Error), len(x.Response))
			}
			if len(text) > 10_000 && (!strings.HasSuffix(x.Error, cutMark) || !strings.HasSuffix(x.Response, cutMark)) {
				t.Error("the cut is not marked")
			}
		})
	}
	if r := cleanRecord(work.Record{URL: "javascript:alert(1)"}); r.URL != "" {
		t.Errorf("URL %q", r.URL)
	}
}
