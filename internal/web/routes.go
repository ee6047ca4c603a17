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
	bulkTime   = 100 * time.Second // to freeze the largest set
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
	e.Use(s.requestID, s.observe(e), s.recoverPanic, s.securityHeaders, s.checkHost)
	r := &router{server: s, echo: e, rules: map[string]rule{}}

	r.add(get, "/healthz", open(), healthBounds, s.health)
	r.add(get, "/readyz", open(), healthBounds, s.ready)
	r.page(get, "/static/:name", open(), s.static)

	r.page(get, "/login", guest(), s.loginPage)
	r.page(post, "/login", guest(), s.login)
	r.page(post, "/logout", during(auth.NeedsCode, auth.NeedsEnrol, auth.NeedsPassword, auth.Ready), s.logout)

	r.page(get, "/login/code", during(auth.NeedsCode), s.codePage)
	r.page(post, "/login/code", during(auth.NeedsCode), s.code)
	r.page(get, enrolAtLogin, during(auth.NeedsEnrol), s.enrolPage)
	r.page(get, enrolAtLogin+qrName, during(auth.NeedsEnrol), s.enrolPicture)
	r.page(post, enrolAtLogin, during(auth.NeedsEnrol), s.enrol)
	r.page(get, passwordAtLogin, during(auth.NeedsPassword), s.passwordPage)
	r.page(post, passwordAtLogin, during(auth.NeedsPassword), s.password)
	r.page(get, "/sso", guest(), ownLinks("/login", s.beginSSO))
	r.page(get, "/sso/answer", guest(), s.finishSSO)
	r.page(get, "/setup", guest(), s.setUpPage)
	r.page(post, "/setup", guest(), s.setUp)
	r.page(get, welcomePath+":token", guest(), s.welcomePage)
	r.page(post, welcomePath+":token", guest(), s.welcome)

	s.peopleRoutes(r)
	s.bulkRoutes(r)
	s.reportRoutes(r)
	s.importRoutes(r)
	s.planRoutes(r)
	s.automationRoutes(r)
	s.limitRoutes(r)
	s.retentionRoutes(r)
	s.serverRoutes(r)
	s.attemptRoutes(r)

	r.page(get, "/", readers, s.list)
	r.add(get, "/export.csv", readers, bounds{importTime, formSize}, ownLinks("/", s.exportCSV))
	r.add(get, "/export.xlsx", readers, bounds{importTime, formSize}, ownLinks("/", s.exportXLSX))
	r.page(post, "/views", readers, s.saveView)
	r.page(post, "/views/:id/delete", readers, s.deleteView)
	r.page(get, "/items/:id", readers, s.item)
	for _, a := range review.Actions {
		r.page(post, "/items/:id/"+string(a), doers, s.act(a))
	}
	r.page(post, "/items/:id/"+holdAll, doers, s.holdSource)
	r.page(get, "/items/:id/"+string(review.Correct), doers, s.correctPage)
	r.page(get, "/items/:id/*", readers, func(c echo.Context) error { // the address of a form that was not honoured, opened again
		return c.Redirect(http.StatusSeeOther, "/items/"+url.PathEscape(c.Param("id")))
	})
	r.add(get, livePath, readers, streamBounds, s.live)
	r.page(get, overviewPath, readers, s.overviewPage)
	r.add(get, overviewPath+".csv", readers, bounds{importTime, formSize}, ownLinks(overviewPath, s.overviewCSV))
	r.page(get, "/periods", readers, s.periodsPage)
	r.page(get, "/periods/:period", readers, s.periodPage)
	r.add(get, "/periods/:period/export.csv", readers, bounds{importTime, formSize}, ownLinks("/periods", s.periodCSV))
	r.add(get, "/periods/:period/export.xlsx", readers, bounds{importTime, formSize}, ownLinks("/periods", s.periodXLSX))
	s.systemRoutes(r)
	s.proofRoutes(r)

	s.eventRoutes(r)

	r.add(post, "/api/v1/items", scope(auth.ItemsWrite), apiBounds, jsonOnly(s.apiRecord))
	r.page(get, "/api/v1/items/*", scope(auth.ItemsRead), s.apiItem)
	r.page(get, "/api/v1/systems", scope(auth.SystemsRead), s.apiSystems)
	r.add(post, "/api/v1/import", scope(auth.ImportWrite), fileBounds, s.apiImport)
	return r.sealed()
}

// bulkRoutes are the pages on which many items are dealt with at once.
func (s *server) bulkRoutes(r *router) {
	r.page(get, bulkPath, doers, s.bulkRunsPage)
	r.page(get, bulkNewPath, doers, s.bulkNewPage)
	r.add(post, bulkNewPath, doers, bounds{bulkTime, formSize}, s.bulkStart)
	r.page(get, bulkPath+"/:id", doers, s.bulkPage)
	r.page(post, bulkPath+"/:id/stop", doers, s.bulkStop)
	r.add(get, bulkPath+"/:id/results.csv", doers, bounds{importTime, formSize}, ownLinks(bulkPath, s.bulkResults))
}

// peopleRoutes are the pages about people: everybody's own, and those of admins.
func (s *server) peopleRoutes(r *router) {
	r.page(get, "/profile", member(), s.profilePage)
	r.page(post, "/profile/name", member(), s.renameSelf)
	r.page(post, "/profile/email", member(), s.setOwnEmail)
	r.page(post, "/profile/notices", member(), s.saveNotices)
	r.page(post, "/profile/notices/test", member(), s.testNotice)
	r.page(get, passwordPath, member(), s.passwordPage)
	r.page(post, passwordPath, member(), s.password)
	r.page(get, enrolPath, member(), s.enrolPage)
	r.page(get, enrolPath+qrName, member(), s.enrolPicture)
	r.page(post, enrolPath, member(), s.enrol)
	r.page(post, enrolPath+"/remove", member(), s.removeOwnStep)
	r.page(post, "/profile/codes", member(), s.renewCodes)
	r.page(post, "/profile/sessions/:session/end", member(), s.endOwnSession)
	r.page(post, "/profile/sessions/others", member(), s.endOtherSessions)
	r.page(post, "/profile/sessions/everywhere", member(), s.signOutEverywhere)

	r.page(get, "/people", admins, s.peoplePage)
	r.page(post, "/people", admins, s.invite)
	r.page(post, "/people/second-step", admins, s.requireStep)
	r.page(get, "/people/:id", admins, s.personPage)
	r.page(post, "/people/:id/name", admins, s.onPerson("name", s.renamePerson))
	r.page(post, "/people/:id/email", admins, s.setEmail)
	r.page(post, "/people/:id/roles", admins, s.onPerson("roles", s.setRoles))
	r.page(post, "/people/:id/disable", admins, s.onPerson("disable", s.disablePerson))
	r.page(post, "/people/:id/enable", admins, s.onPerson("enable", s.enablePerson))
	r.page(post, "/people/:id/link", admins, s.makeLink)
	r.page(post, "/people/:id/second-step/remove", admins, s.onPerson("step_removed", s.removeStep))
	r.page(post, "/people/:id/sessions/:session/end", admins, s.onPerson("session", s.endSession))
	r.page(post, "/people/:id/sessions/everywhere", admins, s.onPerson("everywhere", s.endSessions))

	r.page(get, "/tokens", admins, s.tokensPage)
	r.page(post, "/tokens", admins, s.createToken)
	r.page(post, "/tokens/:id/revoke", admins, s.revokeToken)

	r.page(get, "/notices", admins, s.noticesPage)
	r.page(get, "/audit", admins, s.trailPage)
	r.add(get, "/audit.csv", admins, bounds{importTime, formSize}, ownLinks("/audit", s.trailExport))
}
