package web

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/work"
)

// door is the kind of a rule.
type door string

const (
	doorOpen   door = "open"   // anybody; nobody is looked at
	doorGuest  door = "guest"  // anybody who has a browser; forms are guarded
	doorStep   door = "step"   // a person on the way in
	doorMember door = "member" // a person who is signed in
	doorToken  door = "token"  // an API token
	doorSigned door = "signed" // whoever signs the body with a secret that we gave out
)

// rule says who may use a route. The service that carries an act out checks again. The zero rule is none: a route cannot be
// registered with it.
type rule struct {
	door  door
	roles []work.Role // of doorMember; none: whoever is signed in
	steps []auth.Step // of doorStep
	scope auth.Scope  // of doorToken
}

// open lets anybody in, without a session and without a form guard: what is the same for everybody.
func open() rule { return rule{door: doorOpen} }

// guest lets anybody in; forms are guarded. For pages before signing in.
func guest() rule { return rule{door: doorGuest} }

// during lets a person in who has come so far in signing in, and sends everybody else where they belong.
func during(steps ...auth.Step) rule { return rule{door: doorStep, steps: steps} }

// member lets everybody in who is signed in, whatever their roles.
func member() rule { return rule{door: doorMember} }

// only lets a person in who is signed in and holds at least one of the roles.
func only(role work.Role, more ...work.Role) rule {
	return rule{door: doorMember, roles: append([]work.Role{role}, more...)}
}

// signed lets in who signed the request. The service that takes it in checks that, before it looks at anything else: no
// session, token or form counts.
func signed() rule { return rule{door: doorSigned} }

// scope lets an API token in that has the scope.
func scope(s auth.Scope) rule { return rule{door: doorToken, scope: s} }

// check panics if the rule does not say who may.
func (r rule) check(route string) {
	ok := false
	switch r.door {
	case doorOpen, doorGuest, doorMember, doorSigned:
		ok = r.roles == nil || len(r.roles) > 0 && r.door == doorMember && !slices.Contains(r.roles, "")
	case doorStep:
		ok = len(r.steps) > 0 && !slices.Contains(r.steps, auth.SignedOut)
	case doorToken:
		ok = slices.Contains(auth.Scopes, r.scope)
	}
	if !ok {
		panic(fmt.Sprintf("the route %s has no rule that says who may use it", route))
	}
}

// router registers routes, each with its rule and its limits. There is no other way: see sealed.
type router struct {
	server *server
	echo   *echo.Echo
	rules  map[string]rule
}

// bounds are the limits of one request.
type bounds struct {
	time time.Duration
	size int64
}

// Limits of requests.
var (
	pageBounds   = bounds{pageTime, formSize}
	healthBounds = bounds{5 * time.Second, formSize}
	apiBounds    = bounds{pageTime, apiSize}
	fileBounds   = bounds{importTime, importSize}
)

// page registers a page or a form of up to 64 KiB.
func (rt *router) page(method, path string, r rule, h echo.HandlerFunc) {
	rt.add(method, path, r, pageBounds, h)
}

// add registers a route. Who may is settled before anything of the body is read, except where the form of a session that
// is over is kept.
func (rt *router) add(method, path string, r rule, b bounds, h echo.HandlerFunc) {
	name := method + " " + path
	r.check(name)
	if _, twice := rt.rules[name]; twice {
		panic(fmt.Sprintf("the route %s is registered twice", name))
	}
	rt.rules[name] = r
	s, chain := rt.server, []echo.MiddlewareFunc{limits(b.time, b.size)}
	switch r.door {
	case doorGuest:
		chain = append(chain, s.sameOrigin, s.guestForm)
	case doorStep, doorMember:
		chain = append(chain, s.sameOrigin, s.person(r, b.size == formSize))
		if b.size > formSize {
			chain = append(chain, readForm)
		}
		chain = append(chain, s.memberForm)
	case doorToken:
		chain = append(chain, s.bearer(r.scope))
	}
	rt.echo.Add(method, path, h, chain...)
}

// sealed returns the handler. It panics if a route got past the rules.
func (rt *router) sealed() http.Handler {
	for _, r := range rt.echo.Routes() {
		if _, ok := rt.rules[r.Method+" "+r.Path]; !ok {
			panic(fmt.Sprintf("the route %s %s has no rule that says who may use it", r.Method, r.Path))
		}
	}
	return rt.echo
}
