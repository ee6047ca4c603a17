package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// act carries out one action. The answer to a form and to each of its repeats is the same redirect; what was not done is
// said on the page of the item, with what was typed still there.
func (s *server) act(a review.Action) echo.HandlerFunc {
	if a == review.Correct {
		return s.correct
	}
	return func(c echo.Context) error {
		seen, err := seenOn(c)
		if err != nil {
			return err
		}
		in := input(c.FormValue)
		if a == review.Assign {
			if err := s.checkColleague(c, in.To); err != nil {
				return s.actedOn(c, a, seen.ID, in, err)
			}
		}
		_, err = s.review.Act(c.Request().Context(), person(c), a, seen, in)
		return s.actedOn(c, a, seen.ID, in, err)
	}
}

// seenOn reads what a form says about how the item was when the person decided.
func seenOn(c echo.Context) (review.Seen, error) {
	id, err := itemID(c)
	if err != nil {
		return review.Seen{}, err
	}
	version, err1 := strconv.ParseInt(c.FormValue("version"), 10, 64)
	at, err2 := time.Parse(time.RFC3339Nano, c.FormValue("seen"))
	if err1 != nil || err2 != nil {
		return review.Seen{}, echo.NewHTTPError(http.StatusBadRequest)
	}
	return review.Seen{ID: id, Version: version, At: at}, nil
}

// input is what was typed into a form of the item's page.
func input(field func(string) string) review.Input {
	return review.Input{Note: field("note"), Reference: field("reference"), To: field("to"), Why: field("why"),
		StepsDone: field("steps_done") == "yes", Differs: field("differs") == "yes"}
}

// actedOn answers a form: done, or why not.
func (s *server) actedOn(c echo.Context, a review.Action, id int64, in review.Input, err error) error {
	var conflict *review.Conflict
	var refusal *work.Refusal
	t := typed{action: a, input: in}
	switch {
	case err == nil:
		return c.Redirect(http.StatusSeeOther, "/items/"+strconv.FormatInt(id, 10)+"?did="+string(a))
	case errors.As(err, &conflict):
		return s.notDone(c, http.StatusConflict, id, t, func(v view, _ review.Detail) templates.Sentence { return v.conflict(conflict) })
	case errors.As(err, &refusal):
		return s.notDone(c, refusalStatus(refusal), id, t, func(v view, d review.Detail) templates.Sentence {
			return templates.Say(templates.Words.Did["refused"], map[string]any{"why": v.refusal(a, refusal, d)})
		})
	}
	return err
}

// holdAll stops everything that waits from the item's source. It names the item of whose page the button is.
const holdAll = "hold-all"

func (s *server) holdSource(c echo.Context) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	it, err := s.review.Item(c.Request().Context(), person(c), id)
	if err != nil {
		return err
	}
	in := input(c.FormValue)
	_, err = s.review.HoldSource(c.Request().Context(), person(c), it.Source, in.Note)
	return s.actedOn(c, holdAll, id, in, err)
}

// heldAll says how much of the item's source is stopped, as it stands: the same for a form and for its repeats.
func (s *server) heldAll(c echo.Context, d review.Detail) (*templates.Notice, error) {
	if d.Item.Source == "" {
		return nil, nil
	}
	n, err := s.review.Count(c.Request().Context(), person(c), review.Query{Tab: review.TabReview, Filter: review.Filter{Source: d.Item.Source, Reason: work.ReasonHeld}}, mostCounted)
	if err != nil {
		return nil, err
	}
	vals := map[string]any{"source": text(source(d.Item.Source), 60), "n": thousands(n)}
	return &templates.Notice{Good: true, Say: templates.Say(templates.ItemWords.HoldAllDid, vals)}, nil
}

// mostCounted is how far what is stopped is counted for a page.
const mostCounted = 1_000_000

// refusedColleague says that an item can be assigned only to somebody who may act.
const refusedColleague work.RefusalCode = "colleague"

// checkColleague refuses a name that is none of a person who may act; empty is nobody.
func (s *server) checkColleague(c echo.Context, to string) error {
	people, err := s.Auth.Colleagues(c.Request().Context(), person(c))
	if err != nil {
		return err
	}
	if to == "" || slices.ContainsFunc(people, func(p work.Actor) bool { return p.Name == to }) {
		return nil
	}
	return &work.Refusal{Code: refusedColleague}
}

// colleagues are those to whom an item may be assigned, and nobody.
func (s *server) colleagues(c echo.Context) ([]templates.Choice, error) {
	people, err := s.Auth.Colleagues(c.Request().Context(), person(c))
	if err != nil {
		return nil, err
	}
	list := []templates.Choice{{Text: templates.ItemWords.NobodyYet}}
	for _, p := range people {
		list = append(list, templates.Choice{Value: p.Name, Text: text(p.Name, 60)})
	}
	return list, nil
}

// refusalStatus tells what must be typed differently from what the state does not allow.
func refusalStatus(r *work.Refusal) int {
	switch r.Code {
	case work.RefusedNote, work.RefusedReference, work.RefusedInvalidItem, work.RefusedUnchanged, review.RefusedTooLong, review.RefusedTaken, review.RefusedWhy,
		review.RefusedDiffers, refusedColleague:
		return http.StatusUnprocessableEntity
	}
	return http.StatusConflict
}

func (s *server) notDone(c echo.Context, status int, id int64, t typed, say func(view, review.Detail) templates.Sentence) error {
	d, err := s.review.Detail(c.Request().Context(), person(c), id, review.Place{})
	if err != nil {
		return err
	}
	t.notice = &templates.Notice{Say: say(view{s.Zone, d.Now}, d)}
	return s.showItem(c, status, id, t)
}

// conflict says who was faster, or what happened meanwhile.
func (v view) conflict(cf *review.Conflict) templates.Sentence {
	return v.happened(cf, templates.Words.Did["conflict"], templates.Words.Did["moved"])
}

// happened says what came between: by is for what somebody did, moved for the rest.
func (v view) happened(cf *review.Conflict, by, moved string) templates.Sentence {
	w := templates.Words
	vals := map[string]any{"at": v.clock(cf.At()), "what": w.Decision["short/"]}
	switch {
	case cf.Act != nil:
		vals["who"], vals["what"] = text(cf.Act.By.Name, 60), templates.Pick(w.Decision, "short/"+cf.Act.What, "short/")
		return templates.Say(by, vals)
	case cf.Attempt != nil:
		vals["what"] = w.Decision["short/"+string(cf.Attempt.Kind)]
	}
	return templates.Say(moved, vals)
}
