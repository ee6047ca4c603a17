package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/web/templates"
)

// accountAnswer is where accounting systems send people back to; it is registered there.
const accountAnswer = systemsPath + "/login/callback"

// accountRoutes are the pages on which the account of a system is connected.
func (s *server) accountRoutes(r *router) {
	r.page(post, systemsPath+"/:id/login", admins, s.beginAccount)
	r.page(post, systemsPath+"/:id/login/remove", admins, s.disconnectAccount)
	r.add(get, accountAnswer, admins, bounds{tryTime, formSize}, s.finishAccount)
	r.page(get, systemsPath+"/:id/login/books", admins, s.booksPage)
	r.add(post, systemsPath+"/:id/login/books", admins, bounds{tryTime, formSize}, s.chooseBooks)
}

// accountAddress is the address of the answer; empty if the server does not know its own. That of the request would not do:
// it must be the one that is registered.
func (s *server) accountAddress() string {
	if s.PublicURL == "" {
		return ""
	}
	return strings.TrimRight(s.PublicURL, "/") + accountAnswer
}

// systemAccount is the account of a system on its page; nil if it logs in without one.
func (s *server) systemAccount(v view, setup automation.Setup) *templates.SystemAccount {
	a, w := setup.Account, templates.AccountWords
	if a == nil {
		return nil
	}
	m := &templates.SystemAccount{Connected: a.Connected, Post: systemPath(setup.ID) + "/login", Remove: systemPath(setup.ID) + "/login/remove"}
	if s.accountAddress() != "" {
		m.Label = map[bool]string{true: w.Again, false: w.Connect}[a.Connected]
	}
	if !a.Connected {
		m.Facts = []templates.Fact{{Name: w.State, Value: w.NotConnected}}
		return m
	}
	state, since := templates.Say(w.Connected, map[string]any{"name": text(a.By.Name, 60)}).String(), v.clock(a.At)
	if !a.RefusedAt.IsZero() {
		state, since = w.Refused, v.clock(a.RefusedAt)
		m.Why = sentence(text(a.RefusedWhy, 300)) + "."
	}
	m.Facts = []templates.Fact{{Name: w.State, Value: state}, {Name: w.Since, At: &since}}
	if a.Scopes != "" {
		m.Facts = append(m.Facts, templates.Fact{Name: w.May, Value: text(a.Scopes, 300)})
	}
	return m
}

// beginAccount leads to the accounting system by a link on a page of its own: our pages may send forms to themselves only, and
// browsers hold a redirect after a form to that too.
func (s *server) beginAccount(c echo.Context) error {
	if s.accountAddress() == "" {
		return s.showSystem(c, http.StatusConflict, templates.SystemPage{Problem: templates.AccountWords.NoAddress})
	}
	ctx, by, id, w := c.Request().Context(), person(c), c.Param("id"), templates.AccountWords
	away, err := s.Connections.BeginAccount(ctx, by, id, s.accountAddress())
	if err != nil {
		return s.refuseAccount(c, err)
	}
	host := map[string]any{"host": text(away.Host, 100)}
	m := templates.AccountAway{Heading: templates.Say(w.AwayTitle, map[string]any{"name": text(away.System, 80)}).String(), Crumb: text(away.System, 80), Back: systemPath(id),
		Say: templates.Say(w.AwaySay, host), Href: away.URL, Label: templates.Say(w.Go, host).String()}
	if m.Shell, _, err = s.shell(c, m.Heading); err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.AccountAwayPage(m))
}

// finishAccount takes the answer of the accounting system.
func (s *server) finishAccount(c echo.Context) error {
	done, err := s.Connections.FinishAccount(c.Request().Context(), person(c), c.QueryParams())
	switch {
	case err != nil:
		return s.refuseAccount(c, err)
	case done.Choose != "":
		return c.Redirect(http.StatusSeeOther, systemPath(done.SystemID)+"/login/books?choice="+url.QueryEscape(done.Choose))
	}
	return c.Redirect(http.StatusSeeOther, systemPath(done.SystemID)+"?did=account")
}

func (s *server) booksPage(c echo.Context) error {
	return s.showBooks(c, http.StatusOK, c.QueryParam("choice"), "")
}

func (s *server) showBooks(c echo.Context, status int, choice, problem string) error {
	id, w := c.Param("id"), templates.AccountWords
	has, err := s.Connections.Books(c.Request().Context(), person(c), id, choice)
	if err != nil {
		return s.refuseAccount(c, err)
	}
	m := templates.AccountBooks{Crumb: text(has.System, 80), Back: systemPath(id), Post: systemPath(id) + "/login/books", Choice: choice,
		Say:   templates.Say(w.ChooseSay, map[string]any{"name": text(has.System, 80)}),
		Books: templates.FormField{Name: "book", Label: w.Books, Problem: problem, Choices: []templates.Choice{{Text: w.Pick}}}}
	for _, b := range has.Books {
		m.Books.Choices = append(m.Books.Choices, templates.Choice{Value: b.ID, Text: text(orText(b.Name, b.ID), 200)})
	}
	if m.Shell, _, err = s.shell(c, w.ChooseTitle); err != nil {
		return err
	}
	return render(c, status, templates.AccountBooksPage(m))
}

func (s *server) chooseBooks(c echo.Context) error {
	if c.FormValue("book") == "" {
		return s.showBooks(c, http.StatusUnprocessableEntity, c.FormValue("choice"), templates.AccountWords.NoBook)
	}
	if err := s.Connections.ChooseBooks(c.Request().Context(), person(c), c.Param("id"), c.FormValue("choice"), c.FormValue("book")); err != nil {
		return s.refuseAccount(c, err)
	}
	return c.Redirect(http.StatusSeeOther, systemPath(c.Param("id"))+"?did=account")
}

func (s *server) disconnectAccount(c echo.Context) error {
	err := s.Connections.DisconnectAccount(c.Request().Context(), person(c), c.Param("id"))
	return backTo(c, err, systemPath(c.Param("id"))+"?did=account_removed")
}

// accountStatus is the status of a refusal; 409 if it is not among them.
var accountStatus = map[automation.AccountCode]int{automation.AccountState: http.StatusGone, automation.AccountPerson: http.StatusForbidden,
	automation.AccountDenied: http.StatusForbidden, automation.AccountExchange: http.StatusBadGateway, automation.AccountUnreachable: http.StatusBadGateway}

// refuseAccount says why an account was not connected.
func (s *server) refuseAccount(c echo.Context, err error) error {
	var refusal *automation.AccountRefusal
	if !errors.As(err, &refusal) {
		return err
	}
	s.Log.WarnContext(c.Request().Context(), "an account was not connected", "system", refusal.SystemID, "reason", refusal.Code)
	status := accountStatus[refusal.Code]
	if status == 0 {
		status = http.StatusConflict
	}
	w, name, said := templates.AccountWords, text(orText(refusal.System, templates.Words.Systems), 80), text(strings.TrimSuffix(refusal.Text, "."), 300)
	codes := []string{string(refusal.Code)}
	if said == "" {
		codes = append([]string{string(refusal.Code) + "/none"}, codes...)
	}
	m := templates.AccountRefused{Crumb: name, Back: systemsPath, Link: templates.Say(w.Back, map[string]any{"name": name}).String(),
		Say: templates.Say(templates.Pick(w.Refuse, codes...), map[string]any{"name": name, "text": said})}
	if refusal.SystemID != "" {
		m.Back = systemPath(refusal.SystemID)
	}
	if refusal.Tried != nil {
		m.Say = tried(*refusal.Tried).Say
	}
	if m.Shell, _, err = s.shell(c, w.RefusedTitle); err != nil {
		return err
	}
	return render(c, status, templates.AccountRefusedPage(m))
}
