package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/bojanz/currency"
	"github.com/labstack/echo/v4"

	"onefold/internal/automation/recurring"
	"onefold/web/templates"
)

// catchUpPage says which periods were missed, and asks which of them to make.
func (s *server) catchUpPage(c echo.Context) error {
	return s.showCatchUp(c, http.StatusOK, "", nil)
}

func (s *server) showCatchUp(c echo.Context, status int, problem string, notice *templates.Notice) error {
	w := templates.Plans
	d, err := s.planDetail(c)
	if err != nil {
		return err
	}
	shell, _, err := s.shell(c, w.CatchUpTitle)
	if err != nil {
		return err
	}
	shell.Notice = notice
	m := templates.CatchUp{Shell: shell, Code: text(d.Code, 80), Customer: text(orText(d.CustomerName, d.CustomerID), 200), Path: planPath(d.ID), Version: strconv.FormatInt(d.Version, 10),
		Problem: problem, Choice: c.FormValue("up_to"), Note: c.FormValue("note"), MayAgree: recurring.MayChange(person(c))}
	asks := d.State == recurring.Waiting && d.Why == recurring.CatchUp
	m.MayMake, m.MayLeave = asks, asks || d.State == recurring.Paused
	total, err := currency.NewAmount("0", d.Currency)
	for i, of := range d.Due {
		r := templates.PlanPeriodDue{From: date(of.From), To: date(of.Until.AddDate(0, 0, -1)), Key: text(of.Key, 100), Amount: amountNumber(of.Total), Cur: d.Currency,
			Ago: w.Away(daysBetween(d.Today, of.From))}
		m.Missed = append(m.Missed, r)
		if err == nil {
			total, err = total.Add(of.Total)
		}
		m.Choices = append(m.Choices, templates.Choice{Value: of.From.Format(dayFormat), Text: say(map[bool]string{true: w.UpToOne, false: w.UpTo}[i == 0], "day", longDay(of.From), "n", strconv.Itoa(i+1), "sum", amount(total))})
	}
	if n := len(m.Choices); n > 0 && m.Choice == "" {
		m.Choice = m.Choices[n-1].Value
	}
	if m.Say = say(w.CatchUpSay, "n", strconv.Itoa(len(d.Due)), "sum", amount(total)); d.State == recurring.Paused {
		m.Say = say(w.CatchUpPaused, "n", strconv.Itoa(len(d.Due)), "sum", amount(total))
	}
	return render(c, status, templates.CatchUpPage(m))
}

// catchUp lets the missed periods up to a day be made, or leaves them out.
func (s *server) catchUp(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	upTo, err := time.Parse(dayFormat, c.FormValue("up_to"))
	if err != nil {
		return s.showCatchUp(c, http.StatusUnprocessableEntity, sentence(templates.Plans.Problem["up_to"]), nil)
	}
	did := "caught_up"
	if c.FormValue("do") == "leave" {
		did = "left_out"
		_, err = s.plans.LeaveOut(ctx, by, id, formVersion(c), upTo, c.FormValue("note"))
	} else {
		_, err = s.plans.AgreeCatchUp(ctx, by, id, formVersion(c), upTo)
	}
	var stale *recurring.Stale
	bad, isField := recurring.IsField(err)
	switch {
	case errors.As(err, &stale):
		return s.showCatchUp(c, http.StatusConflict, "", &templates.Notice{Say: templates.Say(templates.Plans.StaleAct, map[string]any{"who": staleBy(stale)})})
	case errors.Is(err, recurring.ErrNotWaiting):
		return s.showCatchUp(c, http.StatusConflict, templates.Plans.Problem["not_waiting"], nil)
	case isField:
		return s.showCatchUp(c, http.StatusUnprocessableEntity, sentence(text(bad.Text, 300)), nil)
	}
	return backTo(c, planError(err), planPath(id)+"?did="+did)
}
