package web

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// limitsMeaning says and draws what limits mean.
func (v view) limitsMeaning(m review.Meaning) templates.LimitsMeaning {
	w := templates.Limits
	out := templates.LimitsMeaning{Since: templates.Say(w.Past, map[string]any{"at": v.clock(m.Past.Since)}), Cut: m.Past.Cut, Past: pastSays(m.Past)}
	scale := newTimeScale(slices.Concat(m.Forecasts, m.Before))
	for i, f := range m.Forecasts {
		out.Courses = append(out.Courses, templates.LimitsCourse{Title: w.CourseTitle[string(f.Course)], Chart: scale.chart(f), Say: courseSays(f, m.Before[i])})
	}
	return out
}

// courseSays is a course in words.
func courseSays(f, before work.Forecast) []string {
	w := templates.Limits.CourseSay
	says := []string{say(w["sent"], "times", times(f.Sends))}
	if len(f.Looks) > 0 {
		says = append(says, say(w["looked"], "times", times(f.Looks)))
	}
	var why []string
	for _, r := range f.Reasons {
		why = append(why, templates.Limits.Reason[string(r)])
	}
	pattern := w["person"]
	if f.Person.Latest == 0 {
		pattern = w["person/at_once"]
	}
	person := say(pattern, "span", roughSpan(f.Person), "reason", strings.Join(why, w["or"]))
	if before.Person != f.Person {
		person += " " + say(w["before"], "span", roughSpan(before.Person))
	}
	return append(says, person)
}

// times are moments as a list, the middle of a long one left out.
func times(list []work.Span) string {
	const most = 6
	shown, n := make([]string, 0, most), 0
	for i := 0; i < len(list) && len(shown) < most; i = n {
		at := clockSpan(list[i])
		for n = i + 1; n < len(list) && clockSpan(list[n]) == at; n++ {
			continue
		}
		if n > i+1 {
			at = say(templates.Limits.CourseSay["times"], "at", at, "n", strconv.Itoa(n-i))
		}
		shown = append(shown, at)
	}
	all := strings.Join(shown, ", ")
	if n == len(list) {
		return all
	}
	return say(templates.Limits.CourseSay["more"], "times", all, "n", strconv.Itoa(len(list)), "last", clockSpan(list[len(list)-1]))
}

func clockSpan(s work.Span) string {
	from, to := onTheClock(s.Earliest), onTheClock(s.Latest)
	if from == to {
		return from
	}
	return from + "–" + to
}

func roughSpan(s work.Span) string {
	from, to := roughTime(s.Earliest), roughTime(s.Latest)
	switch {
	case from == to:
		return from
	case len(strings.Fields(from)) == 2 && len(strings.Fields(to)) == 2 && strings.Fields(from)[1] == strings.Fields(to)[1]:
		from = strings.Fields(from)[0] // 9 to 12 min
	}
	return say(templates.Limits.Span, "from", from, "to", to)
}

// pastSays is what the past says.
func pastSays(p review.Meant) []string {
	w := templates.Limits.PastSay
	if p.Count == 0 {
		return []string{templates.Limits.PastNone}
	}
	number := func(code string, n int) string {
		if n == 1 {
			code += "/one"
		}
		return say(w[code], "n", thousands(int64(n)), "several", thousands(int64(p.Several)))
	}
	says := []string{number("count", p.Count)}
	switch same := p.PersonNow == p.PersonThen && p.More+p.Again+p.Fewer == 0; {
	case same && p.PersonNow == 0:
		says = append(says, w["nobody"])
	case same && p.PersonNow == 1:
		says = append(says, w["same/one"])
	case same:
		says = append(says, say(w["same"], "n", thousands(int64(p.PersonNow))))
	default:
		says = append(says, say(w["person"], "now", thousands(int64(p.PersonNow)), "then", thousands(int64(p.PersonThen))))
	}
	for _, one := range []struct {
		code string
		n    int
	}{{"more", p.More}, {"fewer", p.Fewer}, {"again", p.Again}} {
		if one.n > 0 {
			says = append(says, number(one.code, one.n))
		}
	}
	if p.ApprovalNow != p.ApprovalThen {
		says = append(says, say(w["approval"], "now", thousands(int64(p.ApprovalNow)), "then", thousands(int64(p.ApprovalThen))))
	}
	switch {
	case p.Shift >= time.Second:
		says = append(says, say(w["later"], "time", roughTime(p.Shift)))
	case p.Shift <= -time.Second:
		says = append(says, say(w["earlier"], "time", roughTime(p.Shift)))
	}
	return says
}

// The drawing, in its own units.
const (
	chartWidth, chartLeft, chartRight = 440, 96, 430
	chartLane                         = 22
	chartBottom                       = 3*chartLane + 4
	chartHeight                       = chartBottom + 18
)

// timeScale places times: evenly at first, then ever denser, so that seconds and days are seen together.
type timeScale struct {
	unit, end float64
}

func newTimeScale(all []work.Forecast) timeScale {
	end := time.Minute
	for _, f := range all {
		end = max(end, f.Person.Latest)
	}
	return timeScale{unit: (10 * time.Second).Seconds(), end: end.Seconds()}
}

func (s timeScale) x(d time.Duration) float64 {
	return chartLeft + (chartRight-chartLeft)*math.Log1p(d.Seconds()/s.unit)/math.Log1p(s.end/s.unit)
}

func (s timeScale) chart(f work.Forecast) templates.LimitsChart {
	w := templates.Limits
	c := templates.LimitsChart{ViewBox: "0 0 " + strconv.Itoa(chartWidth) + " " + strconv.Itoa(chartHeight), Left: pixels(chartLeft), Right: pixels(chartRight),
		Bottom: pixels(chartBottom), LabelAt: pixels(chartHeight - 4)}
	last := math.Inf(-1)
	for _, at := range []time.Duration{0, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour} {
		const apart = 44
		if x := s.x(at); at.Seconds() <= s.end && x-last >= apart {
			c.Grid = append(c.Grid, templates.LimitsGrid{X: pixels(x), Text: durationText(at), Anchor: map[bool]string{true: "end", false: "middle"}[x > chartRight-apart/2]})
			last = x
		}
	}
	for i, lane := range []struct {
		name, class string
		spans       []work.Span
		shape       func(x, y float64) string
	}{{w.Sends, "send", f.Sends, square}, {w.Looks, "look", f.Looks, diamond}, {w.Person, "person", []work.Span{f.Person}, triangle}} {
		y := chartLane*float64(i) + chartLane/2
		l := templates.LimitsLane{Name: lane.name, Y: pixels(y), TextY: pixels(y + 4)}
		for _, span := range lane.spans {
			from, to := s.x(span.Earliest), s.x(span.Latest)
			if to-from >= 1 {
				l.Marks = append(l.Marks, templates.LimitsMark{Class: "span " + lane.class, X: pixels(from), Y: pixels(y - 3), Width: pixels(to - from)})
			}
		}
		for _, span := range lane.spans {
			l.Marks = append(l.Marks, templates.LimitsMark{Class: lane.class, Points: lane.shape(s.x(span.Earliest), y)})
		}
		c.Lanes = append(c.Lanes, l)
	}
	return c
}

func square(x, y float64) string   { return polygon(x, y, -4, -4, 4, -4, 4, 4, -4, 4) }
func diamond(x, y float64) string  { return polygon(x, y, 0, -5, 5, 0, 0, 5, -5, 0) }
func triangle(x, y float64) string { return polygon(x, y, 0, -6, 6, 5, -6, 5) }

func polygon(x, y float64, corners ...float64) string {
	var points []string
	for i := 0; i+1 < len(corners); i += 2 {
		points = append(points, pixels(x+corners[i])+","+pixels(y+corners[i+1]))
	}
	return strings.Join(points, " ")
}

func pixels(n float64) string { return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) }

// limitChanges are the changes on record.
func (v view) limitChanges(sys review.TunedSystem, address string) []templates.LimitsChange {
	w := templates.Limits
	var rows []templates.LimitsChange
	for _, c := range sys.Changes {
		row := templates.LimitsChange{At: v.clock(c.At), Who: text(cmp.Or(c.By.Name, w.Nobody), 80), Note: text(c.Note, 300), Undo: address + "/undo/" + strconv.FormatInt(c.ID, 10)}
		if c.Automation != "" {
			row.Whose = automationTitle(c.Automation)
		}
		for _, l := range work.AllLimits {
			was, is := c.Before[l.Name], c.After[l.Name]
			if _, there := c.After[l.Name]; !there {
				continue
			}
			none := w.None
			if c.Automation != "" {
				none = w.InheritsPlace
			}
			row.Lines = append(row.Lines, templates.LimitsDiff{Name: w.Name[l.Name], Was: orText(showLimit(l.Kind, was), none), Is: orText(showLimit(l.Kind, is), none)})
			now := sys.Limits(c.Automation)
			if now[l.Name] != is {
				row.Undo = "" // it was changed again since
			}
		}
		rows = append(rows, row)
	}
	return rows
}
