package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation/events"
	"onefold/internal/automation/outcome"
	"onefold/web/templates"
)

// logRows is how much of each log is shown.
const logRows = 100

// eventLogPage shows admins what was received and what was told.
func (s *server) eventLogPage(c echo.Context) error {
	ctx, by, w := c.Request().Context(), person(c), templates.EventWords
	shell, _, err := s.shell(c, w.Log)
	if err != nil {
		return err
	}
	failed := c.QueryParam("only") == "failed"
	sent, err := s.outcomes.Log(ctx, by, failed, logRows)
	if err != nil {
		return eventError(err)
	}
	received, err := s.events.Log(ctx, by, logRows)
	if err != nil {
		return eventError(err)
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	m := templates.EventLog{Shell: shell, Failed: failed}
	m.Notice = didEvents(c)
	show := view{s.Zone, now}
	for _, d := range sent {
		m.Sent = append(m.Sent, show.outcomeRow(d))
	}
	for _, e := range received {
		m.Received = append(m.Received, show.eventRow(e))
	}
	return render(c, http.StatusOK, templates.EventLogPage(m))
}

// Signs and tones of what became of a message.
var outcomeBadges = map[outcome.State]templates.Badge{outcome.Waiting: {Sign: "…", Tone: "busy"}, outcome.Delivered: {Sign: "✓", Tone: "good"},
	outcome.Failed: {Sign: "!", Tone: "ask"}, outcome.Dropped: {Sign: "×", Tone: "quiet"}}

func (v view) outcomeRow(d outcome.Delivery) templates.OutcomeRow {
	w, it := templates.EventWords, d.Item
	r := templates.OutcomeRow{Key: text(it.BusinessKey, 120), Href: itemHref(it.ID), Told: templates.Pick(w.Told, string(it.Status)), To: text(d.Endpoint, 80), Address: text(d.Address, 120),
		Badge: outcomeBadges[d.State], Error: sentence(text(d.LastError, 320)), At: v.ago(d.MadeAt)}
	if len(it.Steps) > 1 {
		r.Step = text(it.Step, 40)
	}
	r.Badge.Text = templates.Pick(w.State, string(d.State))
	if d.State == outcome.Waiting && d.Tries > 0 {
		r.Badge.Tone = "wait"
		r.Also = templates.Say(w.NextTry, map[string]any{"n": strconv.Itoa(d.Tries), "at": v.clock(d.NextAt)})
	} else if d.Tries > 1 {
		r.Also = templates.Say(w.Tries, map[string]any{"n": strconv.Itoa(d.Tries)})
	}
	if d.State != outcome.Dropped && (d.State != outcome.Waiting || d.Tries > 0) {
		r.Again = eventsPath + "/outcomes/" + strconv.FormatInt(d.ID, 10) + "/again"
	}
	return r
}

func itemHref(id int64) string { return "/items/" + strconv.FormatInt(id, 10) }

// Signs and tones of what became of an event.
var eventBadges = map[events.Result]templates.Badge{"new": {Sign: "✓", Tone: "good"}, "known": {Sign: "=", Tone: "quiet"}, "conflict": {Sign: "!", Tone: "ask"},
	"spelling": {Sign: "!", Tone: "ask"}, "taken": {Sign: "!", Tone: "ask"}, "refused": {Sign: "!", Tone: "ask"}, "off": {Sign: "!", Tone: "ask"}, events.Looking: {Sign: "?", Tone: "busy"},
	events.Outdated: {Sign: "×", Tone: "quiet"}, events.Unknown: {Sign: "×", Tone: "quiet"}, events.Noted: {Sign: "=", Tone: "quiet"}}

func (v view) eventRow(e events.Event) templates.EventRow {
	w := templates.EventWords
	r := templates.EventRow{Subject: text(e.Subject, 120), Type: text(e.Type, 80), From: text(e.Sender, 80), ID: text(e.EventID, 80), Badge: eventBadges[e.Result],
		Detail: sentence(text(e.Detail, 320)), At: v.ago(e.ReceivedAt)}
	r.Badge.Text = templates.Pick(w.Result, string(e.Result))
	if e.ItemID != 0 {
		r.Href = itemHref(e.ItemID)
	}
	if e.Times > 1 {
		r.Times = templates.Say(w.Times, map[string]any{"n": strconv.FormatInt(e.Times, 10)})
	}
	return r
}
