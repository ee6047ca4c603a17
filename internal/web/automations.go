package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const (
	automationsPath = "/automations"
	switchPath      = automationsPath + "/switch"
	runPath         = automationsPath + "/run"
	beginPath       = automationsPath + "/begin"
)

// automationRoutes are the page of the automations and what admins do there.
func (s *server) automationRoutes(r *router) {
	r.page(get, automationsPath, readers, s.automationsPage)
	r.page(post, switchPath, admins, s.switchAutomation)
	r.page(post, runPath, admins, s.runAutomation)
	r.page(post, beginPath, admins, s.letBegin)
	r.page(get, automationsPath+"/*", readers, func(c echo.Context) error { // the address of a form that was not honoured, opened again
		return c.Redirect(http.StatusSeeOther, automationsPath)
	})
}

func (s *server) automationsPage(c echo.Context) error {
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	if kept && f.Path == switchPath {
		return s.showAutomations(c, http.StatusOK, f.Fields, &templates.Notice{Say: templates.Say(templates.Automations.Kept, nil)})
	}
	return s.showAutomations(c, http.StatusOK, nil, didAutomation(c.QueryParams()))
}

// didAutomation says what came of the last action.
func didAutomation(q url.Values) *templates.Notice {
	w, named := templates.Automations, automationTitle(q.Get("name"))
	if pattern := w.Did[q.Get("did")]; pattern != "" {
		return &templates.Notice{Good: true, Say: templates.Say(pattern, map[string]any{"name": named})}
	}
	if q.Get("did") != "ran" {
		return nil
	}
	recorded, _ := strconv.ParseUint(q.Get("recorded"), 10, 32)
	asked, _ := strconv.ParseUint(q.Get("asked"), 10, 32)
	return ranNotice(named, review.AutomationRun{Recorded: int(recorded), Asked: int(asked)})
}

// ranNotice says what a run did.
func ranNotice(named string, ran review.AutomationRun) *templates.Notice {
	w := templates.Automations.Ran
	count := func(code string, n int) string {
		if n == 1 {
			code += "/one"
		}
		return say(w[code], "name", named, "n", thousands(int64(n)))
	}
	var says []string
	switch {
	case ran.Recorded > 0:
		says = append(says, count("new", ran.Recorded))
	case ran.Asked == 0 && len(ran.Problems) == 0:
		says = append(says, say(w["none"], "name", named))
	}
	if ran.Asked > 0 {
		says = append(says, count("asks", ran.Asked))
	}
	const shown = 3
	for _, p := range ran.Problems[:min(len(ran.Problems), shown)] {
		says = append(says, say(w["problem"], "text", text(p, 300)))
	}
	return &templates.Notice{Good: ran.Asked == 0 && len(ran.Problems) == 0, Say: templates.Sentence{{Text: strings.Join(says, " ")}}}
}

// switchAutomation turns one off or on. A form from an old page changes nothing, and keeps what was typed.
func (s *server) switchAutomation(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	version, err := strconv.ParseInt(form.Get("version"), 10, 64)
	on := form.Get("on") == "1"
	if err != nil || !on && form.Get("on") != "0" {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	named, by := form.Get("name"), person(c)
	if err := s.agreed(c, named); err != nil {
		return err
	}
	err = s.automations.Switch(c.Request().Context(), by, named, on, version, text(form.Get("note"), 300))
	if errors.Is(err, review.ErrAutomationChanged) {
		return s.showAutomations(c, http.StatusConflict, form, &templates.Notice{Say: templates.Say(templates.Automations.Changed,
			map[string]any{"name": automationTitle(named)})})
	}
	var never *review.OnUnproven
	if errors.As(err, &never) {
		return s.showAutomations(c, http.StatusConflict, form, askUnproven(never))
	}
	if err != nil {
		return err
	}
	did := url.Values{"did": {map[bool]string{true: "on", false: "off"}[on]}, "name": {named}}
	return c.Redirect(http.StatusSeeOther, automationsPath+"?"+did.Encode())
}

// agreed notes that the person agrees to run an automation on the systems that they were asked about.
func (s *server) agreed(c echo.Context, named string) error {
	ids := strings.Split(c.FormValue("unproven"), ",")
	if ids[0] == "" {
		return nil
	}
	_, err := s.automations.Agree(c.Request().Context(), person(c), named, ids)
	return err
}

func askUnproven(never *review.OnUnproven) *templates.Notice {
	w := templates.Automations
	return &templates.Notice{Say: templates.Say(w.Unproven, map[string]any{"name": automationTitle(never.Automation), "systems": strings.Join(systemNames(never.Systems), w.UnprovenAnd)})}
}

func systemNames(systems []work.System) (names []string) {
	for _, sys := range systems {
		names = append(names, text(sys.Name, 60))
	}
	return names
}

// runAutomation records at once what is due.
func (s *server) runAutomation(c echo.Context) error {
	named := c.FormValue("name")
	if err := s.agreed(c, named); err != nil {
		return err
	}
	ran, err := s.automations.Run(c.Request().Context(), person(c), named)
	var off *work.SwitchedOff
	var never *review.OnUnproven
	switch {
	case errors.As(err, &never):
		return s.showAutomations(c, http.StatusConflict, url.Values{"name": {named}, "run": {"1"}}, askUnproven(never))
	case errors.As(err, &off):
		off.Zone = s.Zone
		return s.showAutomations(c, http.StatusConflict, nil, &templates.Notice{Say: templates.Sentence{{Text: sentence(text(off.Error(), 600)) + "."}}})
	case err != nil:
		return err
	case len(ran.Problems) > 0:
		return s.showAutomations(c, http.StatusOK, nil, ranNotice(automationTitle(named), ran))
	}
	did := url.Values{"did": {"ran"}, "name": {named}, "recorded": {strconv.Itoa(ran.Recorded)}, "asked": {strconv.Itoa(ran.Asked)}}
	return c.Redirect(http.StatusSeeOther, automationsPath+"?"+did.Encode())
}

// showAutomations shows the page, with a form as it was typed.
func (s *server) showAutomations(c echo.Context, status int, typed url.Values, notice *templates.Notice) error {
	ctx, by := c.Request().Context(), person(c)
	shell, systems, err := s.shell(c, templates.Automations.Nav)
	if err != nil {
		return err
	}
	shell.Notice = notice
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	list, err := s.automations.List(ctx, by)
	if err != nil {
		return err
	}
	show := view{s.Zone, now}
	m := templates.AutomationsView{Shell: shell}
	for i, a := range list {
		one := show.automation(a, systems, by)
		one.Anchor = "automation-" + strconv.Itoa(i+1)
		if typed != nil && typed.Get("name") == a.Name {
			one.Note, one.Open = text(typed.Get("note"), 300), typed.Get("on") == "0"
			if one.Ask, err = s.ask(ctx, a.Name, typed); err != nil {
				return err
			}
		}
		m.List = append(m.List, one)
	}
	if m.Let, err = s.letForm(ctx, by, systems); err != nil {
		return err
	}
	return render(c, status, templates.AutomationsPage(m))
}

// ask is the question whether an automation may begin on systems that were never proven; nil: nothing is to be asked.
func (s *server) ask(ctx context.Context, named string, typed url.Values) (*templates.AskUnproven, error) {
	if typed.Get("on") != "1" && typed.Get("run") != "1" {
		return nil, nil
	}
	never, err := s.Store.NeverProven(ctx, s.CompanyID, named)
	if err != nil || len(never) == 0 {
		return nil, err
	}
	w := templates.Automations
	m := &templates.AskUnproven{Post: switchPath, Do: w.UnprovenOn}
	if typed.Get("run") == "1" {
		m.Post, m.Do = runPath, w.UnprovenRun
	}
	var ids []string
	for _, sys := range never {
		ids = append(ids, sys.ID)
		m.Prove = append(m.Prove, templates.Link{Text: say(templates.Proofs.Title, "name", text(sys.Name, 60)), Href: proofsPath(sys.ID)})
	}
	m.Systems = strings.Join(ids, ",")
	return m, nil
}

// automationTitle is what people call an automation.
func automationTitle(name string) string {
	return orText(templates.Automations.Title[name], text(name, 100))
}

func (v view) automation(a review.AutomationState, systems []review.SystemState, by work.Actor) templates.AutomationView {
	w := templates.Automations
	m := templates.AutomationView{Name: a.Name, Title: automationTitle(a.Name), What: templates.Pick(w.What, a.Name, ""), Planned: a.Planned, Off: a.Off(),
		Badge: templates.Badge{Sign: "✓", Tone: "good", Text: w.On}, May: review.MaySwitch(by), Version: strconv.FormatInt(a.Version, 10)}
	m.MayRun = m.May && a.Planned && !a.Off()
	if w.Title[a.Name] != "" {
		m.Code = a.Name
	}
	if a.Off() {
		m.Badge = templates.Badge{Sign: "!", Tone: "ask", Text: w.Off}
		m.Says = []templates.Sentence{append(templates.Say(w.OffSince+" ", map[string]any{"who": text(a.OffBy.Name, 60), "at": v.clock(a.OffAt)}), templates.Part{Text: w.OffGoesOn})}
		if a.OffNote != "" {
			m.Says = append(m.Says, templates.Say(w.OffWhy, map[string]any{"text": text(a.OffNote, 300)}))
		}
	}
	for _, t := range a.Targets {
		m.Targets = append(m.Targets, target(t, systems))
	}
	if !a.LastAt.IsZero() {
		at := v.ago(a.LastAt)
		m.Last = &at
		for _, tab := range review.MonthTabs {
			m.Figures = append(m.Figures, automationFigure(a, tab))
		}
	}
	if a.Planned {
		m.Plans = automationPlans[a.Name]
		switch {
		case a.NextAt.IsZero():
			m.NextSay = w.NothingNext
		case !a.NextAt.After(v.now):
			m.NextSay = w.DueNow
		default:
			at := v.clock(a.NextAt)
			m.Next = &at
		}
	}
	return m
}

// automationPlans are the pages on which people plan what an automation does.
var automationPlans = map[string]string{"recurring": "/plans"}

func automationFigure(a review.AutomationState, tab review.Tab) templates.AutomationFigure {
	n := a.Counts[tab]
	f := templates.AutomationFigure{Name: templates.Words.Tab[string(tab)], Count: thousands(n), Nil: n == 0,
		Href: "/?" + url.Values{"automation": {a.Name}, "tab": {string(tab)}}.Encode()}
	if n >= review.CountedUpTo {
		f.Count = say(templates.Automations.More, "n", thousands(n))
	}
	return f
}

func target(t review.AutomationTarget, systems []review.SystemState) templates.Target {
	to := templates.Target{System: text(t.SystemID, 60), Href: "/systems#system-" + url.PathEscape(t.SystemID)}
	for _, sys := range systems {
		if sys.ID == t.SystemID {
			to.System = text(sys.Name, 60)
		}
	}
	var steps []string
	for _, step := range t.Steps {
		steps = append(steps, stepName(step))
	}
	to.Steps = strings.Join(steps, templates.Automations.Then)
	return to
}
