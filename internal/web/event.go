package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/automation/events"
	"onefold/internal/automation/outcome"
	"onefold/web/templates"
)

const eventsPath = "/events"

// eventRoutes are the pages about events and outcomes, and the addresses that signed events come to.
func (s *server) eventRoutes(r *router) {
	r.add(post, "/api/v1/events", scope(auth.ItemsWrite), eventBounds, jsonOnly(s.apiEvent))
	r.page(get, openAPIPath, open(), s.openAPI)
	r.add(post, "/hooks/orders/:id", signed(), eventBounds, jsonOnly(s.orderHook))
	r.add(post, "/hooks/systems/:id", signed(), eventBounds, jsonOnly(s.systemHook))

	r.page(get, eventsPath, admins, s.eventsPage)
	r.page(get, eventsPath+"/log", admins, s.eventLogPage)
	r.page(post, eventsPath+"/senders", admins, s.connectSender)
	r.page(post, eventsPath+"/senders/:kind/:id/secret", admins, s.newSenderSecret)
	r.page(post, eventsPath+"/senders/:kind/:id/old", admins, s.dropSenderSecret)
	r.page(post, eventsPath+"/senders/:kind/:id/remove", admins, s.removeSender)
	r.page(post, eventsPath+"/endpoints", admins, s.connectEndpoint)
	r.page(post, eventsPath+"/endpoints/:id/remove", admins, s.removeEndpoint)
	r.page(post, eventsPath+"/outcomes/:id/again", admins, s.outcomeAgain)
}

func (s *server) eventsPage(c echo.Context) error {
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	var m templates.Events
	if kept && (f.Path == eventsPath+"/senders" || f.Path == eventsPath+"/endpoints") {
		m = typedEvents(f.Path, f.Fields)
		m.Notice = &templates.Notice{Say: templates.Say(templates.People.Restored, nil)}
	}
	return s.showEvents(c, http.StatusOK, m)
}

// typedEvents is the page with the form of the path as it was filled in.
func typedEvents(path string, f url.Values) (m templates.Events) {
	get := func(name string) string { return text(f.Get(name), 1000) }
	switch {
	case path == eventsPath+"/endpoints":
		m.Endpoint = templates.EndpointForm{Name: get("name"), Address: get("address"), Automation: get("automation")}
	case f.Get("kind") == string(events.Orders):
		m.Sender = templates.SenderForm{Name: get("name"), ID: get("id"), System: get("system"), Automation: get("automation")}
	}
	return m
}

func (s *server) showEvents(c echo.Context, status int, m templates.Events) error {
	ctx, by, w, notice := c.Request().Context(), person(c), templates.EventWords, m.Notice
	shell, systems, err := s.shell(c, w.Title)
	if err != nil {
		return err
	}
	m.Shell = shell
	if m.Notice = notice; notice == nil && m.Sender.Problem == nil && m.Endpoint.Problem == nil {
		m.Notice = didEvents(c)
	}
	senders, err := s.events.Senders(ctx, by)
	if err != nil {
		return err
	}
	endpoints, err := s.outcomes.Endpoints(ctx, by)
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show, names, told := view{s.Zone, now}, map[string]string{}, map[string]bool{}
	for _, sys := range systems {
		names[sys.ID] = text(sys.Name, 60)
		m.Systems = append(m.Systems, templates.Choice{Value: sys.ID, Text: names[sys.ID]})
	}
	base := orText(s.PublicURL, c.Scheme()+"://"+c.Request().Host)
	for _, sn := range senders {
		row := show.senderRow(sn, base, orText(names[sn.SystemID], sn.SystemID))
		if sn.Kind == events.System {
			told[sn.ID] = true
			m.Notices = append(m.Notices, row)
		} else {
			m.Senders = append(m.Senders, row)
		}
	}
	for _, sys := range systems {
		if !told[sys.ID] {
			m.Silent = append(m.Silent, templates.Choice{Value: sys.ID, Text: names[sys.ID]})
		}
	}
	for _, e := range endpoints {
		m.Endpoints = append(m.Endpoints, templates.EndpointRow{Name: text(e.Name, 80), Address: text(e.Address, 200), Automation: text(e.Automation, 60),
			Changed: show.ago(e.ChangedAt), By: text(name(e.ChangedBy), 60), Path: eventsPath + "/endpoints/" + strconv.FormatInt(e.ID, 10)})
	}
	m.Automation = events.OrdersAutomation
	return render(c, status, templates.EventsPage(m))
}

func (v view) senderRow(sn events.Sender, base, system string) templates.SenderRow {
	return templates.SenderRow{Name: text(sn.Name, 80), Address: base + "/hooks/" + map[events.Kind]string{events.Orders: "orders/", events.System: "systems/"}[sn.Kind] + url.PathEscape(sn.ID),
		System: text(system, 60), Automation: text(sn.Automation, 60), Two: sn.SecretN > 1, Changed: v.ago(sn.ChangedAt), By: text(name(sn.ChangedBy), 60),
		Path: eventsPath + "/senders/" + string(sn.Kind) + "/" + url.PathEscape(sn.ID)}
}

// didEvents says what the last act did.
func didEvents(c echo.Context) *templates.Notice {
	if say := templates.EventWords.Did[c.QueryParam("did")]; say != "" {
		return &templates.Notice{Good: true, Say: templates.Say(say, nil)}
	}
	return nil
}

// showSecret is the page with a secret on it, this once.
func (s *server) showSecret(c echo.Context, secret, name string) error {
	return s.showEvents(c, http.StatusOK, templates.Events{Secret: &templates.NewSecret{Value: secret,
		Say: templates.Say(templates.EventWords.Secret, map[string]any{"name": text(name, 200)})}})
}

// connectSender lets a sender in, and shows its secret.
func (s *server) connectSender(c echo.Context) error {
	f := c.Request().PostForm
	sn := events.Sender{Kind: events.Kind(f.Get("kind")), ID: f.Get("id"), Name: f.Get("name"), SystemID: f.Get("system"), Automation: f.Get("automation")}
	secret, err := s.events.Connect(c.Request().Context(), person(c), sn)
	var bad *events.Invalid
	if errors.As(err, &bad) {
		m := typedEvents(eventsPath+"/senders", f)
		m.Sender.Problem = map[string]string{bad.Field: bad.Text}
		return s.showEvents(c, http.StatusUnprocessableEntity, m)
	}
	if err != nil {
		return eventError(err)
	}
	return s.showSecret(c, secret, orText(sn.Name, sn.ID))
}

func (s *server) newSenderSecret(c echo.Context) error {
	secret, err := s.events.NewSecret(c.Request().Context(), person(c), events.Kind(c.Param("kind")), c.Param("id"))
	if err != nil {
		return eventError(err)
	}
	return s.showSecret(c, secret, c.Param("id"))
}

func (s *server) dropSenderSecret(c echo.Context) error {
	err := s.events.DropOld(c.Request().Context(), person(c), events.Kind(c.Param("kind")), c.Param("id"))
	return backTo(c, eventError(err), eventsPath+"?did=old")
}

func (s *server) removeSender(c echo.Context) error {
	err := s.events.Disconnect(c.Request().Context(), person(c), events.Kind(c.Param("kind")), c.Param("id"))
	return backTo(c, eventError(err), eventsPath+"?did=removed")
}

func (s *server) connectEndpoint(c echo.Context) error {
	f := c.Request().PostForm
	secret, err := s.outcomes.Connect(c.Request().Context(), person(c), outcome.Endpoint{Name: f.Get("name"), Address: f.Get("address"), Automation: f.Get("automation")})
	var bad *outcome.Invalid
	if errors.As(err, &bad) {
		m := typedEvents(eventsPath+"/endpoints", f)
		m.Endpoint.Problem = map[string]string{bad.Field: bad.Text}
		return s.showEvents(c, http.StatusUnprocessableEntity, m)
	}
	if err != nil {
		return eventError(err)
	}
	return s.showSecret(c, secret, f.Get("name"))
}

func (s *server) removeEndpoint(c echo.Context) error {
	id, err := pathID(c, "id")
	if err == nil {
		err = s.outcomes.Remove(c.Request().Context(), person(c), id)
	}
	return backTo(c, eventError(err), eventsPath+"?did=endpoint")
}

func (s *server) outcomeAgain(c echo.Context) error {
	id, err := pathID(c, "id")
	if err == nil {
		err = s.outcomes.Again(c.Request().Context(), person(c), id)
	}
	return backTo(c, eventError(err), eventsPath+"/log?did=again")
}

// eventError is an error of these services as pages know it.
func eventError(err error) error {
	switch {
	case errors.Is(err, events.ErrNotAdmin), errors.Is(err, outcome.ErrNotAdmin):
		return auth.ErrForbidden
	case errors.Is(err, events.ErrNoSender), errors.Is(err, outcome.ErrNone):
		return auth.ErrNotFound
	}
	return err
}
