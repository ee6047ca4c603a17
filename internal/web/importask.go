package web

import (
	"errors"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/automation/proof"
	"onefold/internal/review"
	"onefold/web/templates"
)

// askImport puts the question on the page whether an import may begin on a system that was never proven. Whoever may not
// agree reads who can, and has no button.
func (s *server) askImport(c echo.Context, i automation.Import, v importView, m *templates.ImportPage) error {
	err := s.imports.MayBegin(c.Request().Context(), i)
	var unproven *automation.Unproven
	if !errors.As(err, &unproven) {
		return err
	}
	w, by := templates.Imports, person(c)
	m.Ask = &templates.ImportAsk{System: i.SystemID, May: review.MaySwitch(by),
		Say: templates.Say(templates.Automations.Unproven, map[string]any{"name": automationTitle(i.Automation), "systems": v.system})}
	if proof.MayProve(by) {
		m.Ask.Prove = templates.Link{Text: say(templates.Proofs.Title, "name", v.system), Href: proofsPath(i.SystemID)}
	}
	if v.typed.notAgreed {
		m.Ask.Problem = w.NotAgreed
	}
	if !m.Ask.May {
		m.Import = ""
		if v.typed.notAgreed {
			m.Ask.Problem = w.MayNotAgree
		}
	}
	return nil
}
