package web

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/static"
	"onefold/web/templates"
)

// frame is the shell of a page without anything that must be read from the database.
func (s *server) frame(c echo.Context, title string) templates.Shell {
	daily, setUp := nav(person(c), c.Request().URL.Path)
	return templates.Shell{Title: title, CSS: "/static/" + static.Address("app.css"), Scripts: scripts(person(c)),
		Icon: "/static/" + static.Address("icon.svg"), CSRFField: csrfField, CSRFToken: formToken(c), Person: person(c).Name,
		Nav: daily, SetUp: setUp, Mark: mark(c)}
}

// scripts are the scripts of a page: the rest is for people who are signed in.
func scripts(by work.Actor) []string {
	list := []string{"/static/" + static.Address("app.js")}
	if by.ID != "" {
		list = append(list, "/static/"+static.Address("live.js"), "/static/"+static.Address("keys.js"))
	}
	return list
}

// nav are the pages that the person may open: those of every day, and those that are set up once.
func nav(by work.Actor, path string) (daily, setUp []templates.Link) {
	w, p := templates.Words, templates.People
	link := func(text, href string, also ...string) templates.Link {
		l := templates.Link{Text: text, Href: href, Here: strings.HasPrefix(path, href) && (href != "/" || path == "/")}
		for _, prefix := range also {
			l.Here = l.Here || strings.HasPrefix(path, prefix)
		}
		return l
	}
	daily = []templates.Link{link(w.Invoices, "/", "/items/", bulkPath), link(templates.Period.Nav, "/periods"), link(templates.Plans.Nav, plansPath)}
	if review.MayRecord(by) {
		daily = append(daily, link(w.Import, "/import"))
	}
	daily = append(daily, link(w.Systems, "/systems", reportsPath), link(templates.Automations.Nav, automationsPath), link(templates.Overviews.Nav, overviewPath), link(templates.Attempts.Nav, attemptsPath))
	servers := link(templates.ServerWords.Nav, serversPath)
	if by.Can(work.Ops) && !by.Can(work.Admin) {
		setUp = []templates.Link{servers}
	}
	if by.Can(work.Admin) {
		setUp = []templates.Link{servers, link(templates.Limits.Nav, limitsPath), link(templates.EventWords.Nav, eventsPath), link(templates.Notices.Nav, "/notices"),
			link(p.People, "/people"), link(p.Tokens, "/tokens"), link(templates.Retention.Nav, retentionPath), link(p.Trail, "/audit")}
	}
	return daily, setUp
}

// shell is the frame with what everybody should know: systems that stand still.
func (s *server) shell(c echo.Context, title string) (templates.Shell, []review.SystemState, error) {
	shell := s.frame(c, title)
	shell.Zone = s.Zone.String()
	now, err := s.review.Now(c.Request().Context())
	if err != nil {
		return shell, nil, err
	}
	systems, err := s.systems.List(c.Request().Context(), person(c))
	if err != nil {
		return shell, nil, err
	}
	show := view{zone: s.Zone, now: now}
	for _, sys := range systems {
		for _, say := range show.systemTrouble(sys) {
			shell.Alerts = append(shell.Alerts, templates.Alert{Say: say, Href: "/systems"})
		}
	}
	alerts, err := s.systems.Alerts(c.Request().Context(), person(c))
	for _, a := range alerts {
		if a.Cause == automation.AlertClock && review.MayWatch(person(c)) {
			shell.Alerts = append(shell.Alerts, templates.Alert{Say: templates.Say("{text}", map[string]any{"text": text(a.Text, 300)}), Href: serversPath})
		}
		if a.Cause != automation.AlertOverdue {
			continue // the system's own state says so already
		}
		shell.Alerts = append(shell.Alerts, templates.Alert{Say: templates.Say("{text}", map[string]any{"text": text(a.Text, 300)}), Href: "/?tab=" + string(review.TabAll)})
	}
	return shell, systems, err
}

// render sends a page, complete or not at all.
func render(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	// An error page is rendered after the time of its request is over.
	if err := page.Render(context.WithoutCancel(c.Request().Context()), &b); err != nil {
		return err
	}
	return c.HTMLBlob(status, b.Bytes())
}

// static serves the style sheet, the script and the icon. Their names change with their content.
func (s *server) static(c echo.Context) error {
	f, ok := static.Open(c.Param("name"))
	if !ok {
		return echo.ErrNotFound
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Add("Vary", "Accept-Encoding")
	for _, accepted := range strings.Split(c.Request().Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(accepted) == "gzip" {
			h.Set("Content-Encoding", "gzip")
			return c.Blob(http.StatusOK, f.Type, f.Packed)
		}
	}
	return c.Blob(http.StatusOK, f.Type, f.Body)
}
