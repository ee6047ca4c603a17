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
	review.Reopen: {note: true}, review.TurnDown: {note: true}, review.Note: {note: true}, holdAll: {note: true},
}

// offers turns what the gate offers into buttons, and what it refuses into reasons.
func (v view) offers(m *templates.Item, d review.Detail, by work.Actor, t typed) {
	m.Kept = text(t.input.Note, review.MaxNote)
	open := func(a review.Action) bool {
		return slices.ContainsFunc(d.Offers, func(o review.Offered) bool { return o.Action == a && o.Refusal == nil })
	}
	retryOpen, downOpen := open(review.Retry), open(review.TurnDown)
	shown := func(a templates.Action) templates.Action {
		if a.Open {
			m.Kept = "" // it is in its form again
		}
		return a
	}
	for _, o := range d.Offers {
		switch {
		case o.Refusal != nil && (o.Refusal.Code == review.RefusedRole || o.Refusal.Code == work.RefusedOpen):
			if len(m.Refused) == 0 { // the same for every action: said once
				m.Refused = append(m.Refused, templates.RefusedAction{Why: v.refusal(o.Action, o.Refusal, d)})
			}
		case o.Action == review.Assign:
			m.Assign = v.assign(d.Item, by)
		case o.Action == review.Note && o.Refusal == nil:
			a := shown(v.action(o.Action, d, t))
			m.Note = &a
		case o.Action == review.Attest && retryOpen, o.Action == review.Close && downOpen: // said better by another
		case o.Refusal == nil:
			a := shown(v.action(o.Action, d, t))
			if o.Action == review.Correct {
				a.Href, a.Label, a.Help = a.Post, v.correctLabel(d, o.Waits), templates.Say(templates.Words.ActionHelp["correct"], nil)
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
	if link := reportLink(d, by); link != nil {
		m.Others = append(m.Others, *link)
	}
	if d.Item.Source != "" && (open(review.Hold) || d.Item.Reason == work.ReasonHeld && m.Assign != nil && d.Item.Status == work.Review) {
		a := shown(v.action(holdAll, d, t))
		a.Label = templates.Say(templates.ItemWords.HoldAll, map[string]any{"source": text(source(d.Item.Source), 60)}).String()
		a.Help = templates.Say(templates.ItemWords.HoldAllHelp, nil)
		m.Others = append(m.Others, a)
	}
}

// worthSaying reports whether staff would look for the action and wonder. That a confirmed item cannot be closed goes
// without saying; that it cannot be sent again does not.
func worthSaying(o review.Offered, it work.Item) bool {
	if o.Action == review.Correct && (it.PreviousID != 0 || !it.Status.Open()) {
		return false
	}
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
	if a == review.Retry && it.Status == work.Review && it.Reason == work.ReasonRejected {
		help = templates.Say(w.ActionHelp["retry/refused"], vals)
	}
	if a == review.Attest {
		help = templates.Say(w.ActionHelp["attest"], map[string]any{"ref": text(it.Reference, 100), "system": d.System.Name})
		if !d.Settled.IsZero() {
			help = append(append(help, templates.Part{Text: " "}), templates.Say(w.StatusSays["settled_at"], map[string]any{"at": v.clock(d.Settled)})...)
		}
	}
	act := templates.Action{Name: string(a), Post: "/items/" + strconv.FormatInt(it.ID, 10) + "/" + string(a), Label: label(a, d), Help: help,
		NeedsNote: needs[a].note, NeedsRef: needs[a].reference, MinNote: "1", MaxNote: strconv.Itoa(review.MaxNote)}
	switch a {
	case review.Attest:
		act.MinNote = strconv.Itoa(work.MinAttestation)
		act.NoteHint = templates.Say(w.ActionHelp["note/min"], map[string]any{"n": act.MinNote}).String()
	case review.Resolve:
		act.Reference = text(record(it), review.MaxReference)
		if it.NextStep() != "" {
			act.AskSteps = templates.Say(w.StepsDone, map[string]any{"steps": stepsAfter(it)}).String()
		}
		if d.Seen.AmountDiffers(it) {
			act.Differs = templates.Say(templates.ItemWords.Differs, map[string]any{"there": amount(d.Seen.Record.Total), "asked": amount(it.Invoice.Total)}).String()
		}
		if d.Accepted != nil { // the person still presses the button
			before := d.Accepted.Act
			act.Note, act.DiffersOn = text(before.Note, review.MaxNote), true
			act.Known = templates.Say(templates.ItemWords.AcceptedBefore, map[string]any{"who": text(before.By.Name, 60), "at": v.clock(before.At), "step": stepName(d.Accepted.Step)})
		}
	case review.Close:
		for _, why := range review.CloseReasons {
			act.Reasons = append(act.Reasons, templates.Choice{Value: why, Text: templates.ItemWords.CloseReason[why]})
		}
	}
	if t.action == a {
		act.Open, act.Note, act.Problem, act.Why, act.StepsDone = true, t.input.Note, t.problem, t.input.Why, t.input.StepsDone
		act.Reference = orText(t.input.Reference, act.Reference)
		act.DiffersOn = act.DiffersOn && t.input.Differs
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
	if d.Item.Status.Open() && d.Item.Status != work.Review {
		codes = append([]string{string(a) + "/waiting"}, codes...)
	}
	return templates.Say(templates.Pick(templates.Words.Action, codes...), map[string]any{"system": d.System.Name, "step": stepName(d.Item.Step)}).String()
}

// correctLabel says what a correction comes to.
func (v view) correctLabel(d review.Detail, waits bool) string {
	w := templates.Words.Action
	switch {
	case waits:
		return w["correct/waits"]
	case d.Item.Proposed > 0:
		return w["correct/put"]
	case d.Item.Reason == work.ReasonApprovalRequired && d.Item.Status == work.Review:
		return w["correct/approval"]
	case d.Item.Sends == 0:
		return w["correct/first"]
	}
	return w["correct"]
}

// refusal says why an action is not possible.
func (v view) refusal(a review.Action, r *work.Refusal, d review.Detail) templates.Sentence {
	vals := v.values(d.Item, d.System.Name)
	vals["until"] = v.clock(r.Until)
	code := string(r.Code)
	return templates.Say(templates.Pick(templates.Words.Refusal, code+"/"+string(a), code, "status"), vals)
}
