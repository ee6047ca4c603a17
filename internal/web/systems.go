package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/automation/proof"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

func (s *server) systemsPage(c echo.Context) error {
	shell, systems, err := s.shell(c, templates.Words.Systems)
	if err != nil {
		return err
	}
	shell.Alerts = nil // the page says it itself
	now, err := s.review.Now(c.Request().Context())
	if err != nil {
		return err
	}
	show := view{s.Zone, now}
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	hour, _, err := s.systems.Calls(c.Request().Context(), person(c))
	if err != nil {
		return err
	}
	proven, err := s.proofs.Latest(c.Request().Context())
	if err != nil {
		return err
	}
	m := templates.Systems{Shell: shell, MayConnect: automation.MayConnect(person(c)) && len(s.Connections.Adapters) > 0, MayWatch: review.MayWatch(person(c))}
	m.Notice = didSystem(c)
	if kept {
		m.Notice = &templates.Notice{Say: templates.Say(templates.People.Restored, nil)}
	}
	for _, sys := range systems {
		one := show.system(sys, person(c))
		one.Facts = append(one.Facts, templates.Fact{Name: templates.SystemWords.Hour, Value: callsText(hour[sys.ID])}, show.lastProven(sys.ID, proven))
		for i := range one.Buttons {
			if one.Buttons[i].Post == f.Path {
				one.Buttons[i].Note = text(f.Fields.Get("note"), 300)
			}
		}
		m.Systems = append(m.Systems, one)
	}
	return render(c, http.StatusOK, templates.SystemsPage(m))
}

// lastProven says when a system was last proven as it is connected now.
func (v view) lastProven(id string, proven map[string]proof.Run) templates.Fact {
	w := templates.SystemWords
	f := templates.Fact{Name: w.LastProven, Value: w.NeverProven}
	if r, ok := proven[id]; ok {
		at := v.clock(r.EndedAt)
		f.At = &at
	}
	return f
}

func (s *server) pause(c echo.Context) error {
	return backToSystems(c, s.systems.Pause(c.Request().Context(), person(c), c.Param("id"), c.FormValue("note")), "paused")
}

func (s *server) resume(c echo.Context) error {
	return backToSystems(c, s.systems.Resume(c.Request().Context(), person(c), c.Param("id"), c.FormValue("note")), "resumed")
}

func (s *server) endLookFirst(c echo.Context) error {
	err := s.systems.EndLookFirst(c.Request().Context(), person(c), c.Param("id"), c.FormValue("note"))
	if errors.Is(err, review.ErrReason) {
		return s.showSystem(c, http.StatusUnprocessableEntity, templates.SystemPage{Problem: templates.SystemWords.NoReason})
	}
	return backToSystems(c, err, "look_first_off")
}

// backToSystems goes back to the page that the button was on.
func backToSystems(c echo.Context, err error, did string) error {
	to := systemsPath
	if c.FormValue("at") == "system" {
		to = systemPath(c.Param("id")) + "?did=" + did
	}
	return backTo(c, err, to)
}

// systemTrouble says what keeps a system from working as usual; nothing if it works.
func (v view) systemTrouble(sys review.SystemState) []templates.Sentence {
	w := templates.Words.SystemSays
	var out []templates.Sentence
	say := func(is bool, code string, vals map[string]any) {
		if is {
			vals["name"] = sys.Name
			out = append(out, templates.Say(w[code+"/say"], vals))
		}
	}
	say(!sys.PausedAt.IsZero(), "paused", map[string]any{"at": v.clock(sys.PausedAt), "who": text(name(sys.PausedBy), 60), "n": strconv.Itoa(sys.InFlight)})
	say(sys.LoginProblem != "", loginCode(sys.LoginProblem), map[string]any{"text": text(sys.LoginProblem, 200)})
	say(sys.NotReached(), "breaker", map[string]any{"at": v.ahead(sys.BreakerUntil), "text": fullSentence(text(sys.BreakerReason, 200))})
	say(!sys.LookFirst.IsZero(), "look_first", map[string]any{"at": v.clock(sys.LookFirst), "text": text(sys.LookFirstWhy, 200)})
	return out
}

// loginCode tells a login that does not work from an account that is not connected.
func loginCode(problem string) string {
	if automation.AwaitsAccount(problem) {
		return "account"
	}
	return "login"
}

// systemBadges are all that keeps a system from working as usual, the weightiest first.
func systemBadges(sys review.SystemState) (list []templates.Badge) {
	for _, trouble := range []struct {
		is         bool
		code, tone string
	}{{!sys.PausedAt.IsZero(), "paused", "ask"}, {sys.LoginProblem != "", loginCode(sys.LoginProblem), "ask"}, {sys.NotReached(), "breaker", "ask"}, {!sys.LookFirst.IsZero(), "look_first", "busy"}} {
		if trouble.is {
			list = append(list, templates.Badge{Sign: "!", Tone: trouble.tone, Text: templates.Words.SystemSays[trouble.code]})
		}
	}
	return list
}

func (v view) system(sys review.SystemState, by work.Actor) templates.System {
	w := templates.Words
	m := templates.System{ID: sys.ID, Name: text(sys.Name, 100), Say: v.systemTrouble(sys), Badge: templates.Badge{Sign: "✓", Tone: "good", Text: w.SystemSays["ok"]}}
	if len(m.Say) == 0 {
		m.Say = []templates.Sentence{templates.Say(w.SystemSays["ok/say"], nil)}
	}
	if all := systemBadges(sys); len(all) > 0 {
		m.Badge = all[0]
	}
	if sys.PauseReason != "" {
		m.Say = slices.Insert(m.Say, 1, templates.Say(w.SystemSays["paused/why"], map[string]any{"text": text(sys.PauseReason, 300)}))
	}
	yes := map[bool]string{true: w.Fact["yes"], false: w.Fact["no"]}
	m.Facts = []templates.Fact{{Name: w.InFlight, Value: strconv.Itoa(sys.InFlight)}, {Name: w.Fact["limit"], Value: strconv.Itoa(sys.MaxInFlight)},
		{Name: w.Fact["books"], Value: text(orText(sys.Identity, "–"), 100)}, {Name: w.Address, Value: text(sys.Address, 200)},
		{Name: w.Fact["searchable"], Value: yes[sys.ReliedOn().Searchable]}, {Name: w.Fact["keys"], Value: yes[sys.ReliedOn().HonoursKeys]}}
	button := func(code string, note bool) {
		m.Buttons = append(m.Buttons, templates.Action{Post: "/systems/" + sys.ID + "/" + code, Label: w.Action[code],
			Help: templates.Say(w.ActionHelp[code], nil), NeedsNote: note, MaxNote: "300"})
	}
	if review.MayReport(by) {
		m.Reports = reportsOf(sys.ID)
	}
	if review.MayPause(by) {
		if sys.PausedAt.IsZero() {
			button("pause", true)
		} else {
			button("resume", false)
		}
	}
	if !sys.LookFirst.IsZero() && review.MayLookFirst(by) {
		button("look-first", true)
	}
	return m
}
