package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/work"
	"onefold/web/templates"
)

// peoplePage lists everybody, for admins.
func (s *server) peoplePage(c echo.Context) error {
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	m := templates.PeopleList{}
	if kept && f.Path == "/people" {
		m.Invite = templates.Invite{Login: text(f.Fields.Get("login"), 200), Name: text(f.Fields.Get("name"), 200), Roles: roleTicks(rolesIn(f.Fields["role"]))}
		m.Notice = &templates.Notice{Say: templates.Say(templates.People.Restored, nil)}
	}
	return s.showPeople(c, http.StatusOK, m)
}

func (s *server) showPeople(c echo.Context, status int, m templates.PeopleList) error {
	ctx, by, notice := c.Request().Context(), person(c), m.Notice
	var err error
	if m.Shell, _, err = s.shell(c, templates.People.People); err != nil {
		return err
	}
	users, err := s.Auth.Users(ctx, by)
	if err != nil {
		return err
	}
	set, err := s.Auth.Settings(ctx)
	if err != nil {
		return err
	}
	show := view{s.Zone, s.Auth.Clock()}
	if m.Require, m.Notice = set.RequireSecondStep, notice; notice == nil {
		m.Notice = didPeople(c)
	}
	m.Invite.Help, m.Invite.Label = templates.People.InviteSay, templates.People.InviteDo
	if !s.Auth.Passwords() {
		m.Invite.Help, m.Invite.Label = templates.People.AddSay, templates.People.AddDo
	}
	if m.Invite.Roles == nil {
		m.Invite.Roles = roleTicks([]work.Role{work.Viewer})
	}
	for _, u := range users {
		m.Rows = append(m.Rows, show.personRow(u))
	}
	return render(c, status, templates.PeoplePage(m))
}

func (v view) personRow(u auth.User) templates.PersonRow {
	w := templates.People
	r := templates.PersonRow{Href: personPath(u.ID), Login: text(u.Login, 200), Name: text(u.Name, 200), Roles: rolesText(u.Roles), Badge: personBadge(u),
		Step: stepText(u), Last: v.ago(u.LastSignInAt)}
	if u.LastSignInAt.IsZero() {
		r.Never = w.Never
	}
	return r
}

func stepText(u auth.User) string {
	w := templates.People.StepSays
	switch {
	case u.HasSecondStep():
		return w["yes"]
	case u.PasswordHash == "" && u.OIDCSubject != "":
		return w["elsewhere"]
	}
	return w["no"]
}

func personBadge(u auth.User) templates.Badge {
	w := templates.People.State
	switch {
	case u.Disabled():
		return templates.Badge{Sign: "×", Tone: "quiet", Text: w["disabled"]}
	case u.PasswordHash == "" && u.OIDCSubject == "":
		return templates.Badge{Sign: "…", Tone: "wait", Text: w["invited"]}
	}
	return templates.Badge{Sign: "✓", Tone: "good", Text: w["active"]}
}

func personPath(id int64) string { return "/people/" + strconv.FormatInt(id, 10) }

func roleTicks(on []work.Role) []templates.Tick {
	var out []templates.Tick
	for _, r := range auth.AllRoles {
		out = append(out, templates.Tick{Value: string(r), Text: templates.People.Role[string(r)], Help: templates.People.RoleHelp[string(r)], On: slices.Contains(on, r)})
	}
	return out
}

func rolesIn(values []string) []work.Role {
	roles := make([]work.Role, len(values))
	for i, v := range values {
		roles[i] = work.Role(v)
	}
	return roles
}

// invite adds a person and shows the link by which they choose a password, this once.
func (s *server) invite(c echo.Context) error {
	roles := rolesIn(c.Request().PostForm["role"])
	n := auth.NewUser{Login: c.FormValue("login"), Name: strings.TrimSpace(c.FormValue("name")), Roles: roles}
	u, token, err := s.Auth.Invite(c.Request().Context(), person(c), origin(c), n)
	if why := badInput(err, ""); why != "" {
		return s.showPeople(c, http.StatusUnprocessableEntity, templates.PeopleList{Invite: templates.Invite{Login: text(n.Login, 200), Name: text(n.Name, 200),
			Roles: roleTicks(roles), Problem: why}})
	}
	if err != nil {
		return err
	}
	if !s.Auth.Passwords() { // there is nothing to choose: the provider knows them
		return backTo(c, nil, "/people?did=added")
	}
	return s.showPeople(c, http.StatusOK, templates.PeopleList{Link: s.oneTimeLink(c, u, token, s.Auth.Clock().Add(auth.InvitationFor))})
}

func (s *server) oneTimeLink(c echo.Context, u auth.User, token string, until time.Time) *templates.OneTimeLink {
	show := view{s.Zone, s.Auth.Clock()}
	return &templates.OneTimeLink{Href: s.publicURL(c) + welcomePath + token,
		Say: templates.Say(templates.People.LinkSay, map[string]any{"name": text(u.Name, 200), "until": show.clock(until)})}
}

// publicURL is the address of these pages as other people reach them.
func (s *server) publicURL(c echo.Context) string {
	if s.PublicURL != "" {
		return strings.TrimRight(s.PublicURL, "/")
	}
	scheme := "http://"
	if s.overTLS(c.Request()) {
		scheme = "https://"
	}
	return scheme + c.Request().Host
}

func (s *server) requireStep(c echo.Context) error {
	set := auth.SignInSettings{RequireSecondStep: c.FormValue("require") == "yes"}
	did := map[bool]string{true: "required", false: "not_required"}[set.RequireSecondStep]
	return backTo(c, s.Auth.SetSettings(c.Request().Context(), person(c), origin(c), set), "/people?did="+did)
}
