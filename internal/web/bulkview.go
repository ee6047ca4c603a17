package web

import (
	"strconv"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// bulkView turns a run and its results into what is shown.
type bulkView struct {
	view
	run     review.BulkRun
	systems map[string]work.System
}

// says who began the run, and how it stands.
func (v bulkView) says() []templates.Sentence {
	w, r := templates.BulkWords, v.run
	by := w.By
	if r.State == review.BulkAbandoned {
		by = w.AskedBy
	}
	say := []templates.Sentence{templates.Say(by, map[string]any{"at": v.clock(r.BeganAt), "who": text(r.By.Name, 60), "n": v.invoices(v.chosen())})}
	switch {
	case r.State == review.BulkPreparing:
		say = append(say, templates.Say(w.Freezes, nil))
	case r.State == review.BulkAbandoned:
		say = append(say, templates.Say(w.Abandoned, map[string]any{"n": thousands(review.MaxBulk)}))
	case r.State == review.BulkStopped || r.State == review.BulkStopping:
		at := r.EndedAt
		if at.IsZero() {
			at = v.now
		}
		say = append(say, templates.Say(w.StoppedBy, map[string]any{"who": text(r.StoppedBy, 60), "at": v.clock(at)}))
	case !r.State.Ended() && (r.Plan == review.PlanRepair || r.Plan == review.PlanCheck):
		say = append(say, templates.Say(w.Waits, nil))
	}
	if r.Previewed > r.Size && r.Freezing == nil {
		say = append(say, templates.Say(w.Fewer, map[string]any{"n": thousands(r.Previewed)}))
	}
	return say
}

// chosen is the size of the run: until its set is complete, what the person saw.
func (v bulkView) chosen() int64 {
	if v.run.Freezing != nil {
		return max(v.run.Previewed, v.run.Size)
	}
	return v.run.Size
}

func (v bulkView) invoices(n int64) string {
	if n == 1 {
		return templates.BulkWords.NewOne
	}
	return templates.Say(templates.Lists.Matches, map[string]any{"n": thousands(n)}).String()
}

// bar draws how many came out in each class, in thousandths of the whole.
func (v bulkView) bar() templates.BulkBar {
	w, r := templates.BulkWords, v.run
	if all := v.chosen(); r.State == review.BulkPreparing {
		return templates.BulkBar{Label: templates.Say(w.Frozen, map[string]any{"n": thousands(r.Size), "all": thousands(all)}).String(),
			Parts: []templates.BulkPart{{Tone: "busy", From: "0", Width: strconv.FormatInt(r.Size*1000/max(all, 1), 10)}}}
	}
	b := templates.BulkBar{Label: templates.Say(w.Bar, map[string]any{"n": thousands(r.Size - r.Count(review.ClassTodo)), "all": thousands(r.Size)}).String()}
	from := int64(0)
	for _, class := range review.Classes {
		n := r.Count(class)
		if class == review.ClassTodo || n == 0 || r.Size == 0 {
			continue
		}
		start, end := from*1000/r.Size, (from+n)*1000/r.Size
		from += n
		b.Parts = append(b.Parts, templates.BulkPart{Tone: w.ClassTone[string(class)], From: strconv.FormatInt(start, 10), Width: strconv.FormatInt(max(end-start, 2), 10)})
	}
	return b
}

// sums are how many came out in which way.
func (v bulkView) sums() []templates.Fact {
	w, r := templates.BulkWords, v.run
	var facts []templates.Fact
	if r.Looked > 0 {
		facts = append(facts, templates.Fact{Name: w.Sum["looked"], Value: thousands(r.Looked)})
	}
	for _, o := range byCount(r.Tally) {
		name := templates.Pick(w.Sum, string(o)+"/"+string(r.Plan), string(o))
		facts = append(facts, templates.Fact{Name: name, Value: thousands(r.Tally[o])})
	}
	return facts
}

func (v bulkView) result(l review.BulkLine) templates.BulkResult {
	w := templates.BulkWords
	class := string(v.run.Plan.Class(l.Outcome))
	r := templates.BulkResult{Key: w.Gone, Sign: w.ClassSign[class], Tone: w.ClassTone[class], Say: v.outcome(l)}
	if it := l.Item; it.ID != 0 {
		badge := v.badge(it, "")
		r.Href, r.Key, r.Customer, r.Now = "/items/"+strconv.FormatInt(it.ID, 10), text(it.BusinessKey, 200), customer(it), &badge
		r.Amount, r.Currency = amountNumber(it.Invoice.Total), it.Invoice.Total.CurrencyCode()
	}
	return r
}

// outcome is the result of one item in words.
func (v bulkView) outcome(l review.BulkLine) templates.Sentence {
	w, plan := templates.BulkWords, string(v.run.Plan)
	code := string(l.Outcome)
	vals := map[string]any{"ref": text(l.Detail, 80), "who": text(l.Who, 60), "at": v.clock(l.At), "to": text(v.run.Input.To, 60)}
	switch l.Outcome {
	case review.BulkTodo:
		code, vals["at"] = "", v.clock(l.Looking)
		if !l.Looking.IsZero() {
			code = "looking"
		}
		if v.run.State.Ended() {
			code = map[string]string{"": "stopped", "looking": "stopped/looking"}[code]
		}
		if v.run.State == review.BulkAbandoned {
			code = "abandoned"
		}
		return templates.Say(w.Outcome[code], vals)
	case review.BulkRefused:
		if l.Detail == string(work.RefusedOpen) {
			return templates.Say(w.Outcome["refused/open_attempt"], vals)
		}
		d := review.Detail{Item: l.Item, System: v.systems[l.Item.SystemID]}
		action := review.Action(plan)
		if v.run.Plan == review.PlanRepair {
			action = review.Retry
		}
		vals["why"] = v.refusal(action, &work.Refusal{Code: work.RefusalCode(l.Detail), Until: l.At}, d)
	case review.BulkChanged:
		vals["what"] = templates.Pick(templates.Words.Decision, "short/"+l.Detail, "short/")
		if l.Who == "" {
			return templates.Say(w.Outcome["changed/moved"], vals)
		}
	case review.BulkActed:
		if v.run.Plan == review.PlanAssign && v.run.Input.To == "" {
			return templates.Say(w.Outcome["acted/assign/nobody"], vals)
		}
	}
	return templates.Say(templates.Pick(w.Outcome, code+"/"+plan, code), vals)
}

// line is the result of one item for a spreadsheet.
func (v bulkView) line(l review.BulkLine) []string {
	it := l.Item
	class := className(v.run, v.run.Plan.Class(l.Outcome))
	row := []string{strconv.Itoa(l.N), it.BusinessKey, customer(it), "", "", "", class, v.outcome(l).String(), "", it.ExternalNumber, strconv.FormatInt(l.ItemID, 10)}
	if it.ID != 0 {
		row[3], row[4], row[5] = it.Invoice.Total.CurrencyCode(), it.Invoice.Total.Number(), it.SystemID
		row[8] = v.badge(it, "").Text
	}
	return row
}
