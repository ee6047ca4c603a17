package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/automation/proof"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const systemsPath = "/systems"

// systemRoutes are the pages of accounting systems.
func (s *server) systemRoutes(r *router) {
	r.page(get, systemsPath, readers, s.systemsPage)
	r.page(get, systemsPath+"/new", admins, s.connectPage)
	r.add(post, systemsPath+"/new", admins, bounds{tryTime, formSize}, s.connect)
	r.page(get, systemsPath+"/:id", readers, s.systemPage)
	r.page(get, systemsPath+"/:id/edit", admins, s.editSystemPage)
	r.add(post, systemsPath+"/:id/edit", admins, bounds{tryTime, formSize}, s.editSystem)
	r.add(post, systemsPath+"/:id/test", admins, bounds{tryTime, formSize}, s.testSystem)
	r.page(post, systemsPath+"/:id/remove", admins, s.removeSystem)
	s.accountRoutes(r)
	r.page(post, systemsPath+"/:id/pause", keepers, s.pause)
	r.page(post, systemsPath+"/:id/resume", keepers, s.resume)
	r.page(post, systemsPath+"/:id/look-first", admins, s.endLookFirst)
	r.page(post, systemsPath+"/:id/look-first/begin", admins, s.beginLookFirst)
	r.page(get, systemsPath+"/:id/*", readers, func(c echo.Context) error { // the address of a form, opened again
		return c.Redirect(http.StatusSeeOther, systemPath(c.Param("id")))
	})
}

// tryTime is how long a form may take that tests a connection.
const tryTime = 45 * time.Second

func systemPath(id string) string { return systemsPath + "/" + url.PathEscape(id) }

func (s *server) systemPage(c echo.Context) error {
	return s.showSystem(c, http.StatusOK, templates.SystemPage{})
}

func (s *server) showSystem(c echo.Context, status int, m templates.SystemPage) error {
	ctx, by, w := c.Request().Context(), person(c), templates.SystemWords
	d, err := s.systems.One(ctx, by, c.Param("id"))
	if err != nil {
		return err
	}
	if m.Shell, _, err = s.shell(c, text(d.Name, 80)); err != nil {
		return err
	}
	m.Alerts = nil // the page says it itself
	if m.Problem == "" && m.Tried == nil {
		m.Notice = didSystem(c)
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show := view{s.Zone, now}
	one := show.system(d.SystemState, by)
	m.ID, m.Name, m.Path, m.Badge, m.Say, m.Reports = d.ID, one.Name, systemPath(d.ID), one.Badge, one.Say, one.Reports
	m.Actions = show.systemActions(d.SystemState, by)
	m.Connection, m.Limits = systemConnection(d.SystemState), append([]templates.Fact{show.answers(d.System)}, systemLimits(d.SystemState)...)
	m.Calls = []templates.Fact{{Name: w.Hour, Value: callsText(d.Hour)}, {Name: w.Day, Value: callsText(d.Day)}}
	proven, err := s.proofs.Latest(ctx)
	if err != nil {
		return err
	}
	m.Proven = templates.Say(w.NeverProvenSay, nil)
	if r, ok := proven[d.ID]; ok {
		d.Proven = &review.Proven{At: r.EndedAt, Capabilities: r.Observed()}
		m.Proven = templates.Say(w.ProvenAt, map[string]any{"at": show.clock(d.Proven.At)})
	}
	m.Abilities, m.Cautions = abilities(d), cautions(d.System)
	if proof.MayProve(by) {
		m.Prove = templates.Link{Text: templates.Proofs.Do, Href: proofsPath(d.ID)}
		if d.Proven != nil {
			m.Prove.Text = templates.Proofs.DoAgain
		}
	}
	for _, ch := range d.Changes {
		m.Changes = append(m.Changes, templates.SystemChange{At: show.exact(ch.At), Who: text(orText(ch.By.Name, templates.People.Nobody), 60),
			What: didText(settingCode(ch.What)), Before: show.plain(ch.Before), After: show.plain(ch.After)})
	}
	if automation.MayConnect(by) {
		m.MayConnect, m.LimitsHref, m.TrailHref = true, "/limits/"+url.PathEscape(d.ID), "/audit?object=system:"+url.QueryEscape(d.ID)
		if err := s.addSetup(ctx, by, d.ID, &m); err != nil {
			return err
		}
	}
	return render(c, status, templates.SystemPageOf(m))
}

// addSetup adds what only admins see: where the credentials are, never what they are.
func (s *server) addSetup(ctx context.Context, by work.Actor, id string, m *templates.SystemPage) error {
	setup, err := s.Connections.Setup(ctx, by, id)
	if err != nil {
		return err
	}
	w := templates.SystemWords
	m.Known = setup.Known
	if setup.Problem != "" {
		m.Unknown = templates.Say("{text}.", map[string]any{"text": text(strings.TrimSuffix(sentence(setup.Problem), "."), 300)})
	}
	for _, f := range setup.Kind.Fields {
		if f.Secret {
			is := templates.Say(w.SecretIs[setup.Secrets[f.Name]], map[string]any{"label": f.Label}).String()
			m.Connection = append(m.Connection, templates.Fact{Name: w.Credentials, Value: is})
		}
	}
	now, err := s.review.Now(ctx)
	m.Account = s.systemAccount(view{s.Zone, now}, setup)
	return err
}

func didSystem(c echo.Context) *templates.Notice {
	if says := templates.SystemWords.Did[c.QueryParam("did")]; says != "" {
		return &templates.Notice{Good: true, Say: templates.Say(says, nil)}
	}
	return nil
}

func systemConnection(sys review.SystemState) []templates.Fact {
	w := templates.SystemWords
	return []templates.Fact{{Name: w.Books, Value: text(orText(sys.Identity, w.NoBooks), 100)}, {Name: w.Kind, Value: sentence(text(sys.Adapter, 40))},
		{Name: w.Address, Value: text(orText(sys.Address, "–"), 200)}, {Name: w.ShortName, Value: sys.ID}}
}

// answers is the state of the breaker.
func (v view) answers(sys work.System) templates.Fact {
	w := templates.SystemWords
	if sys.LoginProblem != "" {
		return templates.Fact{Name: w.Answers, Value: templates.Words.SystemSays["login"]}
	}
	if !sys.NotReached() {
		return templates.Fact{Name: w.Answers, Value: templates.Words.Fact["yes"]}
	}
	since := sys.BreakerSince
	if since.IsZero() { // it opened before that was kept
		since = sys.BreakerUntil
	}
	at := v.clock(since)
	return templates.Fact{Name: w.Silent, At: &at}
}

func systemLimits(sys review.SystemState) []templates.Fact {
	w := templates.SystemWords
	rate := w.NoLimit
	if sys.PerSecond > 0 {
		rate = strconv.FormatFloat(sys.PerSecond, 'f', -1, 64)
	}
	return []templates.Fact{{Name: templates.Words.InFlight, Value: strconv.Itoa(sys.InFlight)}, {Name: templates.Words.Fact["limit"], Value: strconv.Itoa(sys.MaxInFlight)},
		{Name: w.PerSecond, Value: rate}}
}

// callsText says how calls went: "1,240 calls: 12 without a clear answer (1.0 %), 3 refused", and what was not sent at all.
func callsText(n work.Calls) string {
	w := templates.SystemWords
	if n.All == 0 {
		return w.NoCalls
	}
	pattern := w.CallsSay
	if n.All == 1 {
		pattern = w.CallsSayOne
	}
	if n.NotSent > 0 {
		pattern += w.CallsNotSent
	}
	return templates.Say(pattern, map[string]any{"n": grouped(n.All), "unsent": grouped(n.NotSent), "bad": grouped(n.Unanswered), "no": grouped(n.Refused),
		"rate": fmt.Sprintf("%.1f %%", 100*float64(n.Unanswered)/float64(n.All))}).String()
}

// grouped is a number as people read it: "12,400".
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// abilities are what a system can be relied on for, as declared and as last proven.
func abilities(d review.SystemDetail) []templates.Ability {
	w, yes := templates.SystemWords.Ability, map[bool]string{true: templates.Words.Fact["yes"], false: templates.Words.Fact["no"]}
	type line struct{ name, says string }
	lines := func(c work.Capabilities) []line {
		keys := yes[c.HonoursKeys]
		if c.HonoursKeys {
			keys = w["keys/ever"]
			if c.KeyLifetime > 0 {
				keys = templates.Say(w["keys/for"], map[string]any{"time": spell(c.KeyLifetime)}).String()
			}
		}
		list := []line{{"searchable", yes[c.Searchable]}, {"keys", keys}, {"unique", yes[c.UniqueReferences]}}
		if c.Searchable {
			list = append(list, line{"lag", spell(c.SearchLag)}, line{"misses", strconv.Itoa(max(c.Misses, 1))})
		}
		list = append(list, line{"linger", spell(c.Linger)}, line{"tolerance", templates.Say(w["tolerance/value"], map[string]any{"n": strconv.Itoa(c.Tolerance)}).String()})
		if c.MaxReference > 0 {
			list = append(list, line{"reference", templates.Say(w["reference/value"], map[string]any{"n": strconv.Itoa(c.MaxReference)}).String()})
		}
		return list
	}
	proven := map[string]string{}
	if d.Proven != nil {
		for _, l := range lines(d.Proven.Capabilities) {
			proven[l.name] = l.says
		}
	}
	var out []templates.Ability
	for _, l := range lines(d.Capabilities) {
		out = append(out, templates.Ability{Name: w[l.name], Declared: l.says, Proven: orText(proven[l.name], templates.SystemWords.NeverProven)})
	}
	var steps []string
	for _, step := range d.Steps {
		steps = append(steps, stepName(step))
	}
	return append(out, templates.Ability{Name: w["steps"], Declared: strings.Join(steps, ", "), Proven: "–"})
}

// cautions say what is relied on less than declared.
func cautions(sys work.System) []string {
	lines := ProofOffers(sys.Caution)
	if is, may := sys.ReliedOn(), sys.Capabilities.Cautious(sys.Caution); sys.Typed && (is.HonoursKeys != may.HonoursKeys || is.Searchable != may.Searchable) {
		lines = append(lines, templates.SystemWords.TypedOnly)
	}
	return lines
}

// spell is a length of time as people write it: "2 min", "24 h".
func spell(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + " h"
	case d >= time.Minute && d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + " min"
	case d%time.Second == 0:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	}
	return d.String()
}

// settingCode is a recorded change of a setting as the trail calls it.
func settingCode(what string) string {
	codes := map[string]string{"policy": "policy_changed", "pause": "system_paused", "resume": "system_resumed", "connection": "system_changed", "credentials": "system_credentials"}
	return orText(codes[what], strings.ReplaceAll(what, " ", "_"))
}

// systemActions are what the person may do on the system's own page, each with a reason.
func (v view) systemActions(sys review.SystemState, by work.Actor) []templates.Action {
	w := templates.Words
	var out []templates.Action
	add := func(code, label, help string, needsNote bool) {
		out = append(out, templates.Action{Name: strings.ReplaceAll(code, "/", "-"), Post: systemPath(sys.ID) + "/" + code, Label: label, Help: templates.Say(help, nil), NeedsNote: needsNote, MaxNote: "300"})
	}
	if review.MayPause(by) {
		if sys.PausedAt.IsZero() {
			add("pause", w.Action["pause"], w.ActionHelp["pause"], true)
		} else {
			add("resume", w.Action["resume"], w.ActionHelp["resume"], false)
		}
	}
	if review.MayLookFirst(by) {
		if sys.LookFirst.IsZero() {
			add("look-first/begin", templates.SystemWords.LookFirstDo, templates.SystemWords.LookFirstHelp, true)
		} else {
			add("look-first", w.Action["look-first"], w.ActionHelp["look-first"], true)
		}
	}
	return out
}

func (s *server) beginLookFirst(c echo.Context) error {
	err := s.systems.BeginLookFirst(c.Request().Context(), person(c), c.Param("id"), c.FormValue("note"))
	if errors.Is(err, review.ErrReason) {
		return s.showSystem(c, http.StatusUnprocessableEntity, templates.SystemPage{Problem: templates.SystemWords.NoReason})
	}
	return backToSystems(c, err, "look_first")
}

func (s *server) testSystem(c echo.Context) error {
	t, err := s.Connections.TryStored(c.Request().Context(), person(c), c.Param("id"))
	if err != nil {
		return err
	}
	return s.showSystem(c, http.StatusOK, templates.SystemPage{Tried: tried(t)})
}

func (s *server) removeSystem(c echo.Context) error {
	err := s.Connections.Remove(c.Request().Context(), person(c), c.Param("id"))
	if errors.Is(err, automation.ErrSystemUsed) {
		return s.showSystem(c, http.StatusConflict, templates.SystemPage{Problem: sentence(err.Error()) + "."})
	}
	return backTo(c, err, systemsPath+"?did=removed")
}

// tried is the result of a test in words.
func tried(t automation.Tried) *templates.Tried {
	w := templates.SystemWords
	code := string(t.Problem)
	if t.Problem == automation.TryWorks && !t.Capabilities.Searchable {
		code = "unsearchable"
	}
	m := &templates.Tried{Good: t.Problem == automation.TryWorks || t.Problem == automation.TryAccount, Say: templates.Say(w.Try[code], map[string]any{"books": text(t.Identity, 100), "before": text(t.Before, 100),
		"same": text(t.Same, 100), "text": text(strings.TrimSuffix(t.Text, "."), 300)}), More: []string{w.Nothing}}
	if t.Plain {
		m.More = append(m.More, w.Plain)
	}
	return m
}
