package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gorilla/csrf"
	"github.com/labstack/echo/v4"

	"onefold/internal/work"
)

// The style sheet, the script and the icon are files of our own; nothing else is loaded, framed or sent elsewhere.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func (s *server) securityHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// Not "no-referrer": browsers would send forms with the origin "null", which the form guard refuses.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
		h.Set("Cache-Control", "no-store")
		if s.Auth.Secure() {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		return next(c)
	}
}

// checkHost refuses names that are not ours, so that another site's name that leads here gets nothing.
func (s *server) checkHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		host := c.Request().Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		for _, known := range s.Hosts {
			if strings.EqualFold(host, known) {
				return next(c)
			}
		}
		if len(s.Hosts) == 0 || c.Path() == "/healthz" || c.Path() == "/readyz" {
			return next(c)
		}
		return echo.NewHTTPError(http.StatusMisdirectedRequest)
	}
}

const requestIDKey = "request id"

func (s *server) requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set(requestIDKey, rand.Text()[:10])
		return next(c)
	}
}

// recoverPanic turns a panic into an ordinary error: the stack goes to the log, never to the page.
func (s *server) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			if broken, ok := r.(error); ok && errors.Is(broken, http.ErrAbortHandler) {
				panic(r)
			}
			s.Log.Error("a page broke off", "request", c.Get(requestIDKey), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", r)
		}()
		return next(c)
	}
}

// limits bounds the time and the size of a request. Reading and writing may take as long as the whole.
func limits(longest time.Duration, size int64) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			ctx, cancel := context.WithTimeout(c.Request().Context(), longest)
			defer cancel()
			r := c.Request().WithContext(ctx)
			r.Body = http.MaxBytesReader(c.Response(), r.Body, size)
			c.SetRequest(r)
			if longest > pageTime {
				// Not every connection can set deadlines; then those of the server hold.
				rc := http.NewResponseController(c.Response())
				_ = rc.SetReadDeadline(time.Now().Add(longest))
				_ = rc.SetWriteDeadline(time.Now().Add(longest + pageTime))
			}
			return next(c)
		}
	}
}

// csrf protects every form. gorilla/csrf and not echo's own: its cookie is signed, its token is masked anew on each page,
// and it checks the origin of the request as well.
func (s *server) csrf(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var err error
		protect := csrf.Protect(s.Auth.CSRFKey(), csrf.Secure(s.Auth.Secure()), csrf.Path("/"), csrf.FieldName(csrfField),
			csrf.CookieName(s.csrfCookie()), csrf.MaxAge(int(s.Auth.FormsFor().Seconds())), csrf.SameSite(csrf.SameSiteLaxMode),
			csrf.ErrorHandler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				s.Log.Warn("a form was refused", "request", c.Get(requestIDKey), "reason", csrf.FailureReason(r))
				err = errCSRF
			})))
		r := c.Request()
		if !s.Auth.Secure() && r.TLS == nil {
			r = csrf.PlaintextHTTPRequest(r)
		}
		protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.SetRequest(r)
			err = next(c)
		})).ServeHTTP(c.Response(), r)
		return err
	}
}

const csrfField = "csrf"

func (s *server) csrfCookie() string {
	if s.Auth.Secure() {
		return "__Host-onefold-form"
	}
	return "onefold-form"
}

const personKey = "person"

// signedIn lets only people in who have signed in.
func (s *server) signedIn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		v, err := s.Auth.Visit(c.Response(), c.Request())
		if err != nil {
			return err
		}
		if !v.Ready() {
			return c.Redirect(http.StatusSeeOther, "/login?next="+url.QueryEscape(returnTo(c.Request())))
		}
		c.Set(personKey, v.Actor)
		return next(c)
	}
}

// returnTo is where to go after signing in: the page itself, or the page that a form was on.
func returnTo(r *http.Request) string {
	if r.Method == http.MethodGet {
		return r.URL.RequestURI()
	}
	parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 3)
	if len(parts) == 3 && parts[0] == "items" {
		return "/items/" + parts[1]
	}
	return "/"
}

// localPath returns the path if it leads to a page of ours, else the first page.
func localPath(p string) string {
	u, err := url.Parse(p)
	if err != nil || u.Host != "" || u.Scheme != "" || u.User != nil || !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") ||
		strings.ContainsFunc(p, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f }) {
		return "/"
	}
	return p
}

func person(c echo.Context) work.Actor {
	by, _ := c.Get(personKey).(work.Actor)
	return by
}
