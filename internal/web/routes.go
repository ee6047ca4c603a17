package web

import (
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
)

// Limits of requests.
const (
	pageTime   = 30 * time.Second
	importTime = 15 * time.Minute
	formSize   = 64 << 10
	apiSize    = 8 << 20
	importSize = 512 << 20
)

func (s *server) routes() http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.IPExtractor = echo.ExtractIPDirect()
	e.Use(s.requestID, s.recoverPanic, s.securityHeaders, s.checkHost)

	e.GET("/healthz", s.health, limits(5*time.Second, formSize))
	e.GET("/readyz", s.health, limits(5*time.Second, formSize))
	e.GET("/static/:name", s.static)

	guest := e.Group("", limits(pageTime, formSize), s.csrf)
	guest.GET("/login", s.loginPage)
	guest.POST("/login", s.login)

	staff := e.Group("", s.signedIn, limits(pageTime, formSize), s.csrf)
	staff.GET("/", s.list)
	staff.POST("/logout", s.logout)
	staff.GET("/items/:id", s.item)
	for _, a := range review.Actions {
		staff.POST("/items/:id/"+string(a), s.act(a))
	}
	staff.GET("/items/:id/*", func(c echo.Context) error { // the address of a form that was not honoured, opened again
		return c.Redirect(http.StatusSeeOther, "/items/"+url.PathEscape(c.Param("id")))
	})
	staff.GET("/systems", s.systemsPage)
	staff.POST("/systems/:id/pause", s.pause)
	staff.POST("/systems/:id/resume", s.resume)
	staff.POST("/systems/:id/look-first", s.endLookFirst)
	staff.GET("/import", s.importPage)
	e.POST("/import", s.importForm, s.signedIn, limits(importTime, importSize), readForm, s.csrf)

	api := e.Group("/api/v1", s.bearer)
	api.POST("/items", s.apiRecord, limits(pageTime, apiSize))
	api.GET("/items/*", s.apiItem, limits(pageTime, formSize))
	api.POST("/import", s.apiImport, limits(importTime, importSize))
	e.Any("/api/*", func(echo.Context) error { return echo.ErrNotFound })
	return e
}
