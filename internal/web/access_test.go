package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
	"onefold/web/templates"
)

// access says who may use each route: "all", roles, steps of a sign-in (code, enrol, password), or the scope of a token.
// It is written down a second time on purpose: what routes.go says must not change unseen.
var access = map[string]string{
	"GET /healthz":      "all",
	"GET /readyz":       "all",
	"GET /static/:name": "all",

	"GET /login":   "all",
	"POST /login":  "all",
	"POST /logout": "code enrol password viewer operator ops admin",

	"GET /login/code":         "code",
	"POST /login/code":        "code",
	"GET /login/enrol":        "enrol",
	"GET /login/enrol/qr.png": "enrol",
	"POST /login/enrol":       "enrol",
	"GET /login/password":     "password",
	"POST /login/password":    "password",
	"GET /sso":                "all",
	"GET /sso/answer":         "all",
	"GET /setup":              "all",
	"POST /setup":             "all",
	"GET /welcome/:token":     "all",
	"POST /welcome/:token":    "all",

	"GET /profile":                        "viewer operator ops admin",
	"POST /profile/name":                  "viewer operator ops admin",
	"POST /profile/email":                 "viewer operator ops admin",
	"POST /profile/notices":               "viewer operator ops admin",
	"POST /profile/notices/test":          "viewer operator ops admin",
	"GET /profile/password":               "viewer operator ops admin",
	"POST /profile/password":              "viewer operator ops admin",
	"GET /profile/second-step":            "viewer operator ops admin",
	"GET /profile/second-step/qr.png":     "viewer operator ops admin",
	"POST /profile/second-step":           "viewer operator ops admin",
	"POST /profile/second-step/remove":    "viewer operator ops admin",
	"POST /profile/codes":                 "viewer operator ops admin",
	"POST /profile/sessions/:session/end": "viewer operator ops admin",
	"POST /profile/sessions/others":       "viewer operator ops admin",
	"POST /profile/sessions/everywhere":   "viewer operator ops admin",

	"GET /people":                            "admin",
	"POST /people":                           "admin",
	"POST /people/second-step":               "admin",
	"GET /people/:id":                        "admin",
	"POST /people/:id/name":                  "admin",
	"POST /people/:id/email":                 "admin",
	"POST /people/:id/roles":                 "admin",
	"GET /notices":                           "admin",
	"POST /people/:id/disable":               "admin",
	"POST /people/:id/enable":                "admin",
	"POST /people/:id/link":                  "admin",
	"POST /people/:id/second-step/remove":    "admin",
	"POST /people/:id/sessions/:session/end": "admin",
	"POST /people/:id/sessions/everywhere":   "admin",
	"GET /tokens":                            "admin",
	"POST /tokens":                           "admin",
	"POST /tokens/:id/revoke":                "admin",
	"GET /audit":                             "admin",
	"GET /audit.csv":                         "admin",

	"GET /":                            "viewer operator ops admin",
	"GET /export.csv":                  "viewer operator ops admin",
	"GET /export.xlsx":                 "viewer operator ops admin",
	"POST /views":                      "viewer operator ops admin",
	"POST /views/:id/delete":           "viewer operator ops admin",
	"GET /items/:id":                   "viewer operator ops admin",
	"GET /items/:id/*":                 "viewer operator ops admin",
	"POST /items/:id/approve":          "operator admin",
	"POST /items/:id/retry":            "operator admin",
	"POST /items/:id/check":            "operator admin",
	"POST /items/:id/attest":           "operator admin",
	"POST /items/:id/resolve":          "operator admin",
	"POST /items/:id/close":            "operator admin",
	"POST /items/:id/hold":             "operator admin",
	"POST /items/:id/reopen":           "operator admin",
	"POST /items/:id/assign":           "operator admin",
	"POST /items/:id/note":             "operator admin",
	"POST /items/:id/turn-down":        "operator admin",
	"POST /items/:id/correct":          "operator admin",
	"GET /items/:id/correct":           "operator admin",
	"POST /items/:id/hold-all":         "operator admin",
	"GET /bulk":                        "operator admin",
	"GET /bulk/new":                    "operator admin",
	"POST /bulk/new":                   "operator admin",
	"GET /bulk/:id":                    "operator admin",
	"POST /bulk/:id/stop":              "operator admin",
	"GET /bulk/:id/results.csv":        "operator admin",
	"GET /overview":                    "viewer operator ops admin",
	"GET /overview.csv":                "viewer operator ops admin",
	"GET /periods":                     "viewer operator ops admin",
	"GET /periods/:period":             "viewer operator ops admin",
	"GET /periods/:period/export.csv":  "viewer operator ops admin",
	"GET /periods/:period/export.xlsx": "viewer operator ops admin",

	"GET /plans":               "viewer operator ops admin",
	"GET /plans/new":           "admin",
	"POST /plans/new":          "admin",
	"GET /plans/month":         "viewer operator ops admin",
	"GET /plans/import":        "admin",
	"POST /plans/import":       "admin",
	"GET /plans/export.csv":    "viewer operator ops admin",
	"GET /plans/:id":           "viewer operator ops admin",
	"GET /plans/:id/*":         "viewer operator ops admin",
	"GET /plans/:id/change":    "admin",
	"POST /plans/:id/change":   "admin",
	"GET /plans/:id/catch-up":  "viewer operator ops admin",
	"POST /plans/:id/catch-up": "admin",
	"POST /plans/:id/run":      "admin",
	"POST /plans/:id/pause":    "admin",
	"POST /plans/:id/resume":   "admin",
	"POST /plans/:id/end":      "admin",
	"POST /plans/:id/approve":  "admin",

	"GET /import":                   "operator admin",
	"GET /automations":              "viewer operator ops admin",
	"GET /automations/*":            "viewer operator ops admin",
	"POST /automations/switch":      "admin",
	"GET /settings/retention":       "admin",
	"POST /settings/retention":      "admin",
	"GET /limits":                   "admin",
	"GET /limits/:id":               "admin",
	"GET /limits/:id/*":             "admin",
	"POST /limits/:id":              "admin",
	"POST /limits/:id/preview":      "admin",
	"POST /limits/:id/undo/:change": "admin",
	"POST /automations/run":         "admin",
	"POST /automations/begin":       "admin",
	"POST /import":                  "operator admin",
	"GET /import/:id":               "operator admin",
	"GET /import/:id/*":             "operator admin",
	"GET /import/:id/results.csv":   "operator admin",
	"POST /import/:id/read":         "operator admin",
	"POST /import/:id/start":        "operator admin",
	"POST /import/:id/hold":         "operator admin",
	"POST /import/:id/remove":       "operator admin",
	"GET /servers":                  "operator ops admin",
	"GET /attempts":                 "viewer operator ops admin",
	"GET /attempts.csv":             "viewer operator ops admin",
	"GET /attempts/:id/:number":     "viewer operator ops admin",
	"GET /live":                     "viewer operator ops admin",
	"GET /reports":                  "operator admin",
	"POST /reports":                 "operator admin",
	"GET /reports/:id":              "operator admin",
	"GET /reports/:id/*":            "operator admin",
	"GET /reports/:id/results.csv":  "operator admin",
	"POST /reports/:id/compare":     "operator admin",
	"POST /reports/:id/apply":       "operator admin",
	"POST /reports/:id/remove":      "operator admin",
	"GET /systems":                  "viewer operator ops admin",
	"POST /systems/:id/pause":       "ops admin",
	"POST /systems/:id/resume":      "ops admin",
	"POST /systems/:id/look-first":  "admin",

	"GET /systems/new":                   "admin",
	"POST /systems/new":                  "admin",
	"GET /systems/:id":                   "viewer operator ops admin",
	"GET /systems/:id/*":                 "viewer operator ops admin",
	"GET /systems/:id/edit":              "admin",
	"POST /systems/:id/edit":             "admin",
	"POST /systems/:id/test":             "admin",
	"POST /systems/:id/remove":           "admin",
	"POST /systems/:id/look-first/begin": "admin",
	"GET /systems/:id/proofs":            "admin",
	"POST /systems/:id/proofs":           "admin",
	"GET /systems/:id/proofs/:proof":     "admin",

	"POST /systems/:id/proofs/:proof/caution": "admin",

	"POST /systems/:id/login":        "admin",
	"POST /systems/:id/login/remove": "admin",
	"GET /systems/:id/login/books":   "admin",
	"POST /systems/:id/login/books":  "admin",
	"GET /systems/login/callback":    "admin",

	"GET /events":                           "admin",
	"GET /events/log":                       "admin",
	"POST /events/senders":                  "admin",
	"POST /events/senders/:kind/:id/secret": "admin",
	"POST /events/senders/:kind/:id/old":    "admin",
	"POST /events/senders/:kind/:id/remove": "admin",
	"POST /events/endpoints":                "admin",
	"POST /events/endpoints/:id/remove":     "admin",
	"POST /events/outcomes/:id/again":       "admin",
	"POST /hooks/orders/:id":                "signed",
	"POST /hooks/systems/:id":               "signed",
	"GET /api/v1/openapi.yaml":              "all",

	"POST /api/v1/events": "items:write",
	"POST /api/v1/items":  "items:write",
	"GET /api/v1/items/*": "items:read",
	"GET /api/v1/systems": "systems:read",
	"POST /api/v1/import": "import:write",
}

// visitors are who tries: signed out, on the way in, and with one role each.
var visitors = []string{"out", "code", "enrol", "password", "viewer", "operator", "ops", "admin"}

// crowd is a site with all visitors and with tokens.
type crowd struct {
	*site
	second *site // of the same people, where a second step is required
	tokens map[string]string
	signed map[string]*browser
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	st := storetest.SQLite(t).Open(t, store.Config{})
	open := func(require bool) (*site, *auth.Auth) {
		a, err := auth.New(auth.Config{Store: st, CompanyID: map[bool]int64{false: 1, true: 2}[require]})
		if err != nil {
			t.Fatal(err)
		}
		if err := st.SetSignInSettings(t.Context(), a.CompanyID, auth.SignInSettings{RequireSecondStep: require}, auth.Entry{What: auth.DidRequireStep}); err != nil {
			t.Fatal(err)
		}
		hash, err := passwordHash()
		if err != nil {
			t.Fatal(err)
		}
		for _, login := range visitors[1:] {
			u := auth.User{CompanyID: a.CompanyID, Login: login, Name: login, Roles: []work.Role{work.Admin}, PasswordHash: hash, CreatedAt: time.Now()}
			switch login {
			case "code":
				u.TOTPSecret = "sealed"
			case "password":
				u.MustChange = true
			case "viewer", "operator", "ops":
				u.Roles = []work.Role{work.Role(login)}
			}
			if _, err := st.AddUser(t.Context(), u, false, auth.Change{}); err != nil {
				t.Fatal(err)
			}
		}
		return newSite(t, Config{Store: newWorld(t).Store, Auth: a}), a
	}
	c := &crowd{tokens: map[string]string{}, signed: map[string]*browser{}}
	var accounts *auth.Auth
	c.site, accounts = open(false)
	c.second, _ = open(true)
	boss := work.Actor{Kind: work.Console, ID: "console", Roles: []work.Role{work.Admin}}
	for _, scope := range auth.Scopes {
		others := slices.DeleteFunc(slices.Clone(auth.Scopes), func(s auth.Scope) bool { return s == scope })
		for name, scopes := range map[string][]auth.Scope{string(scope): {scope}, "not " + string(scope): others} {
			_, secret, err := accounts.CreateToken(t.Context(), boss, auth.Origin{}, auth.NewToken{Name: name, Scopes: scopes, Lasts: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			c.tokens[name] = secret
		}
	}
	return c
}

// home is where a visitor's sign-in goes on.
func home(who string) string {
	switch who {
	case "out":
		return "/login"
	case "code", "enrol", "password":
		return "/login/" + who
	}
	return "/"
}

// browser returns the visitor's browser, signed in as far as they come.
func (c *crowd) browser(who string) *browser {
	c.t.Helper()
	s := c.site
	if who == "enrol" {
		s = c.second
	}
	b := c.signed[who]
	if who == "out" || b == nil || who != "out" && strings.HasPrefix(b.get("/").location, "/login?") {
		if b = s.browser(); who != "out" {
			b = s.signIn(who)
		}
		c.signed[who] = b
	}
	return b
}

var formTokenPattern = regexp.MustCompile(`name="` + csrfField + `" value="([^"]+)"`)

// ask makes the request, with a good form token or without one.
func (c *crowd) ask(who, method, path string, withToken bool) answer {
	c.t.Helper()
	b := c.browser(who)
	if method == http.MethodGet {
		return b.get(path)
	}
	form := url.Values{}
	if withToken {
		page := b.get(home(who))
		if m := formTokenPattern.FindStringSubmatch(page.body); m != nil {
			form.Set(csrfField, m[1])
		}
	}
	return b.post(path, form)
}

// selfRefused are routes whose handler refuses these visitors by itself, and why.
var selfRefused = map[string]string{"POST /profile/codes": "they have no second step", "GET /sso": "it is off", "GET /sso/answer": "it is off"}

// agrees reports whether a verdict is the expected one.
func agrees(route, got, want string) bool {
	return got == want || got == "forbidden" && want == "in" && selfRefused[route] != ""
}

// verdict says what an answer means for the visitor: "in", "forbidden", or where they are sent.
func verdict(a answer) string {
	if a.status == http.StatusForbidden {
		if strings.Contains(a.visible(), "This form has expired") {
			return "form"
		}
		if strings.Contains(a.visible(), templates.Words.Errors["403"]) {
			return "forbidden"
		}
	}
	if at, _, sent := strings.Cut(a.location, "?next="); a.status == http.StatusSeeOther && sent && strings.HasPrefix(at, "/login") {
		return at
	}
	return "in"
}

// expected is the verdict that the table demands.
func expected(who, may string, step bool) string {
	switch {
	case may == "all" || slices.Contains(strings.Fields(may), who):
		return "in"
	case home(who) != "/":
		return home(who)
	case step:
		return "in" // sent to the first page, which they may see
	}
	return "forbidden"
}

var parameter = regexp.MustCompile(`:\w+|\*`)

// TestAccess walks every route of the router as every visitor.
func TestAccess(t *testing.T) {
	c := newCrowd(t)
	routes := map[string]bool{}
	for _, r := range c.Config.Handler.(*echo.Echo).Routes() {
		name := r.Method + " " + r.Path
		routes[name] = true
		may, ok := access[name]
		if !ok {
			t.Errorf("%s is not in the table: say who may use it", name)
			continue
		}
		path := parameter.ReplaceAllString(r.Path, "999999")
		if strings.Contains(may, ":") {
			c.walkAPI(t, r.Method, path, may)
			continue
		}
		if may == "signed" { // nobody but the holder of a secret: no session and no token
			c.walkSigned(t, r.Method, path)
			continue
		}
		step := slices.Contains([]string{"code", "enrol", "password"}, may)
		for _, who := range visitors {
			want := expected(who, may, step)
			if may != "all" || r.Method == http.MethodGet || who == "out" { // others see no page with that form
				a := c.ask(who, r.Method, path, true)
				if got := verdict(a); !agrees(name, got, want) && (may != "all" || got != home(who)) {
					t.Errorf("%s as %s: %s, not %s (%d %s)", name, who, got, want, a.status, a.location)
				}
				if a.status >= 500 {
					t.Errorf("%s as %s: %d", name, who, a.status)
				}
			}
			if r.Method == http.MethodGet {
				continue
			}
			if want == "in" && (!step || home(who) != "/") {
				want = "form"
			}
			if got := verdict(c.ask(who, r.Method, path, false)); got != want {
				t.Errorf("%s as %s without a form token: %s, not %s", name, who, got, want)
			}
		}
		for token := range c.tokens { // a token is no session
			want := expected("out", may, step)
			if r.Method != http.MethodGet && want == "in" {
				want = "form"
			}
			if got := verdict(c.bearer(c.tokens[token], r.Method, path, c.site.browser())); !agrees(name, got, want) {
				t.Errorf("%s with the token %q: %s, not %s", name, token, got, want)
			}
		}
	}
	for name := range access {
		if !routes[name] {
			t.Errorf("%s is in the table, but there is no such route", name)
		}
	}
}

func (c *crowd) bearer(token, method, path string, b *browser) answer {
	c.t.Helper()
	r, err := http.NewRequest(method, c.URL+path, strings.NewReader(""))
	if err != nil {
		c.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return b.do(r)
}

func (c *crowd) walkSigned(t *testing.T, method, path string) {
	t.Helper()
	for _, who := range visitors {
		if a := c.bearer("", method, path, c.browser(who)); a.status != http.StatusUnauthorized && a.status != http.StatusUnsupportedMediaType {
			t.Errorf("%s %s as %s: %d", method, path, who, a.status)
		}
	}
	for token := range c.tokens {
		r, err := http.NewRequest(method, c.URL+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+c.tokens[token])
		if a := c.site.browser().do(r); a.status != http.StatusUnauthorized {
			t.Errorf("%s %s with the token %q: %d", method, path, token, a.status)
		}
	}
}

func (c *crowd) walkAPI(t *testing.T, method, path, scope string) {
	t.Helper()
	for _, who := range visitors { // a session is no token
		a := c.bearer("", method, path, c.browser(who))
		if who == "enrol" {
			a = c.bearer("", method, path, c.site.browser())
		}
		if a.status != http.StatusUnauthorized {
			t.Errorf("%s %s as %s: %d", method, path, who, a.status)
		}
	}
	for _, token := range []string{"nonsense", strings.Repeat("x", 500)} {
		if a := c.bearer(token, method, path, c.site.browser()); a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s with a wrong token: %d", method, path, a.status)
		}
	}
	for name, token := range c.tokens {
		a := c.bearer(token, method, path, c.site.browser())
		may := name == scope || strings.HasPrefix(name, "not ") && name != "not "+scope
		if may && (a.status == http.StatusUnauthorized || a.status == http.StatusForbidden || a.status >= 500) {
			t.Errorf("%s %s with the token %q: %d %s", method, path, name, a.status, a.body)
		}
		if says := fmt.Sprintf("it needs the scope %s", scope); !may && (a.status != http.StatusForbidden || !strings.Contains(a.body, says)) {
			t.Errorf("%s %s with the token %q: %d %s", method, path, name, a.status, a.body)
		}
	}
}
