package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/web/templates"
)

// personPage shows one person to admins.
func (s *server) personPage(c echo.Context) error {
	return s.showPerson(c, http.StatusOK, templates.PersonPage{})
}

func (s *server) showPerson(c echo.Context, status int, m templates.PersonPage) error {
	ctx, by, w := c.Request().Context(), person(c), templates.People
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	u, err := s.Auth.User(ctx, by, id)
	if err != nil {
		return err
	}
	sessions, err := s.Auth.SessionsOf(ctx, by, id)
	if err != nil {
		return err
	}
	if m.Shell, _, err = s.shell(c, text(u.Name, 80)); err != nil {
		return err
	}
	if m.Problem == "" {
		m.Notice = didPeople(c)
	}
	show := view{s.Zone, s.Auth.Clock()}
	m.Path, m.Login, m.Name, m.Badge, m.Facts = personPath(id), text(u.Login, 200), text(u.Name, 200), personBadge(u), show.personFacts(u)
	m.Facts = append(m.Facts, templates.Fact{Name: w.Fact["step"], Value: stepText(u)})
	m.Disabled, m.HasStep, m.TrailHref = u.Disabled(), u.HasSecondStep(), "/audit?who=person:"+u.Actor().ID
	if m.Roles == nil {
		m.Roles = roleTicks(u.Roles)
	}
	switch {
	case u.Disabled() || !s.Auth.Passwords():
	case u.PasswordHash == "":
		m.LinkText = w.LinkInvite
	default:
		m.LinkText = w.LinkReset
	}
	m.Email = orText(m.Email, text(u.Email, 254))
	m.Sessions = show.browsers(sessions, visit(c).Session.ID, m.Path)
	return render(c, status, templates.PersonPageOf(m))
}

// onPerson carries out one act on the person in the address and goes back to their page.
func (s *server) onPerson(did string, act func(ctx context.Context, c echo.Context, id int64) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := pathID(c, "id")
		if err == nil {
			err = act(c.Request().Context(), c, id)
		}
		if why := badInput(err, ""); why != "" {
			return s.showPerson(c, http.StatusUnprocessableEntity, templates.PersonPage{Problem: why})
		}
		return backTo(c, err, personPath(id)+"?did="+did)
	}
}

func (s *server) renamePerson(ctx context.Context, c echo.Context, id int64) error {
	_, err := s.Auth.Rename(ctx, person(c), origin(c), id, strings.TrimSpace(c.FormValue("name")))
	return err
}

func (s *server) setRoles(ctx context.Context, c echo.Context, id int64) error {
	_, err := s.Auth.SetRoles(ctx, person(c), origin(c), id, rolesIn(c.Request().PostForm["role"]))
	return err
}

func (s *server) disablePerson(ctx context.Context, c echo.Context, id int64) error {
	_, err := s.Auth.SetDisabled(ctx, person(c), origin(c), id, true)
	return err
}

func (s *server) enablePerson(ctx context.Context, c echo.Context, id int64) error {
	_, err := s.Auth.SetDisabled(ctx, person(c), origin(c), id, false)
	return err
}

func (s *server) removeStep(ctx context.Context, c echo.Context, id int64) error {
	return s.Auth.RemoveSecondStep(ctx, visit(c), origin(c), id)
}

func (s *server) endSession(ctx context.Context, c echo.Context, id int64) error {
	session, err := pathID(c, "session")
	if err != nil {
		return err
	}
	return s.Auth.RevokeSession(ctx, person(c), origin(c), id, session)
}

func (s *server) endSessions(ctx context.Context, c echo.Context, id int64) error {
	_, err := s.Auth.RevokeSessions(ctx, person(c), origin(c), id, 0)
	return err
}

// makeLink shows a one-time link, this once.
func (s *server) makeLink(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	u, err := s.Auth.User(c.Request().Context(), person(c), id)
	if err != nil {
		return err
	}
	token, link, err := s.Auth.MakeLink(c.Request().Context(), person(c), origin(c), id)
	if err != nil {
		return err
	}
	return s.showPerson(c, http.StatusOK, templates.PersonPage{Link: s.oneTimeLink(c, u, token, link.ExpiresAt)})
}
