package web

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/web/templates"
)

// overviewCSV answers GET /overview.csv: every figure of the page, one in a row.
func (s *server) overviewCSV(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	o, err := s.overviews.Overview(ctx, by, review.Range(c.QueryParam("range")))
	if err != nil {
		return err
	}
	systems, err := s.systems.List(ctx, by)
	if err != nil {
		return err
	}
	e := auth.Entry{CompanyID: s.CompanyID, By: by, From: origin(c), What: auth.DidExport, Object: "overview:" + string(o.Range), Note: c.Request().URL.Path}
	if err := s.Auth.Audit(ctx, e); err != nil {
		return err
	}
	w, zone := templates.Overviews, s.Zone.String()
	heads := []string{say(w.From, "zone", zone), say(w.Until, "zone", zone), w.What, w.System, w.Count, w.Median + " (s)", w.P95 + " (s)", w.Text}
	return s.sendCSV(c, "onefold-overview-"+string(o.Range), heads, func(yield func([]string, error) bool) {
		for _, row := range overviewRows(o, systems, s.Zone) {
			if !yield(row, nil) {
				return
			}
		}
	})
}

// figureRow is one row of the file: a count, a text, or neither.
type figureRow struct {
	from, to           time.Time
	what, system, text string
	n                  *int64
	spread             *review.Spread
}

func (r figureRow) cells(zone *time.Location) []string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.In(zone).Format("2006-01-02 15:04 -0700")
	}
	seconds := func(d time.Duration) string { // never with an exponent: spreadsheets take that for text
		return strconv.FormatFloat(math.Round(d.Seconds()*1000)/1000, 'f', -1, 64)
	}
	row := []string{at(r.from), at(r.to), r.what, r.system, "", "", "", r.text}
	if r.n != nil {
		row[4] = strconv.FormatInt(*r.n, 10)
	}
	if r.spread != nil && r.spread.Count > 0 {
		row[5], row[6] = seconds(r.spread.Median), seconds(r.spread.P95)
	}
	return row
}

func overviewRows(o review.Overview, systems []review.SystemState, zone *time.Location) (rows [][]string) {
	w := templates.Overviews
	put := func(r figureRow) { rows = append(rows, r.cells(zone)) }
	add := func(from, to time.Time, what, system string, n int64, s *review.Spread) {
		put(figureRow{from: from, to: to, what: what, system: system, n: &n, spread: s})
	}
	put(figureRow{to: o.CountedTo, what: w.Sent["counted"]})
	for _, st := range o.Stretches {
		groups, all := sendsOf(st)
		for i, g := range sendGroups {
			add(st.From, st.To, w.Pattern[g.code], "", groups[i], nil)
		}
		add(st.From, st.To, w.Sent["sum"], "", all, nil)
		add(st.From, st.To, w.Sent["confirmed"], "", st.Confirmed.Count, &st.Confirmed)
	}
	from, to := o.Stretches[0].From, o.Stretches[len(o.Stretches)-1].To
	add(from, to, w.ConfirmedIn, "", o.Confirmed.Count, &o.Confirmed)
	add(from, to, w.Sent["prevented"], "", o.Prevented, nil)
	add(time.Time{}, o.CountedTo, w.Sent["ever"], "", o.PreventedEver, nil)
	add(time.Time{}, o.CountedTo, w.Open, "", max(o.Open, 0), nil)
	if !o.Waiting.IsZero() {
		put(figureRow{from: o.Waiting, to: o.Now, what: w.Longest, text: o.Longest.BusinessKey})
	}
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
		add(from, to, w.Sent["barred"], f.Name, f.Barred, nil)
		add(from, to, w.Sent["put_off"], f.Name, f.PutOff, nil)
		add(from, to, w.Sent["answered"], f.Name, f.Answering.Count, &f.Answering)
	}
	for _, sys := range systems {
		var states []string
		for _, b := range stateBadges(sys) {
			states = append(states, b.Text)
		}
		put(figureRow{to: o.Now, what: w.Sent["state"], system: sys.Name, text: strings.Join(states, ", ")})
	}
	return rows
}
