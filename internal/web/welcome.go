package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/web/templates"
)

const welcomePath = "/welcome/"

// welcomePage is where a one-time link leads: an invitation or a link for a new password.
func (s *server) welcomePage(c echo.Context) error { return s.showWelcome(c, http.StatusOK, "") }

func (s *server) welcome(c echo.Context) error {
	password := c.FormValue("password")
	if !s.Auth.Passwords() {
		return auth.ErrLinkGone
	}
	if password != c.FormValue("repeat") {
		return s.showWelcome(c, http.StatusUnprocessableEntity, templates.People.PasswordDiffers)
	}
	_, err := s.Auth.UseLink(c.Request().Context(), c.Param("token"), password, origin(c))
	if why := weak(err); why != "" {
		return s.showWelcome(c, http.StatusUnprocessableEntity, why)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/login?did=welcome")
}

func (s *server) showWelcome(c echo.Context, status int, problem string) error {
	if !s.Auth.Passwords() {
		return auth.ErrLinkGone
	}
	link, u, err := s.Auth.OpenLink(c.Request().Context(), c.Param("token"))
	if err != nil {
		return err
	}
	return render(c, status, templates.WelcomePageOf(templates.WelcomePage{Shell: s.frame(c, templates.People.PasswordNew),
		Post: welcomePath + url.PathEscape(c.Param("token")), Login: u.Login, Name: text(u.Name, 200), Invitation: link.Kind == auth.Invitation,
		Problem: problem, MinLength: minPassword}))
}

// setUpPage adds the first person, once: it is gone as soon as there is somebody.
func (s *server) setUpPage(c echo.Context) error {
	if done, err := s.setUpIsDone(c); done || err != nil {
		return err
	}
	return s.showSetUp(c, http.StatusOK, templates.SetUpPage{Login: "admin"})
}

func (s *server) setUp(c echo.Context) error {
	if done, err := s.setUpIsDone(c); done || err != nil {
		return err
	}
	m := templates.SetUpPage{Login: text(c.FormValue("login"), 200), Name: text(c.FormValue("name"), 200)}
	password := c.FormValue("password")
	if !s.Auth.CheckSetUpCode(c.FormValue("code")) {
		s.Log.WarnContext(c.Request().Context(), "a set-up was refused: wrong code", "from", c.RealIP())
		m.Problem = templates.People.SetUpWrong
		return s.showSetUp(c, http.StatusForbidden, m)
	}
	if password != c.FormValue("repeat") {
		m.Problem = templates.People.PasswordDiffers
		return s.showSetUp(c, http.StatusUnprocessableEntity, m)
	}
	_, err := s.Auth.SetUp(c.Request().Context(), m.Login, m.Name, password, origin(c))
	if m.Problem = orText(weak(err), badInput(err, "")); m.Problem != "" {
		return s.showSetUp(c, http.StatusUnprocessableEntity, m)
	}
	if errors.Is(err, auth.ErrSetUpDone) { // somebody was quicker
		return c.Redirect(http.StatusSeeOther, "/login")
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/login?did=setup")
}

func (s *server) setUpIsDone(c echo.Context) (bool, error) {
	there, err := s.Auth.AnyUser(c.Request().Context())
	if err == nil && (there || !s.Auth.Passwords()) {
		return true, c.Redirect(http.StatusSeeOther, "/login")
	}
	return false, err
}

func (s *server) showSetUp(c echo.Context, status int, m templates.SetUpPage) error {
	m.Shell, m.MinLength = s.frame(c, templates.People.SetUpTitle), minPassword
	return render(c, status, templates.SetUpPageOf(m))
}

// badInput says what cannot be accepted, if that is the error; else it returns nothing. Kind tells inputs of one name apart.
func badInput(err error, kind string) string {
	var bad *auth.BadInput
	w := templates.People
	switch {
	case errors.As(err, &bad):
		return templates.Pick(w.BadInput, kind+"/"+bad.Field, bad.Field)
	case errors.Is(err, auth.ErrLoginTaken):
		return w.LoginTaken
	case errors.Is(err, auth.ErrLastAdmin):
		return w.LastAdmin
	}
	return ""
}
