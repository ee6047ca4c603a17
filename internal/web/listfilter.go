package web

import (
	"context"
	"slices"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// fits are the tabs on which a condition is offered; those that are not named fit all. Nobody types an error: it comes with
// the link of a group.
var fits = map[string][]review.Tab{"error": {}, "status": {review.TabAll}, "reason": {review.TabReview, review.TabFinished, review.TabClosed, review.TabAll}}

// filterForm is the form that narrows the list, and a chip for each condition that holds.
func (s *server) filterForm(ctx context.Context, by work.Actor, l listing, systems []review.SystemState) (templates.Filter, error) {
	w := templates.Lists
	automations, err := s.review.Automations(ctx, by)
	if err != nil {
		return templates.Filter{}, err
	}
	choices := map[string][]templates.Choice{"assigned": {{Value: assignedMe, Text: w.Value["assigned/me"]}, {Value: assignedNobody, Text: w.Value["assigned/nobody"]}},
		"overdue": {{Value: "1", Text: w.Value["overdue/1"]}}}
	for _, st := range work.Statuses {
		choices["status"] = append(choices["status"], templates.Choice{Value: string(st), Text: templates.Words.StatusName[string(st)]})
	}
	for _, reason := range work.Reasons {
		choices["reason"] = append(choices["reason"], templates.Choice{Value: string(reason), Text: templates.Words.ReasonShort[string(reason)]})
	}
	for _, sys := range systems {
		choices["system"] = append(choices["system"], templates.Choice{Value: sys.ID, Text: text(sys.Name, 60)})
	}
	for _, a := range automations {
		choices["automation"] = append(choices["automation"], templates.Choice{Value: a, Text: text(a, 60)})
	}
	for _, a := range ages {
		choices["age"] = append(choices["age"], templates.Choice{Value: a.code, Text: w.Age[a.code]})
	}
	f := templates.Filter{Open: slices.ContainsFunc(conditions, func(c condition) bool { return l.wrong.Has(c.name) })}
	for _, c := range conditions {
		value := orText(l.asked.Get(c.name), l.wrong.Get(c.name))
		holds := l.asked.Get(c.name) != ""
		if holds {
			f.Chips = append(f.Chips, templates.Link{Text: chip(c.name, value, choices[c.name]), Href: l.with(c.name, "")})
			f.WithSearch = append(f.WithSearch, templates.Field{Name: c.name, Value: value})
		}
		if in := fits[c.name]; value == "" && in != nil && !slices.Contains(in, l.query.Tab) {
			continue
		}
		f.Fields = append(f.Fields, field(c.name, value, holds, choices[c.name]))
	}
	if len(f.Chips) > 0 {
		plain := l
		plain.asked, plain.grouped = nil, false
		f.Clear = plain.address()
	}
	f.WithFilter = []templates.Field{{Name: "tab", Value: string(l.query.Tab)}}
	if l.query.Text != "" {
		f.WithFilter = append(f.WithFilter, templates.Field{Name: "q", Value: l.query.Text})
	}
	if l.grouped {
		f.WithFilter = append(f.WithFilter, templates.Field{Name: "group", Value: groupByError})
	}
	return f, nil
}

// field is one field of the form. A value that holds and is no choice becomes one, so that it is not lost.
func field(name, value string, holds bool, choices []templates.Choice) templates.Field {
	w := templates.Lists
	f := templates.Field{Name: name, Label: w.Condition[name], Value: value, Hint: w.Hint[name]}
	any, chosen := w.Any[name]
	if !chosen || name == "currency" {
		return f
	}
	f.Choices = append([]templates.Choice{{Text: any}}, choices...)
	if holds && !slices.ContainsFunc(choices, func(c templates.Choice) bool { return c.Value == value }) {
		f.Choices = append(f.Choices, templates.Choice{Value: value, Text: text(value, 60)})
	}
	return f
}

// chip is a condition in words.
func chip(name, value string, choices []templates.Choice) string {
	w := templates.Lists
	shown := text(value, 80)
	if i := slices.IndexFunc(choices, func(c templates.Choice) bool { return c.Value == value }); i >= 0 {
		shown = choices[i].Text
	}
	switch {
	case name == "source":
		shown = source(shown)
	case name == "error" && value == review.NoErrorKind:
		shown = w.NoError
	}
	return templates.Say(templates.Pick(w.Chip, name, ""), map[string]any{"label": w.Condition[name], "value": shown}).String()
}
