package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/work"
)

func panics(f func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said, _ = r.(string)
		}
	}()
	f()
	return ""
}

func TestNoRouteWithoutARule(t *testing.T) {
	handler := func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }
	fresh := func() *router {
		s := &server{Config: Config{Auth: accounts(t)}}
		return &router{server: s, echo: echo.New(), rules: map[string]rule{}}
	}
	for name, r := range map[string]rule{"none": {}, "no role": {door: doorMember, roles: []work.Role{}}, "roles of a guest": {door: doorGuest, roles: []work.Role{work.Admin}}, "an empty role": only(""), "no step": during(),
		"signed out": during(auth.SignedOut), "no scope": scope(""), "an unknown scope": scope("items:all")} {
		if said := panics(func() { fresh().page(get, "/x", r, handler) }); !strings.Contains(said, "has no rule") {
			t.Errorf("%s: %q", name, said)
		}
	}
	past := fresh()
	past.page(get, "/x", member(), handler)
	past.echo.POST("/x", handler)
	if said := panics(func() { past.sealed() }); said != "the route POST /x has no rule that says who may use it" {
		t.Errorf("past the rules: %q", said)
	}
	good := fresh()
	good.page(get, "/x", member(), handler)
	if said := panics(func() { good.sealed() }); said != "" {
		t.Error(said)
	}
}
