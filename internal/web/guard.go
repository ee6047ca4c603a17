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
	"slices"
	"strings"
	"time"

	"github.com/gorilla/csrf"
	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
)

// The style sheet, the scripts and the icon are files of our own; nothing else is loaded, framed or sent elsewhere. Pages
// fetch themselves again when something has changed.
const policy = "default-src 'none'; object-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

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
		if s.overTLS(c.Request()) {
			h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
			c.Response().Before(func() { secureCookies(h) })
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
			s.Log.ErrorContext(c.Request().Context(), "a page broke off", "request", c.Get(requestIDKey), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
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

const csrfField = "csrf"

func (s *server) csrfCookie() string {
	if s.Auth.Secure() {
		return "__Host-onefold-form"
	}
	return "onefold-form"
}

// sameOrigin refuses forms that the browser says another site sent. The tokens of forms are checked besides.
func (s *server) sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	origins := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := origins.Check(c.Request()); err != nil {
			return s.refuseForm(c, err)
		}
		return next(c)
	}
}

// ownLinks is for what the mere link of another site must not start: who follows one comes to the page instead.
func ownLinks(page string, h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if from := c.Request().Header.Get("Sec-Fetch-Site"); from == "cross-site" || from == "same-site" {
			return c.Redirect(http.StatusSeeOther, page)
		}
		return h(c)
	}
}

func (s *server) refuseForm(c echo.Context, why error) error {
	s.Log.WarnContext(c.Request().Context(), "a form was refused", "request", c.Get(requestIDKey), "path", c.Path(), "reason", why)
	return errCSRF
}

// guestForm protects the forms of people who have no session yet. gorilla/csrf and not echo's own: its cookie is signed,
// its token is masked anew on each page, and it checks the origin of the request as well.
func (s *server) guestForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var err error
		protect := csrf.Protect(s.Auth.CSRFKey(), csrf.Secure(s.Auth.Secure()), csrf.Path("/"), csrf.FieldName(csrfField),
			csrf.CookieName(s.csrfCookie()), csrf.MaxAge(int(s.Auth.FormsFor().Seconds())), csrf.SameSite(csrf.SameSiteLaxMode),
			csrf.ErrorHandler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				err = s.refuseForm(c, csrf.FailureReason(r))
			})))
		r := c.Request()
		if !s.overTLS(r) {
			r = csrf.PlaintextHTTPRequest(r)
		}
		protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.SetRequest(r)
			err = next(c)
		})).ServeHTTP(c.Response(), r)
		return err
	}
}

// memberForm protects the forms of people who have a session: their token belongs to it.
func (s *server) memberForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if safe(r) {
			return next(c)
		}
		if err := r.ParseForm(); err != nil {
			return badForm(err)
		}
		if !visit(c).CheckFormToken(r.PostFormValue(csrfField)) {
			return s.refuseForm(c, errors.New("its token is not of this session"))
		}
		return next(c)
	}
}

func safe(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// formToken is the token for the forms of a page.
func formToken(c echo.Context) string {
	if v := visit(c); v.Session.ID != 0 {
		return v.FormToken()
	}
	return csrf.Token(c.Request())
}

// readForm reads a form with a file before the guard looks at it, so that the file goes to disk and not to memory.
func readForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if err := r.ParseMultipartForm(1 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
			return badForm(err)
		}
		if r.MultipartForm != nil {
			defer func() { _ = r.MultipartForm.RemoveAll() }()
		}
		return next(c)
	}
}

func badForm(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return echo.NewHTTPError(http.StatusBadRequest)
}

const (
	personKey = "person"
	visitKey  = "visit"
)

// person is who makes the request; the zero Actor if the route does not ask.
func person(c echo.Context) work.Actor {
	by, _ := c.Get(personKey).(work.Actor)
	return by
}

// visit is how far the person has come in signing in; the zero Visit if the route does not ask.
func visit(c echo.Context) auth.Visit {
	v, _ := c.Get(visitKey).(auth.Visit)
	return v
}

// stepPages are the pages on which a sign-in goes on.
var stepPages = map[auth.Step]string{auth.SignedOut: "/login", auth.NeedsCode: "/login/code", auth.NeedsEnrol: "/login/enrol",
	auth.NeedsPassword: "/login/password", auth.Ready: "/"}

// person lets in whom the rule lets in. Others are sent where they can go on; a signed-in person without the right is
// refused. What somebody typed while their session ran out is kept for them, unless it is too much.
func (s *server) person(r rule, keeps bool) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			v, err := s.visitor(c)
			if err != nil {
				return err
			}
			c.Set(visitKey, v)
			steps := r.steps
			if r.door == doorMember {
				steps = []auth.Step{auth.Ready}
			}
			if !slices.Contains(steps, v.Step) {
				if keeps && r.door == doorMember && v.Session.ID != 0 && !v.Ready() && !safe(c.Request()) {
					if err := s.keepTyped(c, v); err != nil {
						return err
					}
				}
				return s.goOn(c, v)
			}
			c.Set(personKey, v.Actor)
			s.setMark(c, r)
			if len(r.roles) > 0 && !v.Actor.Can(r.roles...) {
				return review.ErrForbidden
			}
			return next(c)
		}
	}
}

// visitor is who makes the request. What an open page asks for by itself does not keep the session alive.
func (s *server) visitor(c echo.Context) (auth.Visit, error) {
	if byItself(c) {
		return s.Auth.Peek(c.Request())
	}
	return s.Auth.Visit(c.Response(), c.Request())
}

// goOn sends a person where their sign-in goes on.
func (s *server) goOn(c echo.Context, v auth.Visit) error {
	to := stepPages[v.Step]
	if v.Step != auth.Ready {
		to += "?next=" + url.QueryEscape(returnTo(c.Request()))
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// keepTyped keeps a form of a page of ours that was sent after the session was over.
func (s *server) keepTyped(c echo.Context, v auth.Visit) error {
	r := c.Request()
	if err := r.ParseForm(); err != nil {
		return badForm(err)
	}
	if !v.CheckFormToken(r.PostFormValue(csrfField)) || len(r.PostForm) == 1 {
		return nil
	}
	_, err := s.Auth.SaveForm(c.Response(), r, auth.Form{Page: pageOf(r), Path: r.URL.Path, Fields: r.PostForm})
	if errors.Is(err, auth.ErrFormTooLarge) {
		return nil
	}
	return err
}

// returnTo is where to go after signing in: the page itself, or the page that a form was on.
func returnTo(r *http.Request) string {
	if safe(r) {
		return r.URL.RequestURI()
	}
	if parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 3); len(parts) == 3 && parts[0] == "items" {
		return "/items/" + parts[1]
	}
	from, err := url.Parse(r.Referer())
	if err != nil || from.Host != r.Host {
		return "/"
	}
	return localPath(from.RequestURI())
}

// pageOf is the path of the page that a form is on.
func pageOf(r *http.Request) string {
	path, _, _ := strings.Cut(returnTo(r), "?")
	return path
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
