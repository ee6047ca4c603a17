package web

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/web/templates"
)

func (s *server) loginPage(c echo.Context) error {
	v, err := s.Auth.Peek(c.Request())
	if err != nil {
		return err
	}
	if v.Ready() {
		return c.Redirect(http.StatusSeeOther, localPath(c.QueryParam("next")))
	}
	return s.showLogin(c, http.StatusOK, c.QueryParam("next"), "", "")
}

func (s *server) login(c echo.Context) error {
	next, login := c.FormValue("next"), c.FormValue("login")
	_, err := s.Auth.SignIn(c.Response(), c.Request(), login, c.FormValue("password"), origin(c))
	var slow *auth.Throttled
	switch {
	case errors.As(err, &slow):
		wait := slow.Wait.Truncate(time.Second) + time.Second
		c.Response().Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())))
		return s.showLogin(c, http.StatusTooManyRequests, next, login, fmt.Sprintf(templates.Words.Throttled, wait))
	case errors.Is(err, auth.ErrWrong):
		s.Log.Warn("a sign-in failed", "from", c.RealIP())
		return s.showLogin(c, http.StatusUnauthorized, next, login, templates.Words.WrongLogin)
	case err != nil:
		return err
	}
	return c.Redirect(http.StatusSeeOther, localPath(next))
}

func (s *server) showLogin(c echo.Context, status int, next, login, problem string) error {
	return render(c, status, templates.LoginPage(templates.Login{Shell: s.frame(c, templates.Words.SignIn), Next: localPath(next),
		Login: text(login, 200), Problem: problem}))
}

func (s *server) logout(c echo.Context) error {
	if err := s.Auth.SignOut(c.Response(), c.Request(), origin(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/login")
}

// origin is where the request came from, for the audit trail and against guessing.
func origin(c echo.Context) auth.Origin { return auth.From(c.Request(), c.RealIP()) }
