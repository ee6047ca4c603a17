package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/web/templates"
)

const retentionPath = "/settings/retention"

// retentionRoutes are the page on which admins decide how long history is kept.
func (s *server) retentionRoutes(r *router) {
	r.page(get, retentionPath, admins, s.retentionPage)
	r.page(post, retentionPath, admins, s.saveRetention)
}

func (s *server) retentionPage(c echo.Context) error {
	if f, kept, err := s.takeTyped(c); err != nil {
		return err
	} else if kept && f.Path == retentionPath {
		return s.showRetention(c, http.StatusOK, typedRetention(f.Fields.Get), nil, &templates.Notice{Say: templates.Say(templates.Retention.Kept, nil)}, "")
	}
	var notice *templates.Notice
	if c.QueryParam("did") == "saved" {
		notice = &templates.Notice{Good: true, Say: templates.Say(templates.Retention.Saved, nil)}
	}
	return s.showRetention(c, http.StatusOK, nil, nil, notice, "")
}

// saveRetention changes the times, or shows what would go.
func (s *server) saveRetention(c echo.Context) error {
	ctx, by, chosen := c.Request().Context(), person(c), typedRetention(c.FormValue)
	var would map[review.HistoryKind]int64
	var err error
	if c.FormValue("do") == "preview" {
		would, err = s.keeping.Preview(ctx, by, chosen)
	} else {
		err = s.keeping.Change(ctx, by, chosen)
	}
	switch {
	case errors.Is(err, review.ErrKeepTime):
		return s.showRetention(c, http.StatusUnprocessableEntity, chosen, nil, nil, templates.Retention.Refused)
	case err != nil:
		return err
	case would != nil:
		return s.showRetention(c, http.StatusOK, chosen, would, &templates.Notice{Good: true, Say: templates.Say(templates.Retention.Previewed, nil)}, "")
	}
	return c.Redirect(http.StatusSeeOther, retentionPath+"?did=saved")
}

// typedRetention reads the form; what is no number is left out, and refused later.
func typedRetention(value func(string) string) review.Retention {
	r := review.Retention{}
	for _, k := range review.Histories {
		if n, err := strconv.Atoi(value(string(k))); err == nil {
			r[k] = n
		}
	}
	return r
}

// showRetention shows the page; chosen nil: what holds.
func (s *server) showRetention(c echo.Context, status int, chosen review.Retention, would map[review.HistoryKind]int64, notice *templates.Notice, problem string) error {
	w := templates.Retention
	shell, _, err := s.shell(c, w.Nav)
	if err != nil {
		return err
	}
	shell.Notice = notice
	set, gone, err := s.keeping.Settings(c.Request().Context(), person(c))
	if err != nil {
		return err
	}
	now, err := s.review.Now(c.Request().Context())
	if err != nil {
		return err
	}
	show, m := view{s.Zone, now}, templates.RetentionPage{Shell: shell, Problem: problem}
	for _, k := range review.Histories {
		name := string(k)
		one := templates.RetentionKind{Name: name, Title: w.Title[name], What: w.What[name], Value: strconv.Itoa(set[k]), Gone: templates.Say(w.GoneNone, nil)}
		if months, ok := chosen[k]; ok {
			one.Value = strconv.Itoa(months)
		}
		for _, months := range review.KeepMonths(k) {
			one.Months = append(one.Months, templates.Choice{Value: strconv.Itoa(months), Text: keepTime(months)})
		}
		if g := gone[k]; g.Rows > 0 {
			one.Gone = templates.Say(w.Gone, map[string]any{"n": thousands(g.Rows), "at": show.ago(g.At)})
		}
		if would != nil {
			one.Would = wouldGo(name, would[k])
		}
		m.Kinds = append(m.Kinds, one)
	}
	return render(c, status, templates.RetentionSettingsPage(m))
}

func wouldGo(kind string, n int64) string {
	w := templates.Retention
	switch {
	case n == 0:
		return w.WouldNone
	case n == 1:
		return say(w.WouldOne, "unit", w.UnitOne[kind])
	case n >= review.AgedUpTo:
		return say(w.WouldMore, "n", thousands(n-1), "unit", w.Unit[kind])
	}
	return say(w.Would, "n", thousands(n), "unit", w.Unit[kind])
}

// keepTime is a number of months in words; 0 is for ever.
func keepTime(months int) string {
	w := templates.Retention
	switch {
	case months == 0:
		return w.ForEver
	case months == 1:
		return w.Month
	case months == 12:
		return w.Year
	case months%12 == 0:
		return say(w.Years, "n", strconv.Itoa(months/12))
	}
	return say(w.Months, "n", strconv.Itoa(months))
}

// pruned says on an item's page that older attempts are gone; nil: none are.
func (v view) pruned(at time.Time, n int64) templates.Sentence {
	w := templates.Retention
	switch {
	case at.IsZero():
		return nil
	case n == 1:
		return templates.Say(w.PrunedOne, map[string]any{"at": v.clock(at)})
	}
	return templates.Say(w.Pruned, map[string]any{"n": thousands(n), "at": v.clock(at)})
}
