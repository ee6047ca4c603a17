package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/notice"
	"onefold/web/templates"
)

// Rows of messages on pages.
const (
	ownNotices = 5
	allNotices = 200
)

// toTell is a person as somebody who is told things.
func toTell(u auth.User) notice.Person {
	return notice.Person{ID: u.ID, Name: u.Name, Email: u.Email, Roles: u.Roles}
}

// noticeForm is a form about messages that was not honoured: what was typed and why.
type noticeForm struct {
	email    *string
	settings *notice.Settings
	problem  string
}

// noticeSettings is the part of the person's own page about messages.
func (s *server) noticeSettings(c echo.Context, f noticeForm) (templates.NoticeSettings, error) {
	ctx, u, w := c.Request().Context(), visit(c).User, templates.Notices
	set, err := s.notices.Settings(ctx, toTell(u))
	if err != nil {
		return templates.NoticeSettings{}, err
	}
	m := templates.NoticeSettings{Email: text(u.Email, 254), Suggested: set.ChangedAt.IsZero(), NoMail: !s.notices.Mail, NoAddress: u.Email == "", Problem: f.problem,
		HourHint: templates.Say(w.HourHint, map[string]any{"zone": s.Zone.String()})}
	if f.settings != nil {
		set, m.Suggested = *f.settings, false
	}
	if f.email != nil {
		m.Email = text(*f.email, 300)
	}
	m.Alerts, m.Mine, m.Hour = set.Alerts, set.Mine, strconv.Itoa(set.Hour)
	for _, mode := range notice.Modes {
		m.Modes = append(m.Modes, templates.Tick{Value: string(mode), Text: w.Mode[string(mode)], Help: w.ModeHelp[string(mode)], On: mode == set.Items})
	}
	for h := range 24 {
		m.Hours = append(m.Hours, templates.Choice{Value: strconv.Itoa(h), Text: twoDigits(h) + ":00"})
	}
	systems, err := s.systems.List(ctx, person(c))
	if err != nil {
		return m, err
	}
	if len(systems) > 1 || len(set.Systems) > 0 {
		for _, sys := range systems {
			m.Systems = append(m.Systems, templates.Tick{Value: sys.ID, Text: text(sys.Name, 60), On: len(set.Systems) == 0 || slices.Contains(set.Systems, sys.ID)})
		}
	}
	recent, err := s.notices.Own(ctx, toTell(u), ownNotices)
	if err != nil {
		return m, err
	}
	now, err := s.review.Now(ctx)
	show := view{s.Zone, now}
	for _, d := range recent {
		m.Recent = append(m.Recent, show.noticeRow(d))
	}
	return m, err
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

func (s *server) setOwnEmail(c echo.Context) error {
	v, typed := visit(c), c.FormValue("email")
	_, err := s.Auth.SetEmail(c.Request().Context(), v.Actor, origin(c), v.User.ID, typed)
	if why := badEmail(err); why != "" {
		return s.showProfileWith(c, http.StatusUnprocessableEntity, "", noticeForm{email: &typed, problem: why})
	}
	return backTo(c, err, "/profile?did=email#notices")
}

// setEmail changes a person's address, for admins.
func (s *server) setEmail(c echo.Context) error {
	id, err := pathID(c, "id")
	typed := c.FormValue("email")
	if err == nil {
		_, err = s.Auth.SetEmail(c.Request().Context(), person(c), origin(c), id, typed)
	}
	if why := badEmail(err); why != "" {
		return s.showPerson(c, http.StatusUnprocessableEntity, templates.PersonPage{Problem: why, Email: text(typed, 300)})
	}
	return backTo(c, err, personPath(id)+"?did=email")
}

func badEmail(err error) string {
	var bad *auth.BadInput
	if errors.As(err, &bad) && bad.Field == "email" {
		return templates.Notices.Invalid["email"]
	}
	return ""
}

func (s *server) saveNotices(c echo.Context) error {
	ctx, v, f := c.Request().Context(), visit(c), c.Request().PostForm
	hour, err := strconv.Atoi(f.Get("hour"))
	if err != nil {
		hour = -1
	}
	set := notice.Settings{Items: notice.Mode(f.Get("items")), Alerts: f.Get("alerts") == "yes", Mine: f.Get("mine") == "yes", Hour: hour}
	systems, err := s.systems.List(ctx, person(c))
	if err != nil {
		return err
	}
	for _, sys := range systems {
		if slices.Contains(f["system"], sys.ID) {
			set.Systems = append(set.Systems, sys.ID)
		}
	}
	refused := func(field string) error {
		if set.Hour < 0 || set.Hour > 23 {
			set.Hour = notice.DefaultHour
		}
		return s.showProfileWith(c, http.StatusUnprocessableEntity, "", noticeForm{settings: &set, problem: templates.Notices.Invalid[field]})
	}
	if len(systems) > 1 && len(set.Systems) == 0 {
		return refused("systems")
	}
	if len(set.Systems) == len(systems) { // all, also those connected later
		set.Systems = nil
	}
	err = s.notices.Save(ctx, v.Actor, toTell(v.User), set)
	var bad *notice.Invalid
	if errors.As(err, &bad) {
		return refused(bad.Field)
	}
	return backTo(c, err, "/profile?did=notices#notices")
}

func (s *server) testNotice(c echo.Context) error {
	v := visit(c)
	err := s.notices.Test(c.Request().Context(), v.Actor, toTell(v.User))
	var no notice.TestRefused
	if errors.As(err, &no) {
		return s.showProfileWith(c, http.StatusUnprocessableEntity, "", noticeForm{problem: templates.Notices.Refused[string(no)]})
	}
	return backTo(c, err, "/profile?did=test#notices")
}

// noticesPage shows admins what was told to whom, and how messages are set up.
func (s *server) noticesPage(c echo.Context) error {
	ctx, w := c.Request().Context(), templates.Notices
	shell, _, err := s.shell(c, w.Nav)
	if err != nil {
		return err
	}
	list, err := s.notices.All(ctx, person(c), allNotices)
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	m := templates.NoticeList{Shell: shell, HowTo: !s.notices.Mail && len(s.notices.Webhooks) == 0}
	mail, hooks := w.MailOff, templates.Say(w.HooksOff, nil)
	if s.notices.Mail {
		mail = w.MailOn
	}
	if len(s.notices.Webhooks) > 0 {
		hooks = templates.Say(w.HooksOn, map[string]any{"names": strings.Join(s.notices.Webhooks, ", ")})
	}
	m.Channels = []templates.Sentence{templates.Say(mail, nil), hooks}
	show := view{s.Zone, now}
	for _, d := range list {
		m.Rows = append(m.Rows, show.noticeRow(d))
	}
	return render(c, http.StatusOK, templates.NoticesPage(m))
}

// Signs and tones of what became of a message.
var noticeBadges = map[notice.Status]templates.Badge{notice.Waits: {Sign: "…", Tone: "busy"}, notice.Sent: {Sign: "✓", Tone: "good"}, notice.Failed: {Sign: "!", Tone: "ask"},
	notice.Unclear: {Sign: "?", Tone: "busy"}, notice.Dropped: {Sign: "×", Tone: "quiet"}}

func (v view) noticeRow(d notice.Delivery) templates.NoticeRow {
	w := templates.Notices
	r := templates.NoticeRow{At: v.ago(d.MadeAt), To: text(d.Name, 80), Address: text(d.Address, 100), Kind: templates.Pick(w.Kind, string(d.Kind)),
		Subject: text(d.Message.Subject, 150), Badge: noticeBadges[d.Status]}
	r.Badge.Text = templates.Pick(w.Status, string(d.Status))
	also := func(pattern string, values map[string]any) {
		if len(r.Also) > 0 {
			pattern = " · " + pattern
		}
		r.Also = append(r.Also, templates.Say(pattern, values)...)
	}
	switch {
	case d.Status != notice.Waits:
		also("{at}", map[string]any{"at": v.clock(d.ClosedAt)})
	case d.NextAt.After(v.now):
		also(w.Status["again"], map[string]any{"at": v.ago(d.NextAt)})
	}
	if d.Tries > 1 {
		also(w.Tries, map[string]any{"n": strconv.Itoa(d.Tries)})
	}
	if d.LastError != "" {
		also("{text}", map[string]any{"text": text(d.LastError, 300)})
	}
	return r
}

// MessageWords hands the wording of messages from where all wording is to where messages are made.
func MessageWords() notice.Words {
	m := templates.Messages
	return notice.Words{OneNew: m.OneNew, ManyNew: m.ManyNew, OneWaits: m.OneWaits, ManyWait: m.ManyWait, NewLead: m.NewLead, NewLeadAll: m.NewLeadAll, WaitLead: m.WaitLead,
		Line: m.Line, LineError: m.LineError, Example: m.Example, ExampleOf: m.ExampleOf, MoreGroups: m.MoreGroups, OpenList: m.OpenList, OpenSystems: m.OpenSystems,
		AlertOne: m.AlertOne, AlertMany: m.AlertMany, AlertLead: m.AlertLead, OverOne: m.OverOne, OverMany: m.OverMany, OverLead: m.OverLead, OverLine: m.OverLine,
		TestSubject: m.TestSubject, TestLead: m.TestLead, FootPerson: m.FootPerson, FootWebhook: m.FootWebhook, CauseSays: m.CauseSays, Errors: m.Errors,
		Why: templates.Words.ReasonShort}
}
