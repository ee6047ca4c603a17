package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/work"
	"onefold/web/templates"
)

// referenceField is the reference that a try-out searches for.
const referenceField = "tryout.reference"

// tryOutSystem shows what the definition that was typed reads from the real system. It reads only.
func (s *server) tryOutSystem(c echo.Context, id string, setup automation.Setup, d automation.Draft) error {
	w := templates.TryOutWords
	reference := strings.TrimSpace(c.FormValue(referenceField))
	if reference == "" || len(reference) > 200 {
		return s.showSystemForm(c, http.StatusUnprocessableEntity, id, setup, d, true, templates.SystemForm{Problem: templates.SystemWords.Problems}, automation.BadFields{referenceField: w.NeedsReference})
	}
	out, err := s.Connections.TryOut(c.Request().Context(), person(c), id, d, reference)
	var bad automation.BadFields
	switch {
	case errors.As(err, &bad):
		return s.showSystemForm(c, http.StatusUnprocessableEntity, id, setup, d, true, templates.SystemForm{Problem: templates.SystemWords.Problems}, bad)
	case errors.Is(err, automation.ErrConnectionChanged):
		d.Mark = automation.ConnectionMark(setup.System)
		return s.showSystemForm(c, http.StatusConflict, id, setup, d, true, templates.SystemForm{Problem: templates.SystemWords.Stale})
	case errors.Is(err, automation.ErrNoTryOut):
		return s.showSystemForm(c, http.StatusUnprocessableEntity, id, setup, d, true, templates.SystemForm{Problem: sentence(err.Error()) + "."})
	case err != nil:
		return err
	}
	return s.showSystemForm(c, http.StatusOK, id, setup, d, true, templates.SystemForm{TriedOut: triedOut(out)})
}

// tryOutField is the field for the reference, where the kind of system can be tried out.
func tryOutField(c echo.Context, k automation.Kind, problems automation.BadFields) *templates.FormField {
	if !k.TryOut {
		return nil
	}
	w := templates.TryOutWords
	return &templates.FormField{Name: referenceField, Label: w.Reference, Help: w.ReferenceHint, Value: text(c.FormValue(referenceField), 200), Problem: problems[referenceField]}
}

// triedOut is the result of a try-out in words.
func triedOut(out automation.TriedOut) *templates.TriedOut {
	w := templates.TryOutWords
	m := &templates.TriedOut{Good: out.Searched}
	books := map[string]any{"books": text(out.Books, 100)}
	switch {
	case out.Problem != "":
		m.Good = false
		m.Say = templates.Say(w.Problem, map[string]any{"text": text(strings.TrimSuffix(out.Problem, "."), 300)})
	case !out.Searched:
		m.Say = templates.Say(w.NotSearched, books)
	default:
		found := w.None
		if n := len(out.Records); n == 1 {
			found = w.Found["one"]
		} else if n > 1 {
			found = w.Found["more"]
		}
		books["n"] = strconv.Itoa(len(out.Records))
		m.Say = templates.Say(w.Works+" "+found, books)
	}
	for _, r := range out.Records[:min(len(out.Records), 20)] {
		m.Records = append(m.Records, templates.TriedRecord{Number: text(orText(r.Number, r.ID), 60), Reference: text(r.Reference, 60), Customer: text(r.Customer, 60),
			Total: totalOf(r), State: w.StateName[string(r.State)]})
	}
	for _, call := range out.Calls {
		one := templates.TriedCall{Title: orText(w.Purpose[call.Purpose], call.Purpose), Request: text(call.Request, 4000), Response: text(call.Response, 4000)}
		for _, v := range call.Read {
			one.Read = append(one.Read, templates.TriedValue{Line: strconv.Itoa(v.Line), Part: v.Part, Value: text(v.Value, 300), Problem: text(v.Problem, 300)})
			one.Bad = one.Bad || v.Problem != ""
		}
		m.Calls = append(m.Calls, one)
	}
	return m
}

// totalOf is the total of a record as the system tells it.
func totalOf(r work.Record) string {
	if r.Total.CurrencyCode() == "" {
		return "–"
	}
	return r.Total.Number() + " " + r.Total.CurrencyCode()
}
