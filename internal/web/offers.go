package web

import (
	"slices"
	"strconv"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// needs says what an action's form asks for.
var needs = map[review.Action]struct{ note, reference bool }{
	review.Attest: {note: true}, review.Resolve: {note: true, reference: true}, review.Close: {note: true}, review.Hold: {note: true},
	review.Reopen: {note: true},
}

// offers turns what the gate offers into buttons, and what it refuses into reasons.
func (v view) offers(m *templates.Item, d review.Detail, by work.Actor, t typed) {
	m.Kept = text(t.input.Note, review.MaxNote)
	retryOpen := slices.ContainsFunc(d.Offers, func(o review.Offered) bool { return o.Action == review.Retry && o.Refusal == nil })
	for _, o := range d.Offers {
		switch {
		case o.Refusal != nil && (o.Refusal.Code == review.RefusedRole || o.Refusal.Code == work.RefusedOpen):
			if len(m.Refused) == 0 { // the same for every action: said once
				m.Refused = append(m.Refused, templates.RefusedAction{Why: v.refusal(o.Action, o.Refusal, d)})
			}
		case o.Action == review.Assign:
			m.Assign = v.assign(d.Item, by)
		case o.Action == review.Attest && retryOpen: // sending needs no attestation
		case o.Refusal == nil:
			a := v.action(o.Action, d, t)
			if a.Open {
				m.Kept = "" // it is in its form again
			}
			if o.Main {
				m.Main = &a
			} else {
				m.Others = append(m.Others, a)
			}
		case worthSaying(o, d.Item):
			m.Refused = append(m.Refused, templates.RefusedAction{Label: label(o.Action, d), Why: v.refusal(o.Action, o.Refusal, d)})
		}
	}
}

// worthSaying reports whether staff would look for the action and wonder. That a confirmed item cannot be closed goes
// without saying; that it cannot be sent again does not.
func worthSaying(o review.Offered, it work.Item) bool {
	if o.Action == review.Retry || o.Refusal.Code != work.RefusedStatus {
		return o.Action != review.Attest || o.Refusal.Code == work.RefusedSettling
	}
	_, said := templates.Words.Refusal["status/"+string(o.Action)]
	return said && o.Action != review.Attest && it.Status.Open()
}

func (v view) action(a review.Action, d review.Detail, t typed) templates.Action {
	w, it := templates.Words, d.Item
	vals := v.values(it, d.System.Name)
	help := templates.Say(w.ActionHelp[string(a)], vals)
	if a == review.Attest {
		help = templates.Say(w.ActionHelp["attest"], map[string]any{"ref": text(it.Reference, 100), "system": d.System.Name})
		if !d.Settled.IsZero() {
			help = append(append(help, templates.Part{Text: " "}), templates.Say(w.StatusSays["settled_at"], map[string]any{"at": v.clock(d.Settled)})...)
		}
	}
	act := templates.Action{Name: string(a), Post: "/items/" + strconv.FormatInt(it.ID, 10) + "/" + string(a), Label: label(a, d), Help: help,
		NeedsNote: needs[a].note, NeedsRef: needs[a].reference, MinNote: "1", MaxNote: strconv.Itoa(review.MaxNote)}
	if a == review.Attest {
		act.MinNote = strconv.Itoa(work.MinAttestation)
		act.NoteHint = templates.Say(w.ActionHelp["note/min"], map[string]any{"n": act.MinNote}).String()
	}
	if a == review.Resolve {
		act.Reference = text(record(it), review.MaxReference)
		if it.NextStep() != "" {
			act.AskSteps = w.StepsDone
		}
	}
	if t.action == a {
		act.Open, act.Note, act.Problem = true, t.input.Note, t.problem
		act.Reference = orText(t.input.Reference, act.Reference)
	}
	return act
}

func (v view) assign(it work.Item, by work.Actor) *templates.Action {
	a := templates.Action{Post: "/items/" + strconv.FormatInt(it.ID, 10) + "/assign", Label: templates.Words.AssignMe, To: by.Name}
	if it.AssignedTo == by.Name {
		a.Label, a.To = templates.Words.Release, ""
	}
	return &a
}

// label names an action for its effect.
func label(a review.Action, d review.Detail) string {
	codes := []string{string(a)}
	switch {
	case d.Item.PreviousID != 0:
		codes = append([]string{string(a) + "/step"}, codes...)
	case d.Item.Sends == 0:
		codes = append([]string{string(a) + "/first"}, codes...)
	}
	return templates.Say(templates.Pick(templates.Words.Action, codes...), map[string]any{"system": d.System.Name, "step": stepName(d.Item.Step)}).String()
}

// refusal says why an action is not possible.
func (v view) refusal(a review.Action, r *work.Refusal, d review.Detail) templates.Sentence {
	vals := v.values(d.Item, d.System.Name)
	vals["until"] = v.clock(r.Until)
	code := string(r.Code)
	return templates.Say(templates.Pick(templates.Words.Refusal, code+"/"+string(a), code, "status"), vals)
}
