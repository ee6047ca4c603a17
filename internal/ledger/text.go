package ledger

import (
	"strings"
	"unicode/utf8"

	"onefold/internal/work"
)

// Bounds of texts that are stored.
const (
	MaxSentence = 300     // characters of an error or a remark
	MaxExcerpt  = 4 << 10 // bytes of a request or an answer
	maxField    = 200     // characters of a number, a reference, an identity
)

const cutMark = "…"

// clean makes text storable everywhere: valid UTF-8 without zero bytes.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// Short is s on one line, storable, cut to at most limit characters with a mark.
func Short(s string, limit int) string {
	head := s[:min(len(s), 16*limit)] // no work on what is cut anyway
	text := strings.Join(strings.Fields(clean(head)), " ")
	if len(head) == len(s) && utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), limit-1)]) + cutMark
}

// Excerpt is s, storable, cut to at most MaxExcerpt bytes at a character border with a mark.
func Excerpt(s string) string {
	head := s[:min(len(s), 2*MaxExcerpt)]
	text := clean(head)
	if len(head) == len(s) && len(text) <= MaxExcerpt {
		return text
	}
	end := min(len(text), MaxExcerpt-len(cutMark))
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}

func cleanExchange(x work.Exchange) work.Exchange {
	x.Identity = Short(x.Identity, maxField)
	x.Error = Short(x.Error, MaxSentence)
	x.Request = Excerpt(x.Request)
	x.Response = Excerpt(x.Response)
	return x
}

// cleanRecord bounds what is shown of a record. The id is not touched: a changed id is another id.
func cleanRecord(r work.Record) work.Record {
	r.Number = Short(r.Number, maxField)
	r.Reference = Short(r.Reference, maxField)
	r.Customer = Short(r.Customer, maxField)
	if r.URL != clean(r.URL) || len(r.URL) > 1000 || (!strings.HasPrefix(r.URL, "https://") && !strings.HasPrefix(r.URL, "http://")) {
		r.URL = ""
	}
	return r
}
