package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// letBegin lets an automation begin on a system that was never proven: the way for those that programs and files name.
func (s *server) letBegin(c echo.Context) error {
	named, system := strings.TrimSpace(text(c.FormValue("name"), 100)), c.FormValue("system")
	w := templates.Automations
	if named == "" {
		return s.showAutomations(c, http.StatusUnprocessableEntity, nil, &templates.Notice{Say: templates.Say(w.LetNoName, nil)})
	}
	agreed, err := s.automations.Agree(c.Request().Context(), person(c), named, []string{system})
	switch {
	case err != nil:
		return err
	case !agreed:
		return s.showAutomations(c, http.StatusOK, nil, &templates.Notice{Say: templates.Say(w.LetNone, map[string]any{"name": automationTitle(named)})})
	}
	return c.Redirect(http.StatusSeeOther, automationsPath+"?"+url.Values{"did": {"begin"}, "name": {named}}.Encode())
}

// letForm is the form for letBegin; nil: every system is proven, or the person may not agree.
func (s *server) letForm(ctx context.Context, by work.Actor, systems []review.SystemState) (*templates.LetBegin, error) {
	if !review.MaySwitch(by) {
		return nil, nil
	}
	proven, err := s.proofs.Latest(ctx)
	if err != nil {
		return nil, err
	}
	var m templates.LetBegin
	for _, sys := range systems {
		if _, ok := proven[sys.ID]; !ok {
			m.Systems = append(m.Systems, templates.Choice{Value: sys.ID, Text: text(sys.Name, 100)})
		}
	}
	if len(m.Systems) == 0 {
		return nil, nil
	}
	return &m, nil
}
