package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// excerptBudget is how much of what was exchanged a page carries; the rest is one click away on its own part of the
// history.
const excerptBudget = 24 << 10

// historyPlace is the part of a history that an address asks for.
func historyPlace(c echo.Context) (p review.Place) {
	if n, err := strconv.ParseInt(c.QueryParam("before"), 10, 32); err == nil && n > 0 {
		p.Attempt = int(n)
	}
	if id, err := strconv.ParseInt(c.QueryParam("acts"), 10, 64); err == nil && id > 0 {
		p.Act = id
	}
	return p
}

func historyAddress(p review.Place) string {
	return "?before=" + strconv.Itoa(p.Attempt) + "&acts=" + strconv.FormatInt(p.Act, 10)
}

// history tells calls and people's acts, the newest first.
func (v view) history(d review.Detail) []templates.Event {
	var out []templates.Event
	budget := excerptBudget
	for _, l := range d.History {
		if l.Act != nil {
			e := v.act(*l.Act)
			if c := d.Correction(*l.Act); c != nil {
				e.Changes = corrected(c.Before, c.Invoice)
			}
			out = append(out, e)
			continue
		}
		a := *l.Attempt
		e := v.attempt(a, d)
		if budget -= len(e.Request) + len(e.Response); budget < 0 && len(out) > 0 && len(e.Request)+len(e.Response) > 0 {
			e.Request, e.Response, e.More = "", "", "/items/"+strconv.FormatInt(a.ItemID, 10)+historyAddress(l.Place)+"#try-"+e.Number
		}
		out = append(out, e)
	}
	return out
}

func (v view) act(a work.Act) templates.Event {
	vals := map[string]any{"who": text(a.By.Name, 60), "at": v.clock(a.At), "ref": text(a.Detail, 200), "why": templates.ItemWords.CloseReason[a.Detail]}
	codes := []string{a.What}
	switch {
	case a.What == string(review.Assign) && a.Detail == a.By.Name:
		codes = []string{"assign/self"}
	case a.What == string(review.Assign) && a.Detail == "":
		codes = []string{"assign/nobody"}
	case a.What == string(review.Close) && a.Detail == work.TurnedDown:
		codes = []string{"close/turned_down"}
	case a.What == string(review.Close) && vals["why"] != "":
		codes = []string{"close/why"}
	}
	return templates.Event{Say: templates.Say(templates.Pick(templates.Words.Decision, codes...), vals), Note: text(a.Note, review.MaxNote)}
}

// attempt tells one call in finance's words; what went over the wire is one click away.
func (v view) attempt(a work.Attempt, d review.Detail) templates.Event {
	say := v.call(a, d)
	if a.AskedBy != "" {
		say = append(say, templates.Say(templates.Words.Send["asked"], map[string]any{"who": text(name(a.AskedBy), 60)})...)
	}
	meta := templates.Say(templates.Words.Try, map[string]any{"n": strconv.Itoa(a.Number), "reference": text(a.Reference, 200)}).String()
	if a.HTTPStatus != 0 {
		meta += " · " + strconv.Itoa(a.HTTPStatus)
	}
	return templates.Event{Number: strconv.Itoa(a.Number), Say: say, Detail: sentence(text(a.Error, 300)), Meta: meta,
		Request: text(a.Request, 4000), Response: text(a.Response, 4000)}
}

// call says what one call brought.
func (v view) call(a work.Attempt, d review.Detail) templates.Sentence {
	w, more := templates.Words, templates.ItemWords
	pattern := w.Find[string(a.Finding)]
	if a.Kind == work.Send {
		pattern = w.Send[string(a.Outcome)]
	}
	if a.FromReport() {
		pattern = templates.Reports.Find[string(a.Finding)]
	}
	ref := text(orText(a.ExternalNo, a.ExternalID), 80)
	vals := map[string]any{"at": v.clock(a.StartedAt), "system": d.System.Name, "ref": ref, "n": strconv.Itoa(a.LateFor), "status": strconv.Itoa(a.HTTPStatus)}
	var say templates.Sentence
	if a.LateFor != 0 {
		say = templates.Say(w.Send["late"], vals)
	}
	say = append(say, templates.Say(pattern, vals)...)
	switch {
	case a.Kind == work.Send && a.Outcome == work.AlreadyExists && ref != "":
		say = append(say, templates.Say(more.Named, vals)...)
	case a.Kind == work.Send && a.Outcome == work.Unknown && a.HTTPStatus >= http.StatusBadRequest:
		say = append(say, templates.Say(more.AnsweredWith, vals)...)
	case a.Finding == work.FoundMatching && a.Revision == d.Item.Revision:
		if by := matchedBy(a, d); by != "" {
			say = append(say, templates.Say(more.MatchedBy, map[string]any{"fields": by})...)
		}
	}
	return say
}

// matchedBy lists what of the record that was found is the same as what was asked for.
func matchedBy(a work.Attempt, d review.Detail) string {
	record, ok := work.ReadRecord(a.Record)
	if !ok {
		return ""
	}
	var fields []string
	for _, f := range facts(d.Item, record, true) {
		if f.verdict == same || f.verdict == rounding {
			fields = append(fields, templates.ItemWords.Field["fields/"+f.name])
		}
	}
	if len(fields) < 2 {
		return strings.Join(fields, "")
	}
	return strings.Join(fields[:len(fields)-1], ", ") + templates.Words.And + fields[len(fields)-1]
}

// unknownSince is when the outcome became unknown; zero: it is not.
func unknownSince(it work.Item) time.Time {
	if len(it.Unsettled) == 0 || it.Status.Settled() {
		return time.Time{}
	}
	return it.SettleFrom
}
