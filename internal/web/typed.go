package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/web/templates"
)

// hasTyped reports whether a form waits on this browser for its person.
func hasTyped(r *http.Request) bool {
	return slices.ContainsFunc(r.Cookies(), func(k *http.Cookie) bool { return strings.Contains(k.Name, auth.TypedCookie) })
}

// takeTyped returns the form of this page that was sent after the session had ended, once and to the same person.
func (s *server) takeTyped(c echo.Context) (auth.Form, bool, error) {
	return s.Auth.TakeForm(c.Response(), c.Request(), c.Request().URL.Path)
}

// restored is a kept form of an item as somebody who typed it again would send it.
func restored(f auth.Form) typed {
	a := review.Action(f.Path[strings.LastIndex(f.Path, "/")+1:])
	if !slices.Contains(review.Actions, a) && a != holdAll {
		return typed{}
	}
	return typed{action: a, kept: &f, input: input(f.Fields.Get)}
}

// notSent says that a form came too late, and what has happened to the item since it was opened.
func (v view) notSent(t typed, d review.Detail) *templates.Notice {
	w := templates.People
	version, _ := strconv.ParseInt(t.kept.Fields.Get("version"), 10, 64)
	moved := d.Moved(version)
	switch {
	case moved != nil:
		return &templates.Notice{Say: v.happened(moved, w.RestoredBy, w.RestoredMoved)}
	case t.input.Note == "" && t.input.Reference == "":
		return &templates.Notice{Say: templates.Say(w.NotSent, nil)}
	}
	return &templates.Notice{Say: templates.Say(w.Restored, nil)}
}
