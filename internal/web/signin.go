package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/web/templates"
)

// loginPage is where signing in begins. Whoever is on the way goes on; whoever is signed in is asked again only for acts
// that need a recent proof of who they are.
func (s *server) loginPage(c echo.Context) error {
	v, err := s.Auth.Peek(c.Request())
	if err != nil {
		return err
	}
	next, again := c.QueryParam("next"), c.QueryParam("again") != ""
	if v.Step != auth.SignedOut && (!again || !v.Ready()) {
		return s.onward(c, v, next)
	}
	there, err := s.Auth.AnyUser(c.Request().Context())
	if err != nil {
		return err
	}
	if !there && s.Auth.Passwords() {
		return c.Redirect(http.StatusSeeOther, "/setup")
	}
	w, m := templates.People, templates.SignInPage{Next: next}
	switch {
	case v.Ready():
		m.Hint, m.Login = w.ConfirmYou, v.User.Login
	case v.Expired() && hasTyped(c.Request()):
		m.Hint = w.Kept
	case v.Expired():
		m.Hint = w.SessionOver
	case c.QueryParam("did") == "welcome":
		m.Hint = w.PasswordSet
	case c.QueryParam("did") == "setup":
		m.Hint = w.SetUpDone
	case c.QueryParam("did") == "codes":
		m.Problem = w.NoCodesLeft
	}
	return s.showLogin(c, http.StatusOK, m)
}

func (s *server) login(c echo.Context) error {
	m := templates.SignInPage{Next: c.FormValue("next"), Login: c.FormValue("login")}
	v, err := s.Auth.SignIn(c.Response(), c.Request(), m.Login, c.FormValue("password"), origin(c))
	if m.Problem = slowDown(c, err, templates.People.Wait); m.Problem != "" {
		return s.showLogin(c, http.StatusTooManyRequests, m)
	}
	switch {
	case errors.Is(err, auth.ErrWrong):
		s.Log.WarnContext(c.Request().Context(), "a sign-in failed", "from", c.RealIP())
		m.Problem = templates.Words.WrongLogin
		return s.showLogin(c, http.StatusUnauthorized, m)
	case errors.Is(err, auth.ErrNoPasswords):
		m.Problem = templates.People.PasswordsOff
		return s.showLogin(c, http.StatusForbidden, m)
	case err != nil:
		return err
	}
	return s.onward(c, v, m.Next)
}

func (s *server) showLogin(c echo.Context, status int, m templates.SignInPage) error {
	m.Shell, m.Next, m.Login = s.frame(c, templates.Words.SignIn), localPath(m.Next), text(m.Login, 200)
	m.Passwords, m.SSO = s.Auth.Passwords(), text(s.Auth.SSOName(), 60)
	m.SSOHref = "/sso?next=" + url.QueryEscape(m.Next)
	return render(c, status, templates.LoginPage(m))
}

// onward sends a person to the next step of their sign-in, or to where they wanted to go.
func (s *server) onward(c echo.Context, v auth.Visit, next string) error {
	to := localPath(next)
	if v.Step != auth.Ready {
		to = stepPages[v.Step] + "?next=" + url.QueryEscape(to)
	}
	return c.Redirect(http.StatusSeeOther, to)
}

func (s *server) codePage(c echo.Context) error {
	return s.showCode(c, http.StatusOK, c.QueryParam("next"), "")
}

func (s *server) code(c echo.Context) error {
	next := c.FormValue("next")
	v, err := s.Auth.CheckCode(c.Response(), c.Request(), c.FormValue("code"), origin(c))
	if slow := slowDown(c, err, templates.People.WaitCode); slow != "" {
		return s.showCode(c, http.StatusTooManyRequests, next, slow)
	}
	if errors.Is(err, auth.ErrWrongCode) {
		if v.Session.WrongCodes+1 >= auth.MaxWrongCodes { // the session has ended
			return c.Redirect(http.StatusSeeOther, "/login?did=codes&next="+url.QueryEscape(localPath(next)))
		}
		return s.showCode(c, http.StatusUnauthorized, next, templates.People.WrongCode)
	}
	if err != nil {
		return err
	}
	return s.onward(c, v, next)
}

func (s *server) showCode(c echo.Context, status int, next, problem string) error {
	return render(c, status, templates.CodePageOf(templates.CodePage{Shell: s.frame(c, templates.People.CodeTitle), Next: localPath(next), Problem: problem}))
}

func (s *server) logout(c echo.Context) error {
	if err := s.Auth.SignOut(c.Response(), c.Request(), origin(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/login")
}

// beginSSO sends the browser to the identity provider. It is a link and no form, since our pages may send forms to
// themselves only.
func (s *server) beginSSO(c echo.Context) error {
	if !s.Auth.SingleSignOn() {
		return echo.ErrNotFound
	}
	next := localPath(c.QueryParam("next"))
	to, err := s.Auth.BeginSSO(c.Response(), c.Request(), next)
	if err != nil {
		return s.refuseSSO(c, next, err)
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// finishSSO takes the identity provider's answer.
func (s *server) finishSSO(c echo.Context) error {
	if !s.Auth.SingleSignOn() {
		return echo.ErrNotFound
	}
	v, next, err := s.Auth.FinishSSO(c.Response(), c.Request(), origin(c))
	if err != nil {
		return s.refuseSSO(c, next, err)
	}
	return s.onward(c, v, next)
}

func (s *server) refuseSSO(c echo.Context, next string, err error) error {
	var refusal *auth.SSOError
	if !errors.As(err, &refusal) {
		return err
	}
	status := http.StatusForbidden
	if refusal.Code == auth.SSOUnreachable {
		status = http.StatusServiceUnavailable
	}
	problem := templates.Say(templates.People.SSO[string(refusal.Code)], map[string]any{"name": s.Auth.SSOName()}).String()
	return s.showLogin(c, status, templates.SignInPage{Next: next, Problem: problem})
}

// slowDown says how long to wait, if that is the error; else it returns nothing.
func slowDown(c echo.Context, err error, pattern string) string {
	var slow *auth.Throttled
	if !errors.As(err, &slow) {
		return ""
	}
	seconds := int64((slow.Wait + time.Second - 1) / time.Second)
	c.Response().Header().Set("Retry-After", fmt.Sprint(seconds))
	units := strings.Fields(templates.Words.AgoUnits)
	wait := fmt.Sprintf("%d %s", seconds, units[0])
	if seconds > 90 {
		wait = fmt.Sprintf("%d %s", (seconds+59)/60, units[1])
	}
	return templates.Say(pattern, map[string]any{"wait": wait}).String()
}

// origin is where the request came from, for the audit trail and against guessing.
func origin(c echo.Context) auth.Origin { return auth.From(c.Request(), c.RealIP()) }
