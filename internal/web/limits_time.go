package web

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"onefold/web/templates"
)

var (
	timePart  = regexp.MustCompile(`^([0-9]+(?:[.,][0-9]+)?)\s*([a-z]+)[\s,]*(?:and\s+)?`)
	timeUnits = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
		"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute, "h": time.Hour, "hr": time.Hour, "hrs": time.Hour,
		"hour": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour}
	errNoTime = errors.New("not a time with its unit")
)

// durationOf reads a time as people write it: "90 s", "2 min", "1 h 30 min", "1.5 h". A number alone is refused: nobody
// knows what it counts.
func durationOf(s string) (time.Duration, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	var sum float64
	for first := true; s != "" || first; first = false {
		m := timePart.FindStringSubmatch(s)
		if m == nil || timeUnits[m[2]] == 0 {
			return 0, errNoTime
		}
		n, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
		if err != nil {
			return 0, errNoTime
		}
		if sum += n * float64(timeUnits[m[2]]); sum > float64(math.MaxInt64/2) {
			return 0, errNoTime
		}
		s = s[len(m[0]):]
	}
	return time.Duration(math.Round(sum)), nil
}

// durationText writes a time so that durationOf reads the same: "90 s" becomes "1 min 30 s".
func durationText(d time.Duration) string {
	w := templates.Limits
	if d == 0 {
		return "0 " + w.Second
	}
	var parts []string
	part := func(unit time.Duration, one, many string) {
		if n := d / unit; n > 0 {
			name := many
			if n == 1 {
				name = one
			}
			parts = append(parts, strconv.FormatInt(int64(n), 10)+" "+name)
			d %= unit
		}
	}
	part(24*time.Hour, w.Day, w.Days)
	part(time.Hour, w.Hour, w.Hour)
	part(time.Minute, w.Minute, w.Minute)
	if d > 0 {
		parts = append(parts, strconv.FormatFloat(d.Seconds(), 'f', -1, 64)+" "+w.Second)
	}
	return strings.Join(parts, " ")
}

// roughTime is a time as one says it: its two greatest units.
func roughTime(d time.Duration) string {
	d = d.Abs()
	for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if d >= 2*unit {
			return durationText(d.Round(unit / map[time.Duration]time.Duration{24 * time.Hour: 24, time.Hour: 60, time.Minute: 1}[unit]))
		}
	}
	return durationText(d.Round(time.Second))
}

// onTheClock is a time since the begin: 0:30, 12:05, 1:02:03.
func onTheClock(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	text := func(n int64) string { return twoDigits(int(n)) }
	if s < 3600 {
		return strconv.FormatInt(s/60, 10) + ":" + text(s%60)
	}
	return strconv.FormatInt(s/3600, 10) + ":" + text(s/60%60) + ":" + text(s%60)
}
