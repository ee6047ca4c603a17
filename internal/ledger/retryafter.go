package ledger

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bounds of a wait that a system asks for.
const (
	DefaultWait = 30 * time.Second // asked to wait, but not understood how long
	ShortWait   = 5 * time.Second  // the time named is over already
	LongestWait = 24 * time.Hour
)

// RetryAfter is the wait asked for by a Retry-After header: seconds or a date of any style that HTTP knows, rounded up,
// between ShortWait (dates) and LongestWait. A wait of zero, a negative one and nonsense give DefaultWait; no header
// gives 0. A date counts from the answer's own Date header, so that a server's wrong clock does no harm.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil || seconds != 0 {
		switch {
		case math.IsNaN(seconds) || seconds <= 0:
			return DefaultWait
		case seconds >= LongestWait.Seconds():
			return LongestWait
		}
		return time.Duration(math.Ceil(seconds)) * time.Second
	}
	at, ok := parseDate(text)
	if !ok {
		return DefaultWait
	}
	if said, ok := parseDate(h.Get("Date")); ok {
		now = said
	}
	// One second more: both dates are cut to whole seconds.
	wait := at.Sub(now)
	if wait > LongestWait {
		return LongestWait
	}
	wait = time.Duration(math.Ceil(wait.Seconds()))*time.Second + time.Second
	return min(max(wait, ShortWait), LongestWait)
}

func parseDate(text string) (time.Time, bool) {
	if t, err := http.ParseTime(text); err == nil {
		return t, true
	}
	for _, layout := range []string{time.RFC1123Z, time.RFC1123, time.RFC3339, "Mon, 02-Jan-2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 MST"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
