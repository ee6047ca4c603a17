package web

import (
	"errors"
	"net/http"
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
	return func(c echo.Context) error {
		id, err := itemID(c)
		if err != nil {
			return err
		}
		version, err1 := strconv.ParseInt(c.FormValue("version"), 10, 64)
		at, err2 := time.Parse(time.RFC3339Nano, c.FormValue("seen"))
		if err1 != nil || err2 != nil {
			return echo.NewHTTPError(http.StatusBadRequest)
		}
		in := review.Input{Note: c.FormValue("note"), Reference: c.FormValue("reference"), To: c.FormValue("to"), StepsDone: c.FormValue("steps_done") == "yes"}
		_, err = s.review.Act(c.Request().Context(), person(c), a, review.Seen{ID: id, Version: version, At: at}, in)
		var conflict *review.Conflict
		var refusal *work.Refusal
		switch {
		case err == nil:
			return c.Redirect(http.StatusSeeOther, "/items/"+strconv.FormatInt(id, 10)+"?did="+string(a))
		case errors.As(err, &conflict):
			return s.notDone(c, http.StatusConflict, id, typed{action: a, input: in}, func(v view, _ review.Detail) templates.Sentence { return v.conflict(conflict) })
		case errors.As(err, &refusal):
			t := typed{action: a, input: in}
			return s.notDone(c, refusalStatus(refusal), id, t, func(v view, d review.Detail) templates.Sentence {
				return templates.Say(templates.Words.Did["refused"], map[string]any{"why": v.refusal(a, refusal, d)})
			})
		}
		return err
	}
}

// refusalStatus tells what must be typed differently from what the state does not allow.
func refusalStatus(r *work.Refusal) int {
	switch r.Code {
	case work.RefusedNote, work.RefusedReference, review.RefusedTooLong, review.RefusedTaken:
		return http.StatusUnprocessableEntity
	}
	return http.StatusConflict
}

func (s *server) notDone(c echo.Context, status int, id int64, t typed, say func(view, review.Detail) templates.Sentence) error {
	d, err := s.review.Detail(c.Request().Context(), person(c), id, 0)
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
