package web

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
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
	m.Systems = view{s.Zone, o.Now}.systemFigures(o, systems, person(c))
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

func (v view) systemFigures(o review.Overview, systems []review.SystemState, by work.Actor) templates.FigureTable {
	w := templates.Overviews
	t := templates.FigureTable{Caption: w.Systems, Heads: []string{w.System, w.Calls, w.Failed, w.Limited, w.Median, w.P95}}
	badges := map[string]templates.Badge{}
	for _, sys := range systems {
		badges[sys.ID] = v.system(sys, by).Badge
	}
	for _, f := range o.Systems {
		failed := thousands(f.Failed)
		if f.Failed > 0 {
			failed += " (" + strconv.FormatFloat(100*float64(f.Failed)/float64(f.Calls), 'f', 1, 64) + " %)"
		}
		row := templates.FigureRow{Name: text(f.Name, 100), Href: systemPath(f.ID),
			Cells: []string{thousands(f.Calls), failed, thousands(f.Limited), w.None, w.None}}
		if b, is := badges[f.ID]; is {
			row.Badge = &b
		}
		if f.Answering.Count > 0 {
			row.Cells[3], row.Cells[4] = aboutTime(f.Answering.Median), aboutTime(f.Answering.P95)
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

// overviewCSV answers GET /overview.csv: every figure of the page, one in a row.
func (s *server) overviewCSV(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	o, err := s.overviews.Overview(ctx, by, review.Range(c.QueryParam("range")))
	if err != nil {
		return err
	}
	e := auth.Entry{CompanyID: s.CompanyID, By: by, From: origin(c), What: auth.DidExport, Object: "overview:" + string(o.Range), Note: c.Request().URL.Path}
	if err := s.Auth.Audit(ctx, e); err != nil {
		return err
	}
	w, zone := templates.Overviews, s.Zone.String()
	heads := []string{say(w.From, "zone", zone), say(w.Until, "zone", zone), w.What, w.System, w.Count, w.Median + " (s)", w.P95 + " (s)"}
	return s.sendCSV(c, "onefold-overview-"+string(o.Range), heads, func(yield func([]string, error) bool) {
		for _, row := range overviewRows(o, s.Zone) {
			if !yield(row, nil) {
				return
			}
		}
	})
}

func overviewRows(o review.Overview, zone *time.Location) (rows [][]string) {
	w := templates.Overviews
	at := func(t time.Time) string { return t.In(zone).Format("2006-01-02 15:04 -0700") }
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) }
	add := func(from, to time.Time, what, system string, n int64, s *review.Spread) {
		row := []string{at(from), at(to), what, system, strconv.FormatInt(n, 10), "", ""}
		if s != nil && s.Count > 0 {
			row[5], row[6] = seconds(s.Median), seconds(s.P95)
		}
		rows = append(rows, row)
	}
	for _, st := range o.Stretches {
		groups, _ := sendsOf(st)
		for i, g := range sendGroups {
			add(st.From, st.To, w.Pattern[g.code], "", groups[i], nil)
		}
		add(st.From, st.To, w.Sent["confirmed"], "", st.Confirmed.Count, &st.Confirmed)
	}
	from, to := o.Stretches[0].From, o.Stretches[len(o.Stretches)-1].To
	add(from, to, w.Sent["prevented"], "", o.Prevented, nil)
	for _, s := range o.Settled {
		add(from, to, say(w.Sent["settled"], "how", w.Way[string(s.How)]), "", s.Spread.Count, &s.Spread)
	}
	for i, n := range o.Sends {
		add(from, to, say(w.Sent["sends"], "n", w.Taken[i]), "", n, nil)
	}
	for _, f := range o.Systems {
		add(from, to, w.Sent["calls"], f.Name, f.Calls, nil)
		add(from, to, w.Sent["failed"], f.Name, f.Failed, nil)
		add(from, to, w.Sent["limited"], f.Name, f.Limited, nil)
		add(from, to, w.Sent["answered"], f.Name, f.Answering.Count, &f.Answering)
	}
	return rows
}
