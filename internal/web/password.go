package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/web/templates"
)

// Another password is chosen on a person's own page, or on the way in where it must be.
const (
	passwordAtLogin = "/login/password"
	passwordPath    = "/profile/password"
)

var minPassword = strconv.Itoa(auth.MinPassword)

func (s *server) passwordPage(c echo.Context) error {
	return s.showPassword(c, http.StatusOK, c.QueryParam("next"), "")
}

func (s *server) password(c echo.Context) error {
	next, password := c.FormValue("next"), c.FormValue("password")
	if password != c.FormValue("repeat") {
		return s.showPassword(c, http.StatusUnprocessableEntity, next, templates.People.PasswordDiffers)
	}
	err := s.Auth.ChangePassword(c.Response(), c.Request(), c.FormValue("present"), password, origin(c))
	if slow := slowDown(c, err, templates.People.Wait); slow != "" {
		return s.showPassword(c, http.StatusTooManyRequests, next, slow)
	}
	if errors.Is(err, auth.ErrWrong) {
		return s.showPassword(c, http.StatusUnprocessableEntity, next, templates.People.PasswordWrong)
	}
	if why := weak(err); why != "" {
		return s.showPassword(c, http.StatusUnprocessableEntity, next, why)
	}
	if err != nil {
		return err
	}
	if c.Request().URL.Path == passwordPath {
		return c.Redirect(http.StatusSeeOther, "/profile?did=password")
	}
	v, err := s.Auth.Peek(c.Request())
	if err != nil {
		return err
	}
	// The step is judged anew by the next page: a second step may be missing as well.
	v.Step = auth.Ready
	return s.onward(c, v, next)
}

func (s *server) showPassword(c echo.Context, status int, next, problem string) error {
	path := c.Request().URL.Path
	return render(c, status, templates.PasswordPageOf(templates.PasswordPage{Shell: s.frame(c, templates.People.PasswordTitle), Next: localPath(next),
		Login: visit(c).User.Login, Problem: problem, MustDo: path == passwordAtLogin, Post: path, MinLength: minPassword}))
}

// weak says why a new password is refused, if that is the error; else it returns nothing.
func weak(err error) string {
	var fault *auth.WeakPassword
	if !errors.As(err, &fault) {
		return ""
	}
	return templates.Say(templates.People.Fault[string(fault.Why)], map[string]any{"n": minPassword}).String()
}
