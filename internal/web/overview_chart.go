package web

import (
	"math"
	"strconv"
	"strings"
	"time"

	"onefold/internal/review"
	"onefold/web/templates"
)

// The place of a chart within its drawing of 480 by 190.
const (
	plotLeft, plotRight = 46.0, 478.0
	plotTop, plotFoot   = 8.0, 164.0
	thinnest            = 1.5 // something is never drawn as nothing
)

// units writes a number of a drawing.
func units(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

// outcomeChart is what sends came to, one bar for each stretch.
func (v view) outcomeChart(o review.Overview) templates.Chart {
	w := templates.Overviews
	c := templates.Chart{Table: templates.FigureTable{Caption: w.Outcomes, Heads: []string{w.When, w.Sum}}}
	sums, total := make([]int64, len(sendGroups)), int64(0)
	var most int64
	for _, st := range o.Stretches {
		groups, all := sendsOf(st)
		most = max(most, all)
		total += all
		for i, n := range groups {
			sums[i] += n
		}
	}
	if total == 0 {
		return c
	}
	step := niceStep(most)
	top := float64((most + step - 1) / step * step)
	for n := int64(0); float64(n) <= top; n += step {
		y := plotFoot - (plotFoot-plotTop)*float64(n)/top
		c.Lines = append(c.Lines, templates.ChartLine{Y: units(y), TextY: units(y + 4), Text: shortNumber(n)})
	}
	var parts []string
	for i, g := range sendGroups {
		name := w.Pattern[g.code]
		c.Key = append(c.Key, templates.ChartKey{Code: g.code, Name: name, Count: thousands(sums[i])})
		c.Table.Heads = append(c.Table.Heads, name)
		parts = append(parts, name+" "+thousands(sums[i]))
	}
	c.Says = say(w.ChartSays, "n", thousands(total), "range", w.InRange[string(o.Range)], "parts", strings.Join(parts, ", "))
	width := (plotRight - plotLeft) / float64(len(o.Stretches))
	for i, st := range o.Stretches {
		groups, all := sendsOf(st)
		row := templates.FigureRow{Name: v.stretchName(o.Grain, st.From), Cells: []string{thousands(all)}}
		y := plotFoot
		for k, n := range groups {
			row.Cells = append(row.Cells, thousands(n))
			if n == 0 {
				continue
			}
			height := max(thinnest, (plotFoot-plotTop)*float64(n)/top)
			y -= height
			c.Bars = append(c.Bars, templates.ChartBar{Code: sendGroups[k].code, X: units(plotLeft + width*(float64(i)+0.12)), Width: units(width * 0.76),
				Y: units(max(0, y)), Height: units(height)})
		}
		if all > 0 {
			c.Table.Rows = append(c.Table.Rows, row)
		}
	}
	c.Labels = v.stretchLabels(o)
	return c
}

// The lines of a chart of durations: about ten times apart each.
var timeLines = []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, 10 * time.Minute,
	time.Hour, 10 * time.Hour, 4 * 24 * time.Hour, 40 * 24 * time.Hour, 400 * 24 * time.Hour}

// timeChart is how long it took from recorded to confirmed.
func (v view) timeChart(o review.Overview) templates.Chart {
	w := templates.Overviews
	c := templates.Chart{Table: templates.FigureTable{Caption: w.Times, Heads: []string{w.When, w.Count, w.Median, w.P95}}}
	if o.Confirmed.Count == 0 {
		return c
	}
	c.Key = []templates.ChartKey{{Code: "median", Name: w.Pattern["median"]}, {Code: "p95", Name: w.Pattern["p95"]}}
	c.Says = w.Times + ": " + w.Median + " " + aboutTime(o.Confirmed.Median) + ", " + w.P95 + " " + aboutTime(o.Confirmed.P95)
	shortest, longest := o.Confirmed.Median, o.Confirmed.P95
	for _, st := range o.Stretches {
		if st.Confirmed.Count > 0 {
			shortest, longest = min(shortest, st.Confirmed.Median), max(longest, st.Confirmed.P95)
		}
	}
	low, high := 0, len(timeLines)-1
	for low+2 < len(timeLines) && timeLines[low+1] <= shortest {
		low++
	}
	for high-1 > low && timeLines[high-1] >= longest {
		high--
	}
	place := func(d time.Duration) float64 {
		from, to := math.Log(float64(timeLines[low])), math.Log(float64(timeLines[high]))
		part := (math.Log(float64(d)) - from) / (to - from)
		return plotFoot - (plotFoot-plotTop)*min(1, max(0, part))
	}
	for _, d := range timeLines[low : high+1] {
		y := place(d)
		c.Lines = append(c.Lines, templates.ChartLine{Y: units(y), TextY: units(y + 4), Text: aboutTime(d)})
	}
	width := (plotRight - plotLeft) / float64(len(o.Stretches))
	for i, st := range o.Stretches {
		s := st.Confirmed
		if s.Count == 0 {
			continue
		}
		x, y := plotLeft+width*(float64(i)+0.5), place(s.P95)
		c.Marks = append(c.Marks, templates.ChartMark{X: units(x), Median: units(place(s.Median)), P95: units(y),
			Point: units(x) + "," + units(y-5) + " " + units(x+4.5) + "," + units(y+3) + " " + units(x-4.5) + "," + units(y+3)})
		c.Table.Rows = append(c.Table.Rows, templates.FigureRow{Name: v.stretchName(o.Grain, st.From), Cells: []string{thousands(s.Count), aboutTime(s.Median), aboutTime(s.P95)}})
	}
	c.Labels = v.stretchLabels(o)
	return c
}

// stretchName is when a stretch begins. An hour names its zone: on the night on which clocks are put back one comes twice.
func (v view) stretchName(g review.Grain, at time.Time) string {
	in := at.In(v.zone)
	switch g {
	case review.GrainHour:
		return in.Format("2 Jan 15:04 MST")
	case review.GrainDay:
		return in.Format("2 Jan 2006")
	}
	return templates.Period.Months[in.Month()-1] + in.Format(" 2006")
}

// stretchLabels name a few stretches on the line of time, so few that they fit on a narrow page.
func (v view) stretchLabels(o review.Overview) (list []templates.ChartLabel) {
	width := (plotRight - plotLeft) / float64(len(o.Stretches))
	for i, st := range o.Stretches {
		in, says := st.From.In(v.zone), ""
		switch o.Range {
		case review.LastDay:
			if in.Hour()%6 == 0 && in.Minute() == 0 {
				says = in.Format("15:04")
			}
		case review.LastWeek:
			says = in.Format("2 Jan")
			if i%2 == 1 {
				says = ""
			}
		case review.LastMonth:
			if i%7 == 1 {
				says = in.Format("2 Jan")
			}
		default:
			if i%2 == 1 {
				says = in.Format("Jan")
			}
		}
		if says != "" {
			x := min(max(plotLeft+width*(float64(i)+0.5), plotLeft+12), plotRight-16)
			list = append(list, templates.ChartLabel{X: units(x), Text: says})
		}
	}
	return list
}

// niceStep is the step between lines of a chart: 1, 2 or 5 with zeros, so that there are three to six lines.
func niceStep(most int64) int64 {
	for step := int64(1); ; step *= 10 {
		for _, s := range []int64{step, 2 * step, 5 * step} {
			if most <= 5*s {
				return s
			}
		}
	}
}

// shortNumber is a number beside a line: 800, 12k, 3M.
func shortNumber(n int64) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return strconv.FormatFloat(float64(n)/1_000_000, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) + "k"
	}
	return strconv.FormatInt(n, 10)
}

// aboutTime is a duration with two digits, in the unit that people would take.
func aboutTime(d time.Duration) string {
	u := templates.Overviews.Units
	for i, unit := range []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour} {
		next := []time.Duration{time.Second, time.Minute, time.Hour, 48 * time.Hour}[i]
		if d >= next {
			continue
		}
		if n := float64(d) / float64(unit); n < 9.95 {
			return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) + " " + u[i]
		}
		return strconv.FormatFloat(math.Round(float64(d)/float64(unit)), 'f', 0, 64) + " " + u[i]
	}
	return strconv.FormatFloat(math.Round(d.Hours()/24), 'f', 0, 64) + " " + u[5]
}
