package ledger

import (
	"net/http"
	"testing"
	"time"
)

func TestTrial97And98And99_RetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 700_000_000, time.UTC)
	at := func(d time.Duration, layout string) string { return now.Add(d).UTC().Format(layout) }
	for name, c := range map[string]struct {
		text, date  string
		least, most time.Duration
	}{
		"none":                      {"", "", 0, 0},
		"97 seconds":                {"40000", "", 40000 * time.Second, 40000 * time.Second},
		"97 zero":                   {"0", "", DefaultWait, DefaultWait},
		"97 negative":               {"-5", "", DefaultWait, DefaultWait},
		"97 absurd":                 {"99999999999", "", LongestWait, LongestWait},
		"97 beyond a float":         {"1e999", "", LongestWait, LongestWait},
		"97 soon":                   {"soon", "", DefaultWait, DefaultWait},
		"97 not a number":           {"NaN", "", DefaultWait, DefaultWait},
		"97 infinite":               {"-Inf", "", DefaultWait, DefaultWait},
		"99 rounded up":             {"59.8", "", 60 * time.Second, 60 * time.Second},
		"99 never none":             {"0.001", "", time.Second, time.Second},
		"98 date":                   {at(90*time.Second, http.TimeFormat), "", 90 * time.Second, 92 * time.Second},
		"98 past":                   {at(-90*time.Second, http.TimeFormat), "", ShortWait, ShortWait},
		"98 RFC 850":                {at(90*time.Second, "Monday, 02-Jan-06 15:04:05 GMT"), "", 90 * time.Second, 92 * time.Second},
		"98 C style":                {at(90*time.Second, time.ANSIC), "", 90 * time.Second, 92 * time.Second},
		"98 numeric zone":           {at(90*time.Second, time.RFC1123Z), "", 90 * time.Second, 92 * time.Second},
		"98 clock ten minutes fast": {at(690*time.Second, http.TimeFormat), at(600*time.Second, http.TimeFormat), 90 * time.Second, 92 * time.Second},
		"98 clock ten minutes slow": {at(-510*time.Second, http.TimeFormat), at(-600*time.Second, http.TimeFormat), 90 * time.Second, 92 * time.Second},
		"98 nonsense clock":         {at(90*time.Second, http.TimeFormat), "yesterday", 90 * time.Second, 92 * time.Second},
		"98 in a thousand years":    {"Fri, 30 Nov 3026 09:00:00 GMT", "", LongestWait, LongestWait},
		"98 half a date":            {"Fri, 30 Nov", "", DefaultWait, DefaultWait},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			if c.text != "" {
				h.Set("Retry-After", c.text)
			}
			if c.date != "" {
				h.Set("Date", c.date)
			}
			if got := RetryAfter(h, now); got < c.least || got > c.most {
				t.Errorf("%s, want %s to %s", got, c.least, c.most)
			}
		})
	}
}
