package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/work"
	"onefold/web/templates"
)

func (s *server) profilePage(c echo.Context) error { return s.showProfile(c, http.StatusOK, "") }

func (s *server) showProfile(c echo.Context, status int, problem string) error {
	return s.showProfileWith(c, status, problem, noticeForm{})
}

// showProfileWith shows the page with a form about messages that was not honoured.
func (s *server) showProfileWith(c echo.Context, status int, problem string, f noticeForm) error {
	ctx, v, w := c.Request().Context(), visit(c), templates.People
	shell, _, err := s.shell(c, w.Profile)
	if err != nil {
		return err
	}
	sessions, err := s.Auth.SessionsOf(ctx, v.Actor, v.User.ID)
	if err != nil {
		return err
	}
	left, err := s.Auth.CodesLeft(ctx, v.User.ID)
	if err != nil {
		return err
	}
	shell.Notice, shell.AtProfile = didPeople(c), true
	show := view{s.Zone, s.Auth.Clock()}
	m := templates.Profile{Shell: shell, Name: text(v.User.Name, 200), Facts: show.personFacts(v.User), Problem: problem,
		Password: v.User.PasswordHash != "" && s.Auth.Passwords(), HasStep: v.User.HasSecondStep(), Everywhere: len(sessions) > 1}
	m.MayHave = v.Session.Method == auth.ByPassword
	switch {
	case !m.MayHave:
		m.Step = []templates.Sentence{templates.Say(w.StepSays["sso"], map[string]any{"name": text(s.Auth.SSOName(), 60)})}
	case m.HasStep:
		m.Step = []templates.Sentence{templates.Say(w.StepSays["on"], nil), templates.Say(w.StepSays["codes"], map[string]any{"n": strconv.Itoa(left)})}
	default:
		m.Step = []templates.Sentence{templates.Say(w.StepSays["none"], nil)}
	}
	m.Sessions = show.browsers(sessions, v.Session.ID, "/profile")
	if m.Notices, err = s.noticeSettings(c, f); err != nil {
		return err
	}
	if f.problem != "" {
		m.Notice = nil
	}
	return render(c, status, templates.ProfilePage(m))
}

func (s *server) renameSelf(c echo.Context) error {
	v := visit(c)
	_, err := s.Auth.Rename(c.Request().Context(), v.Actor, origin(c), v.User.ID, strings.TrimSpace(c.FormValue("name")))
	if why := badInput(err, ""); why != "" {
		return s.showProfile(c, http.StatusUnprocessableEntity, why)
	}
	return backTo(c, err, "/profile?did=name")
}

func (s *server) renewCodes(c echo.Context) error {
	if !visit(c).User.HasSecondStep() { // the form is from before it was removed
		return backTo(c, nil, "/profile")
	}
	codes, err := s.Auth.RenewCodes(c.Request().Context(), visit(c), origin(c))
	if err != nil {
		return s.notFresh(c, err)
	}
	return s.showCodes(c, "/profile", codes)
}

func (s *server) removeOwnStep(c echo.Context) error {
	if err := s.Auth.RemoveSecondStep(c.Request().Context(), visit(c), origin(c), visit(c).User.ID); err != nil {
		return s.notFresh(c, err)
	}
	return backTo(c, nil, "/profile?did=step_removed")
}

func (s *server) endOwnSession(c echo.Context) error {
	v := visit(c)
	id, err := pathID(c, "session")
	if err == nil {
		err = s.Auth.RevokeSession(c.Request().Context(), v.Actor, origin(c), v.User.ID, id)
	}
	return backTo(c, err, "/profile?did=session")
}

func (s *server) endOtherSessions(c echo.Context) error {
	v := visit(c)
	_, err := s.Auth.RevokeSessions(c.Request().Context(), v.Actor, origin(c), v.User.ID, v.Session.ID)
	return backTo(c, err, "/profile?did=others")
}

func (s *server) signOutEverywhere(c echo.Context) error {
	return backTo(c, s.Auth.SignOutEverywhere(c.Response(), c.Request(), origin(c)), "/login")
}

func backTo(c echo.Context, err error, address string) error {
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, address)
}

// pathID is a number in the address.
func pathID(c echo.Context, name string) (int64, error) {
	id, err := strconv.ParseInt(c.Param(name), 10, 64)
	if err != nil || id < 1 {
		return 0, auth.ErrNotFound
	}
	return id, nil
}

// didPeople says what the last act did.
func didPeople(c echo.Context) *templates.Notice {
	say := orText(templates.People.Did[c.QueryParam("did")], templates.Notices.Did[c.QueryParam("did")])
	if say == "" {
		return nil
	}
	return &templates.Notice{Good: true, Say: templates.Say(say, nil)}
}

func (v view) personFacts(u auth.User) []templates.Fact {
	w := templates.People
	out := []templates.Fact{{Name: w.Fact["login"], Value: text(u.Login, 200)}, {Name: w.Fact["roles"], Value: rolesText(u.Roles)}}
	when := func(code string, at templates.Stamp) {
		if at.ISO != "" {
			out = append(out, templates.Fact{Name: w.Fact[code], At: &at})
		}
	}
	when("since", v.ago(u.CreatedAt))
	when("password", v.ago(u.PasswordChangedAt))
	when("last", v.ago(u.LastSignInAt))
	if u.OIDCIssuer != "" {
		out = append(out, templates.Fact{Name: w.Fact["sso"], Value: text(u.OIDCIssuer, 200)})
	}
	return out
}

func rolesText(roles []work.Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = templates.Pick(templates.People.Role, string(r))
	}
	return strings.Join(names, ", ")
}

// browsers lists sessions; base is the address of their person's page.
func (v view) browsers(list []auth.Session, here int64, base string) []templates.Browser {
	var out []templates.Browser
	for _, s := range list {
		out = append(out, templates.Browser{Text: browserName(s.UserAgent) + " · " + templates.People.Method[string(s.Method)], Agent: text(s.UserAgent, 200),
			Address: text(s.Address, 60), Since: v.ago(s.CreatedAt), Seen: v.ago(s.SeenAt), Here: s.ID == here,
			End: base + "/sessions/" + strconv.FormatInt(s.ID, 10) + "/end"})
	}
	return out
}

// How browsers and machines name themselves; the first that fits counts, since most claim to be others as well.
var (
	agents   = [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}
	machines = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"}, {"CrOS", "Chromebook"}, {"Linux", "Linux"}}
)

// browserName is what helps people to tell their browsers apart.
func browserName(agent string) string {
	find := func(list [][2]string) string {
		for _, known := range list {
			if strings.Contains(agent, known[0]) {
				return known[1]
			}
		}
		return ""
	}
	w := templates.People
	product, _, _ := strings.Cut(agent, "/")
	name, machine := orText(find(agents), orText(text(product, 40), w.Browser)), find(machines)
	if machine == "" {
		return name
	}
	return templates.Say(w.BrowserOn, map[string]any{"browser": name, "machine": machine}).String()
}
