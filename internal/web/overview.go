package web

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const overviewPath = "/overview"

func overviewAddress(r review.Range) string {
	return overviewPath + "?range=" + url.QueryEscape(string(r))
}

// overviewPage says how the automations are doing.
func (s *server) overviewPage(c echo.Context) error {
	o, err := s.overviews.Overview(c.Request().Context(), person(c), review.Range(c.QueryParam("range")))
	if err != nil {
		return err
	}
	shell, systems, err := s.shell(c, templates.Overviews.Nav)
	if err != nil {
		return err
	}
	m := view{s.Zone, o.Now}.overview(o)
	m.Shell = shell
	m.Systems = view{s.Zone, o.Now}.systemFigures(o, systems)
	return render(c, http.StatusOK, templates.OverviewPage(m))
}

// countingBehind is how far counting may stay behind without a word: it is two minutes by itself.
const countingBehind = 10 * time.Minute

func (v view) overview(o review.Overview) templates.Overview {
	w := templates.Overviews
	in := w.InRange[string(o.Range)]
	m := templates.Overview{CSV: overviewPath + ".csv?range=" + string(o.Range)}
	for _, r := range review.Ranges {
		m.Ranges = append(m.Ranges, templates.Link{Text: w.Range[string(r)], Href: overviewAddress(r), Here: r == o.Range})
	}
	switch {
	case o.CountedTo.IsZero():
		m.Counted, m.Behind = templates.Say(w.NotBegun, nil), true
	case v.now.Sub(o.CountedTo) > countingBehind:
		m.Counted, m.Behind = templates.Say(w.Behind, map[string]any{"at": v.clock(o.CountedTo)}), true
	default:
		m.Counted = templates.Say(w.Counted, map[string]any{"at": v.clock(o.CountedTo)})
	}
	prevented := w.PreventedSay
	if o.Prevented == 1 {
		prevented = w.PreventedOne
	}
	m.Prevented = templates.Prevented{Ever: thousands(o.PreventedEver), Range: say(prevented, "n", thousands(o.Prevented), "range", in)}
	m.Now = v.overviewNow(o)
	if !o.Waiting.IsZero() {
		m.Longest = templates.Link{Text: text(o.Longest.BusinessKey, 100), Href: itemHref(o.Longest.ID)}
	}
	m.Outcomes = v.outcomeChart(o)
	m.Nothing = len(m.Outcomes.Bars) == 0
	m.Times = v.timeChart(o)
	m.Settled, m.Sends = settledTable(o), sendsTable(o)
	return m
}

func (v view) overviewNow(o review.Overview) []templates.Fact {
	w := templates.Overviews
	list := []templates.Fact{{Name: w.ConfirmedIn, Value: w.None}, {Name: w.Open, Value: thousands(max(o.Open, 0))}, {Name: w.Longest, Value: w.Nobody}}
	if o.Confirmed.Count > 0 {
		list[0].Value = w.Median + " " + aboutTime(o.Confirmed.Median) + ", " + w.P95 + " " + aboutTime(o.Confirmed.P95)
	}
	if !o.Waiting.IsZero() {
		since := v.ago(o.Waiting)
		list[2] = templates.Fact{Name: w.Longest, At: &since}
	}
	return list
}

// sendGroups are the outcomes that are drawn together, from the ground up.
var sendGroups = []struct {
	code     string
	outcomes []work.Outcome
}{{"accepted", []work.Outcome{work.Accepted}}, {"there", []work.Outcome{work.AlreadyExists}}, {"rejected", []work.Outcome{work.Rejected}},
	{"put_off", []work.Outcome{work.NotSent, work.Deferred}}, {"unknown", []work.Outcome{work.Unknown}}}

func sendsOf(s review.Stretch) (groups []int64, all int64) {
	for _, g := range sendGroups {
		var n int64
		for _, o := range g.outcomes {
			n += s.Sends[o]
		}
		groups, all = append(groups, n), all+n
	}
	return groups, all
}

func settledTable(o review.Overview) templates.FigureTable {
	w := templates.Overviews
	t := templates.FigureTable{Caption: w.Settled, Heads: []string{w.How, w.Count, w.Median, w.P95}}
	var most int64
	for _, s := range o.Settled {
		most = max(most, s.Spread.Count)
	}
	for _, s := range o.Settled {
		if s.Spread.Count > 0 {
			t.Rows = append(t.Rows, templates.FigureRow{Name: w.Way[string(s.How)], Part: ofMost(s.Spread.Count, most),
				Cells: []string{thousands(s.Spread.Count), aboutTime(s.Spread.Median), aboutTime(s.Spread.P95)}})
		}
	}
	return t
}

func sendsTable(o review.Overview) templates.FigureTable {
	w := templates.Overviews
	t := templates.FigureTable{Caption: w.Sends, Heads: []string{w.Sends, w.Count}}
	var most int64
	for _, n := range o.Sends {
		most = max(most, n)
	}
	for i, n := range o.Sends {
		if n > 0 || i > 0 && most > 0 {
			t.Rows = append(t.Rows, templates.FigureRow{Name: w.Taken[i], Part: ofMost(n, most), Cells: []string{thousands(n)}})
		}
	}
	return t
}

// stateBadges are all that keeps a system from working: a pause must not hide that the system is not reached.
func stateBadges(sys review.SystemState) []templates.Badge {
	if all := systemBadges(sys); len(all) > 0 {
		return all
	}
	return []templates.Badge{{Sign: "✓", Tone: "good", Text: templates.Words.SystemSays["ok"]}}
}

// callGroups are the parts of a system's bar, by the patterns of the other charts.
var callGroups = []string{"accepted", "unknown", "put_off"}

// callParts draws the calls of a system beside the most that any has, in a bar of 300.
func callParts(f review.SystemFigures, most int64) (list []templates.ChartBar) {
	putOff := f.Limited + f.Barred + f.PutOff
	x := 0.0
	for i, n := range []int64{f.Calls - f.Failed - putOff, f.Failed, putOff} {
		if n <= 0 {
			continue
		}
		width := max(2*thinnest, 290*float64(n)/float64(most))
		list = append(list, templates.ChartBar{Code: callGroups[i], X: units(1 + x), Width: units(width)})
		x += width
	}
	return list
}

func (v view) systemFigures(o review.Overview, systems []review.SystemState) templates.FigureTable {
	w := templates.Overviews
	t := templates.FigureTable{Caption: w.Systems, Heads: []string{w.System, w.Calls, w.Failed, w.Limited, w.Barred, w.PutOff, w.AnswerMedian, w.AnswerP95}}
	states := map[string]review.SystemState{}
	for _, sys := range systems {
		states[sys.ID] = sys
	}
	var most int64
	for _, f := range o.Systems {
		most = max(most, f.Calls)
	}
	if most > 0 {
		for _, code := range callGroups {
			t.Key = append(t.Key, templates.ChartKey{Code: code, Name: w.Bar[code]})
		}
	}
	for _, f := range o.Systems {
		failed := thousands(f.Failed)
		if f.Failed > 0 {
			failed += " (" + strconv.FormatFloat(100*float64(f.Failed)/float64(f.Calls), 'f', 1, 64) + " %)"
		}
		row := templates.FigureRow{Name: text(f.Name, 100), Href: systemPath(f.ID),
			Parts: callParts(f, most), Cells: []string{thousands(f.Calls), failed, thousands(f.Limited), thousands(f.Barred), thousands(f.PutOff), w.None, w.None}}
		if sys, is := states[f.ID]; is {
			row.Badges = stateBadges(sys)
		}
		if f.Answering.Count > 0 {
			row.Cells[5], row.Cells[6] = aboutTime(f.Answering.Median), aboutTime(f.Answering.P95)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ofMost is a share of the greatest, of 100; something is never drawn as nothing.
func ofMost(n, most int64) string {
	if n == 0 || most == 0 {
		return "0"
	}
	return strconv.FormatFloat(max(1, 100*float64(n)/float64(most)), 'f', 1, 64)
}
