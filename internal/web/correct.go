package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// dropped is what the address says after a waiting correction was dropped.
const dropped = "dropped"

// correction is what was typed to correct an invoice and was not honoured.
type correction struct {
	fields url.Values        // nil: nothing was typed yet
	faults map[string]string // what is wrong, by the name of the field
	kept   *auth.Form        // it was sent after the session had ended
	notice func(view, review.Detail) templates.Sentence
}

func (s *server) correctPage(c echo.Context) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	return s.showCorrect(c, http.StatusOK, id, correction{})
}

// correct puts a correction in place, or keeps it as a proposal while the outcome is unknown.
func (s *server) correct(c echo.Context) error {
	seen, err := seenOn(c)
	if err != nil {
		return err
	}
	d, err := s.review.Detail(c.Request().Context(), person(c), seen.ID, review.Place{})
	if err != nil {
		return err
	}
	form, err := c.FormParams()
	if err != nil {
		return err
	}
	in, did := review.Input{Note: form.Get("note")}, string(review.Correct)
	if form.Get("drop") == "yes" {
		in.Invoice, did = &d.Item.Invoice, dropped
	} else {
		invoice, faults := readInvoice(form, content(d))
		if len(faults) > 0 {
			return s.showCorrect(c, http.StatusUnprocessableEntity, seen.ID, correction{fields: form, faults: faults})
		}
		in.Invoice = &invoice
	}
	_, err = s.review.Act(c.Request().Context(), person(c), review.Correct, seen, in)
	var conflict *review.Conflict
	var refusal *work.Refusal
	switch {
	case err == nil:
		return c.Redirect(http.StatusSeeOther, "/items/"+strconv.FormatInt(seen.ID, 10)+"?did="+did)
	case errors.As(err, &conflict):
		return s.showCorrect(c, http.StatusConflict, seen.ID, correction{fields: form, notice: func(v view, _ review.Detail) templates.Sentence { return v.conflict(conflict) }})
	case errors.As(err, &refusal):
		return s.showCorrect(c, refusalStatus(refusal), seen.ID, correction{fields: form, notice: func(v view, d review.Detail) templates.Sentence {
			return templates.Say(templates.Words.Did["refused"], map[string]any{"why": v.refusal(review.Correct, refusal, d)})
		}})
	}
	return err
}

// content is what a correction starts from: the one that waits, else what is on record.
func content(d review.Detail) work.Invoice {
	if d.Proposal != nil {
		return d.Proposal.Invoice
	}
	return d.Item.Invoice
}

// showCorrect shows the form, or the item's page if there is nothing to correct and nothing was typed.
func (s *server) showCorrect(c echo.Context, status int, id int64, t correction) error {
	d, err := s.review.Detail(c.Request().Context(), person(c), id, review.Place{})
	if err != nil {
		return err
	}
	offered := offerOf(d, review.Correct)
	if t.fields == nil && offered.Refusal != nil {
		return c.Redirect(http.StatusSeeOther, "/items/"+strconv.FormatInt(id, 10))
	}
	v, w := view{s.Zone, d.Now}, templates.ItemWords
	heading := templates.Say(w.CorrectTitle, map[string]any{"key": text(d.Item.BusinessKey, 200)}).String()
	shell, _, err := s.shell(c, text(heading, 80))
	if err != nil {
		return err
	}
	switch {
	case t.kept != nil:
		shell.Notice = v.notSent(typed{kept: t.kept, input: review.Input{Note: heading}}, d) // something was typed in any case
	case t.notice != nil:
		shell.Notice = &templates.Notice{Say: t.notice(v, d)}
	}
	back := "/items/" + strconv.FormatInt(id, 10)
	m := templates.Correct{Shell: shell, Back: back, Post: back + "/" + string(review.Correct), Heading: heading, Customer: customer(d.Item), Amount: amount(d.Item.Invoice.Total),
		Badge: v.badge(d.Item, ""), Say: v.correctSays(d, offered), Do: v.correctDo(d, offered.Waits), Version: strconv.FormatInt(d.Item.Version, 10),
		SeenAt: d.Now.UTC().Format(time.RFC3339Nano), MaxNote: strconv.Itoa(review.MaxNote), Their: v.theirWords(d), Before: before(d.Item.Invoice)}
	if d.Proposal != nil {
		m.Drop = w.CorrectDrop
	}
	if len(t.faults) > 0 {
		m.Problem = w.CorrectCheck
	}
	fillCorrect(&m, t, content(d))
	return render(c, status, templates.CorrectPage(m))
}

func offerOf(d review.Detail, a review.Action) review.Offered {
	for _, o := range d.Offers {
		if o.Action == a {
			return o
		}
	}
	return review.Offered{Action: a, Refusal: &work.Refusal{Code: work.RefusedStatus}}
}

// correctSays says what becomes of a correction.
func (v view) correctSays(d review.Detail, o review.Offered) []templates.Sentence {
	w, vals := templates.ItemWords, map[string]any{"system": d.System.Name}
	switch {
	case o.Refusal != nil:
		return []templates.Sentence{v.refusal(review.Correct, o.Refusal, d)}
	case o.Waits && d.Item.Proposed > 0:
		return []templates.Sentence{templates.Say(w.CorrectHeld, nil), templates.Say(w.CorrectWaits, vals)}
	case o.Waits:
		return []templates.Sentence{templates.Say(w.CorrectWaits, vals)}
	case d.Item.Reason == work.ReasonApprovalRequired && d.Item.Status == work.Review:
		return []templates.Sentence{templates.Say(w.CorrectApproval, vals)}
	}
	return []templates.Sentence{templates.Say(w.CorrectSay, vals)}
}

// correctDo names the button for its effect.
func (v view) correctDo(d review.Detail, waits bool) string {
	w := templates.ItemWords
	switch {
	case waits:
		return w.CorrectPropose
	case d.Item.Proposed > 0:
		return w.CorrectPut
	}
	return v.correctLabel(d, false)
}

// theirWords are the newest things that the accounting system said about sends, each once.
func (v view) theirWords(d review.Detail) templates.Their {
	t := templates.Their{Title: templates.Say(templates.ItemWords.CorrectTheirWords, map[string]any{"system": d.System.Name}).String()}
	said := map[string]bool{}
	for _, a := range d.Attempts {
		if words := sentence(text(a.Error, 1000)); a.Kind == work.Send && a.HTTPStatus != 0 && words != "" && !said[words] && len(t.Texts) < 3 {
			said[words] = true
			t.Texts = append(t.Texts, words)
		}
	}
	return t
}

// before is the invoice as it is, beside the form.
func before(i work.Invoice) []templates.Fact {
	w := templates.ItemWords.Field
	var out []templates.Fact
	for _, f := range []struct{ code, value string }{{"customer_id", i.CustomerID}, {"customer_name", i.CustomerName}, {"amount", amount(i.Total)},
		{"issue_date", i.IssueDate}, {"due_date", i.DueDate}, {"invoice_note", i.Note}} {
		if f.value != "" {
			out = append(out, templates.Fact{Name: w[f.code], Value: text(f.value, 300)})
		}
	}
	return out
}
