package web

import (
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
)

// Limits of requests.
const (
	pageTime   = 30 * time.Second
	importTime = 15 * time.Minute
	formSize   = 64 << 10
	apiSize    = 8 << 20
	importSize = 512 << 20
)

const get, post = http.MethodGet, http.MethodPost

// Who may what, as in internal/review; the services check again.
var (
	readers = only(work.Viewer, work.Operator, work.Ops, work.Admin)
	doers   = only(work.Operator, work.Admin)
	keepers = only(work.Ops, work.Admin)
	admins  = only(work.Admin)
)

// routes is the list of all routes, each with the rule that says who may use it.
func (s *server) routes() http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.IPExtractor = s.addressOf()
	e.Use(s.requestID, s.recoverPanic, s.securityHeaders, s.checkHost)
	r := &router{server: s, echo: e, rules: map[string]rule{}}

	r.add(get, "/healthz", open(), healthBounds, s.health)
	r.add(get, "/readyz", open(), healthBounds, s.health)
	r.page(get, "/static/:name", open(), s.static)

	r.page(get, "/login", guest(), s.loginPage)
	r.page(post, "/login", guest(), s.login)
	r.page(post, "/logout", during(auth.NeedsCode, auth.NeedsEnrol, auth.NeedsPassword, auth.Ready), s.logout)

	r.page(get, "/", readers, s.list)
	r.add(get, "/export.csv", readers, bounds{importTime, formSize}, s.export)
	r.page(get, "/items/:id", readers, s.item)
	for _, a := range review.Actions {
		r.page(post, "/items/:id/"+string(a), doers, s.act(a))
	}
	r.page(get, "/items/:id/*", readers, func(c echo.Context) error { // the address of a form that was not honoured, opened again
		return c.Redirect(http.StatusSeeOther, "/items/"+url.PathEscape(c.Param("id")))
	})
	r.page(get, "/systems", readers, s.systemsPage)
	r.page(post, "/systems/:id/pause", keepers, s.pause)
	r.page(post, "/systems/:id/resume", keepers, s.resume)
	r.page(post, "/systems/:id/look-first", admins, s.endLookFirst)
	r.page(get, "/import", doers, s.importPage)
	r.add(post, "/import", doers, fileBounds, s.importForm)

	r.add(post, "/api/v1/items", scope(auth.ItemsWrite), apiBounds, s.apiRecord)
	r.page(get, "/api/v1/items/*", scope(auth.ItemsRead), s.apiItem)
	r.add(post, "/api/v1/import", scope(auth.ImportWrite), fileBounds, s.apiImport)
	return r.sealed()
}
