package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/web/templates"
)

var errCSRF = errors.New("form refused")

// status is the HTTP status of an error and the code of its wording.
func statusOf(err error) (int, string) {
	var tooLarge *http.MaxBytesError
	var http_ *echo.HTTPError
	switch {
	case errors.Is(err, errCSRF):
		return http.StatusForbidden, "403/csrf"
	case errors.Is(err, review.ErrForbidden), errors.Is(err, auth.ErrForbidden), errors.Is(err, automation.ErrNotAdmin):
		return http.StatusForbidden, "403"
	case errors.Is(err, auth.ErrLinkGone):
		return http.StatusGone, "410"
	case errors.Is(err, auth.ErrNotFound), errors.Is(err, review.ErrNoSystem), errors.Is(err, automation.ErrUnknownSystem), errors.Is(err, automation.ErrNoAccount):
		return http.StatusNotFound, "404"
	case errors.Is(err, review.ErrNotFound):
		return http.StatusNotFound, "404/item"
	case automation.DatabaseAway(err):
		return http.StatusServiceUnavailable, awayCode
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, "413"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "503"
	case errors.As(err, &http_):
		if http_.Code >= 500 {
			return http_.Code, "500"
		}
		return http_.Code, strconv.Itoa(http_.Code)
	}
	return http.StatusInternalServerError, "500"
}

// fail answers with an error in plain words. What went wrong inside goes to the log.
func (s *server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status, code := statusOf(err)
	ref := ""
	if status >= 500 {
		ref, _ = c.Get(requestIDKey).(string)
		s.Log.ErrorContext(c.Request().Context(), "a request failed", "request", ref, "method", c.Request().Method, "route", c.Path(), "error", err) // the path itself may hold a one-time link
	}
	later(c, status)
	w := templates.Words
	heading, text := templates.Pick(w.ErrorTitle, code, "400"), templates.Pick(w.Errors, code, "400")
	if path := c.Request().URL.Path; strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/hooks/") {
		if sendErr := sendAPIError(c, status, apiCode(status), text); sendErr != nil {
			s.Log.WarnContext(c.Request().Context(), "an answer could not be sent", "error", sendErr)
		}
		return
	}
	if c.Get(visitKey) == nil && code != awayCode { // no route, or one that does not ask who comes: the page is in the person's frame all the same
		if v, err := s.Auth.Peek(c.Request()); err == nil {
			c.Set(visitKey, v)
			c.Set(personKey, v.Actor)
		}
	}
	page := templates.Problem{Shell: s.frame(c, heading), Heading: heading, Text: text, Ref: ref}
	if code == awayCode {
		notSaved(c, &page)
	}
	if sendErr := render(c, status, templates.ErrorPage(page)); sendErr != nil {
		s.Log.WarnContext(c.Request().Context(), "an answer could not be sent", "error", sendErr)
	}
}
