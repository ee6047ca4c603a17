package web

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bojanz/currency"

	"onefold/web/templates"
)

// view turns what is stored into what is shown, at one moment and in one zone.
type view struct {
	zone *time.Location
	now  time.Time
}

func (v view) stamp(t time.Time) templates.Stamp {
	if t.IsZero() {
		return templates.Stamp{}
	}
	return templates.Stamp{ISO: t.UTC().Format(time.RFC3339), Exact: t.In(v.zone).Format("2006-01-02 15:04:05 MST")}
}

// ago is the moment as a distance: "3 min ago".
func (v view) ago(t time.Time) templates.Stamp {
	s := v.stamp(t)
	if s.ISO != "" {
		s.Text, s.Live = templates.Words.Ago(int64(t.Sub(v.now)/time.Second)), true
	}
	return s
}

// ahead is when something planned happens: what is due happens in a moment, not just now.
func (v view) ahead(t time.Time) templates.Stamp {
	s := v.ago(t)
	if s.ISO != "" && !t.After(v.now) {
		s.Text, s.Live = templates.Words.Soon, false
	}
	return s
}

// clock is the moment as a time of day; with the date if it is another one. Days are those of the zone.
func (v view) clock(t time.Time) templates.Stamp {
	s := v.stamp(t)
	if s.ISO == "" {
		return s
	}
	local, now := t.In(v.zone), v.now.In(v.zone)
	switch {
	case local.Year() != now.Year():
		s.Text = local.Format("2 Jan 2006 15:04")
	case local.YearDay() != now.YearDay():
		s.Text = local.Format("2 Jan 15:04")
	default:
		s.Text = local.Format("15:04")
	}
	return s
}

// exact is the moment as it is put on record: with day and second.
func (v view) exact(t time.Time) templates.Stamp {
	s := v.stamp(t)
	s.Text = t.In(v.zone).Format("2 Jan 2006 15:04:05")
	return s
}

var (
	formatter = newFormatter(currency.DisplayCode)
	bare      = newFormatter(currency.DisplayNone)
)

func newFormatter(d currency.Display) *currency.Formatter {
	f := currency.NewFormatter(currency.NewLocale("en"))
	f.CurrencyDisplay = d
	return f
}

func amount(a currency.Amount) string       { return formatter.Format(a) }
func amountNumber(a currency.Amount) string { return bare.Format(a) }

// price is a decimal as an amount of the currency, or as it is if it is none.
func price(number, code string) string {
	a, err := currency.NewAmount(number, code)
	if err != nil {
		return text(number, 30)
	}
	return amountNumber(a)
}

// text makes foreign text fit for a page: valid, without control characters, and cut with a mark at a character's end.
func text(s string, longest int) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	cut := []rune(s[:min(len(s), longest*utf8.UTFMax)])
	return strings.TrimRightFunc(string(cut[:min(longest, len(cut))]), unicode.IsSpace) + templates.Words.Cut
}

// sentence begins with a capital letter, as adapters' texts do not.
func sentence(s string) string {
	if s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// fullSentence is a text that ends with a full stop; empty stays empty.
func fullSentence(s string) string {
	if s = sentence(s); s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// name is the part of a recorded label that people know: "person:7 Ada Brown" is Ada Brown.
func name(label string) string {
	_, n, found := strings.Cut(label, " ")
	if !found {
		return label
	}
	return n
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
