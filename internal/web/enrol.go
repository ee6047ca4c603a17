package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/web/templates"
)

// The second step is set up on a person's own page, or on the way in where it is required.
const (
	enrolAtLogin = "/login/enrol"
	enrolPath    = "/profile/second-step"
	qrName       = "/qr.png"
)

// enrolPage begins anew: the app takes the key that is shown now.
func (s *server) enrolPage(c echo.Context) error {
	e, err := s.Auth.BeginEnrol(c.Request().Context(), visit(c))
	if err != nil {
		return s.notFresh(c, err)
	}
	return s.showEnrol(c, http.StatusOK, e, c.QueryParam("next"), "")
}

// enrolPicture is the key that is shown now as a picture. It is a file of its own because pages hold nothing inline.
func (s *server) enrolPicture(c echo.Context) error {
	e, err := s.Auth.PendingEnrol(visit(c))
	if err != nil {
		return s.notFresh(c, err)
	}
	return c.Blob(http.StatusOK, "image/png", e.PNG)
}

func (s *server) enrol(c echo.Context) error {
	next := c.FormValue("next")
	codes, err := s.Auth.ConfirmEnrol(c.Response(), c.Request(), c.FormValue("code"), origin(c))
	status, problem := http.StatusTooManyRequests, slowDown(c, err, templates.People.WaitCode)
	if errors.Is(err, auth.ErrWrongCode) {
		status, problem = http.StatusUnprocessableEntity, templates.People.EnrolWrong
	}
	if problem != "" {
		e, err := s.Auth.PendingEnrol(visit(c))
		if errors.Is(err, auth.ErrNotFound) { // the form was sent twice: it is set up
			return s.onward(c, visit(c), next)
		}
		if err != nil {
			return err
		}
		return s.showEnrol(c, status, e, next, problem)
	}
	if err != nil {
		return s.notFresh(c, err)
	}
	if c.Request().URL.Path == enrolPath {
		next = "/profile?did=step"
	}
	return s.showCodes(c, next, codes)
}

func (s *server) showEnrol(c echo.Context, status int, e auth.Enrolment, next, problem string) error {
	path := c.Request().URL.Path
	return render(c, status, templates.EnrolPageOf(templates.EnrolPage{Shell: s.frame(c, templates.People.EnrolTitle), Next: localPath(next),
		Problem: problem, Required: path == enrolAtLogin, Secret: inFours(e.Secret), URL: e.URL, Picture: path + qrName, Post: path}))
}

// showCodes shows recovery codes, this once.
func (s *server) showCodes(c echo.Context, next string, codes []string) error {
	return render(c, http.StatusOK, templates.CodesPageOf(templates.CodesPage{Shell: s.frame(c, templates.People.CodesTitle), Next: localPath(next), Codes: codes}))
}

// notFresh asks a person to sign in again if that is what the error says.
func (s *server) notFresh(c echo.Context, err error) error {
	if !errors.Is(err, auth.ErrNotFresh) {
		return err
	}
	if visit(c).Ready() {
		return c.Redirect(http.StatusSeeOther, "/login?again=yes&next="+url.QueryEscape("/profile"))
	}
	if err := s.Auth.SignOut(c.Response(), c.Request(), origin(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/login")
}

// inFours is a key as people type it.
func inFours(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
