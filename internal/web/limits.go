package web

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/static"
	"onefold/web/templates"
)

const limitsPath = "/limits"

// limitRoutes are the pages of the limits.
func (s *server) limitRoutes(r *router) {
	r.page(get, limitsPath, admins, s.limitsPage)
	r.page(get, limitsPath+"/:id", admins, s.limitsFormPage)
	r.page(post, limitsPath+"/:id", admins, s.saveLimits)
	r.page(post, limitsPath+"/:id/preview", admins, s.previewLimits)
	r.page(post, limitsPath+"/:id/undo/:change", admins, s.undoLimits)
	r.page(get, limitsPath+"/:id/*", admins, func(c echo.Context) error { // the address of a form, opened again
		return c.Redirect(http.StatusSeeOther, limitsOf(c.Param("id"), ""))
	})
}

// limitsOf is the address of the limits of a system or of an automation.
func limitsOf(system, automation string) string {
	address := limitsPath + "/" + url.PathEscape(system)
	if automation != "" {
		address += "?" + url.Values{"automation": {automation}}.Encode()
	}
	return address
}

// limitsPage lists the systems with their limits.
func (s *server) limitsPage(c echo.Context) error {
	w := templates.Limits
	list, err := s.limits.List(c.Request().Context(), person(c))
	if err != nil {
		return err
	}
	shell, _, err := s.shell(c, w.Nav)
	if err != nil {
		return err
	}
	now, err := s.review.Now(c.Request().Context())
	if err != nil {
		return err
	}
	v, m := view{s.Zone, now}, templates.LimitsList{Shell: shell}
	for _, sys := range list {
		one := templates.LimitsSystem{Name: text(sys.Name, 100), Href: limitsOf(sys.ID, ""), Last: templates.Say(w.NeverChanged, nil)}
		all := sys.Limits("")
		for _, l := range work.AllLimits {
			if slices.Contains([]string{"sends", "first_delay", "longest_delay", "settle_within", "approval_limit", "in_flight", "per_second"}, l.Name) {
				value := orText(showLimit(l.Kind, all[l.Name]), w.None)
				if l.Name == "per_second" && value == "0" {
					value = templates.SystemWords.NoLimit
				}
				one.Facts = append(one.Facts, templates.Fact{Name: w.Name[l.Name], Value: value})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(sys.Overrides)) {
			pattern, n := w.OwnCount, len(sys.Limits(name))
			if n == 1 {
				pattern = w.OwnCountOne
			}
			one.Own = append(one.Own, templates.Link{Href: limitsOf(sys.ID, name), Text: say(pattern, "automation", automationTitle(name), "n", strconv.Itoa(n))})
		}
		if len(sys.Changes) > 0 {
			one.Last = templates.Say(w.LastChange, map[string]any{"who": text(orText(sys.Changes[0].By.Name, w.Nobody), 80), "at": v.clock(sys.Changes[0].At)})
		}
		m.Systems = append(m.Systems, one)
	}
	return render(c, http.StatusOK, templates.LimitsListPage(m))
}

func (s *server) limitsFormPage(c echo.Context) error {
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	w := templates.Limits
	if kept && f.Fields.Has("seen") {
		return s.showLimits(c, http.StatusOK, readLimits(f.Fields), &templates.Notice{Say: templates.Say(w.Kept, nil)})
	}
	var notice *templates.Notice
	if pattern := map[string]string{"saved": w.Saved, "unchanged": w.Unchanged, "undone": w.Undone}[c.QueryParam("did")]; pattern != "" {
		notice = &templates.Notice{Good: true, Say: templates.Say(pattern, nil)}
	}
	return s.showLimits(c, http.StatusOK, nil, notice)
}

func (s *server) saveLimits(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return err
	}
	f := readLimits(form)
	if len(f.problems) == 0 {
		err = s.limits.Change(c.Request().Context(), person(c), c.Param("id"), f.automation, f.seen, f.limits, f.note)
		if err == nil {
			did := "saved"
			if _, is := f.seen.Differ(f.limits); len(is) == 0 {
				did = "unchanged"
			}
			q := url.Values{"did": {did}}
			if f.automation != "" {
				q.Set("automation", f.automation)
			}
			return c.Redirect(http.StatusSeeOther, limitsOf(c.Param("id"), "")+"?"+q.Encode())
		}
	}
	return s.limitsNotDone(c, f, err)
}

// previewLimits says what limits would mean, and changes nothing.
func (s *server) previewLimits(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return err
	}
	return s.showLimits(c, http.StatusOK, readLimits(form), nil)
}

// limitsNotDone shows the form again as it was sent, with what is wrong about it.
func (s *server) limitsNotDone(c echo.Context, f *limitsForm, err error) error {
	w := templates.Limits
	var stale *review.LimitsStale
	switch {
	case errors.As(err, &stale):
		sys, err := s.limits.System(c.Request().Context(), person(c), c.Param("id"))
		if err != nil {
			return err
		}
		f.overtaken(sys.System, stale)
		now, err := s.review.Now(c.Request().Context())
		if err != nil {
			return err
		}
		say := templates.Say(w.StaleUnknown, nil)
		if stale.Last != nil {
			say = templates.Say(w.Stale, map[string]any{"who": text(orText(stale.Last.By.Name, w.Nobody), 80), "at": view{s.Zone, now}.clock(stale.Last.At)})
		}
		return s.showLimits(c, http.StatusConflict, f, &templates.Notice{Say: say})
	case err == nil, errors.As(err, new(work.LimitsRefused)), errors.As(err, new(work.LimitsImpossible)):
		f.problem = w.Refused // what it is stands beside the limits
		return s.showLimits(c, http.StatusUnprocessableEntity, f, nil)
	}
	return err
}

func (s *server) undoLimits(c echo.Context) error {
	ctx, by, id, w := c.Request().Context(), person(c), c.Param("id"), templates.Limits
	number, err := pathID(c, "change")
	if err != nil {
		return err
	}
	sys, err := s.limits.System(ctx, by, id)
	if err != nil {
		return err
	}
	note, automation := "", ""
	for _, change := range sys.Changes {
		if change.ID == number {
			note, automation = say(w.UndoNote, "at", view{zone: s.Zone}.exact(change.At).Text), change.Automation
		}
	}
	err = s.limits.Undo(ctx, by, id, number, note)
	switch {
	case err == nil:
		q := url.Values{"did": {"undone"}}
		if automation != "" {
			q.Set("automation", automation)
		}
		return c.Redirect(http.StatusSeeOther, limitsOf(id, "")+"?"+q.Encode())
	case errors.As(err, new(*review.LimitsStale)):
		return s.showLimits(c, http.StatusConflict, nil, &templates.Notice{Say: templates.Say(w.StaleUndo, nil)})
	case errors.As(err, new(work.LimitsRefused)), errors.As(err, new(work.LimitsImpossible)):
		return s.showLimits(c, http.StatusUnprocessableEntity, nil, &templates.Notice{Say: templates.Say("{text}", map[string]any{"text": sentence(err.Error())})})
	}
	return err
}

// showLimits shows the form: as it was sent, or as the limits are.
func (s *server) showLimits(c echo.Context, status int, f *limitsForm, notice *templates.Notice) error {
	ctx, by, w := c.Request().Context(), person(c), templates.Limits
	sys, err := s.limits.System(ctx, by, c.Param("id"))
	if err != nil {
		return err
	}
	automation := c.QueryParam("automation")
	if f != nil {
		automation = f.automation
	}
	if automation != "" && !slices.Contains(sys.Automations, automation) {
		return review.ErrNotFound
	}
	limits, seen := sys.Limits(automation), sys.Limits(automation)
	if f != nil {
		limits, seen = f.limits, f.seen
	}
	shell, _, err := s.shell(c, text(sys.Name, 80)+" · "+w.Nav)
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	shell.Notice = notice
	shell.Scripts = append(shell.Scripts, "/static/"+static.Address("limits.js"))
	v := view{s.Zone, now}
	m := templates.LimitsPage{Shell: shell, Back: limitsPath, Heading: text(sys.Name, 100), Address: limitsOf(sys.ID, ""), Scope: automation, MaxNote: strconv.Itoa(review.MaxNote),
		Changes: v.limitChanges(sys, limitsOf(sys.ID, "")), Scopes: []templates.Choice{{Text: say(w.ForAll, "system", text(sys.Name, 60))}}}
	for _, name := range sys.Automations {
		m.Scopes = append(m.Scopes, templates.Choice{Value: name, Text: automationTitle(name)})
	}
	names := []string{"system", m.Heading, "automation", automationTitle(automation)}
	if automation != "" {
		m.Inherits = say(w.InheritsSay, names...)
		m.Heading += " · " + automationTitle(automation)
		if len(sys.Limits(automation)) > 0 {
			m.RemoveHelp = say(w.RemoveAllHelp, names...)
		}
	}
	meaning, err := s.limits.Foresee(ctx, by, sys.ID, automation, f.readable(limits, sys.Limits(automation)))
	if err = f.wrong(sys.System, err); err != nil {
		return err
	}
	if m.Meaning.Broken = len(meaning.Forecasts) == 0 || f != nil && len(f.problems) > 0; m.Meaning.Broken {
		meaning.System = sys.System
	} else {
		m.Meaning = v.limitsMeaning(meaning)
	}
	if f != nil {
		m.Problem, m.Note = f.problem, text(f.note, 300)
		if m.Meaning.Broken && status == http.StatusOK {
			status = http.StatusUnprocessableEntity
		}
	}
	shown, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	m.Seen, m.Groups = string(shown), v.limitFields(meaning.System, automation, f)
	for _, g := range m.Groups {
		for _, l := range g.Fields {
			if l.Problem != "" {
				m.Faults = append(m.Faults, templates.Link{Href: "#limit-" + l.Name, Text: l.Label + ": " + l.Problem})
			}
		}
	}
	return render(c, status, templates.LimitsFormPage(m))
}
