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
	return s.showSystemForm(c, http.StatusOK, id, setup, d, true, templates.SystemForm{Tried: saidOfTryOut(out), TriedOut: triedOut(out)})
}

// tryOutField is the field for the reference, where the kind of system can be tried out.
func tryOutField(c echo.Context, k automation.Kind, problems automation.BadFields) *templates.FormField {
	if !k.TryOut {
		return nil
	}
	w := templates.TryOutWords
	return &templates.FormField{Name: referenceField, Label: w.Reference, Help: w.ReferenceHint, Value: text(c.FormValue(referenceField), 200), Problem: problems[referenceField]}
}

// saidOfTryOut is the result in a sentence.
func saidOfTryOut(out automation.TriedOut) *templates.Tried {
	w := templates.TryOutWords
	vals := map[string]any{"books": text(out.Books, 100), "n": strconv.Itoa(len(out.Records)), "text": text(strings.TrimSuffix(out.Problem, "."), 300)}
	var says string
	switch n := len(out.Records); {
	case out.Problem != "":
		says = w.Problem
	case !out.Searched:
		says = w.NotSearched
	case n == 0:
		says = w.Works + " " + w.None
	case n == 1:
		says = w.Works + " " + w.Found["one"]
	default:
		says = w.Works + " " + w.Found["more"]
	}
	return &templates.Tried{Good: out.Problem == "" && out.Searched, Say: templates.Say(says, vals), More: []string{w.Below, templates.SystemWords.Nothing}}
}

// triedOut is what was asked, answered and read.
func triedOut(out automation.TriedOut) *templates.TriedOut {
	w, m := templates.TryOutWords, &templates.TriedOut{}
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
