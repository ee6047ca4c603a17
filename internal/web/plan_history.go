package web

import (
	"encoding/json"
	"strconv"
	"strings"

	"onefold/internal/auth"
	"onefold/internal/automation/recurring"
	"onefold/web/templates"
)

// planChange is one entry of a plan's history: who did what, and what it was before.
func (v view) planChange(e recurring.Entry) templates.PlanChange {
	c := templates.PlanChange{At: v.exact(e.At), Who: text(e.By.Name, 60), What: templates.Pick(templates.Plans.Happened, string(e.What), "changed"), Note: text(e.Note, 500)}
	if e.Before == nil {
		return c
	}
	was, is := planSays(*e.Before), planSays(e.After)
	for i := range is {
		if was[i].Value != is[i].Value {
			c.Changes = append(c.Changes, templates.Changed{Name: is[i].Name, Before: was[i].Value, After: is[i].Value})
		}
	}
	return c
}

// planTrail says what a change of a plan in the trail was about: what differs, or all of a new plan.
func planTrail(r auth.Record) (before, after string) {
	var was, is recurring.Plan
	if json.Unmarshal([]byte(r.After), &is) != nil || len(is.Terms) == 0 {
		return r.Before, r.After
	}
	known := json.Unmarshal([]byte(r.Before), &was) == nil && len(was.Terms) > 0
	var old, now []string
	facts := planSays(is)
	for i, f := range facts {
		then := ""
		if known {
			then = planSays(was)[i].Value
		}
		if f.Value == then {
			continue
		}
		if then != "" {
			old = append(old, f.Name+": "+then)
		}
		now = append(now, f.Name+": "+orText(f.Value, templates.Limits.None))
	}
	return strings.Join(old, "; "), strings.Join(now, "; ")
}

// planSays are the facts of a plan that changes are told by, always the same in the same order.
func planSays(p recurring.Plan) []templates.Fact {
	w := templates.Plans
	says := []templates.Fact{}
	add := func(name, value string) { says = append(says, templates.Fact{Name: w.Fact[name], Value: value}) }
	terms := ""
	for i, t := range p.Terms {
		one := cadence(t.Schedule, t.From)
		if total, err := p.Total(t); err == nil {
			one = amount(total) + " " + one
		}
		if i > 0 {
			terms += "; "
		}
		terms += say(w.TermFrom, "day", dayText(t.From), "terms", one)
	}
	add("terms", terms)
	add("lines", linesSay(p))
	end, until := w.Fact["end/none"], ""
	if !p.End.IsZero() {
		end = dayText(p.End)
	}
	add("end", end)
	add("name", text(p.CustomerName, 200))
	add("pay_within", strconv.Itoa(p.PayWithin))
	add("prorate", map[bool]string{true: w.Yes, false: w.No}[p.Prorate])
	add("note", text(p.Note, 300))
	add("state", planBadge(p).Text)
	if !p.CaughtUpTo.IsZero() {
		until = dayText(p.CaughtUpTo)
	}
	add("caught_up", until)
	return says
}

// linesSay is what the newest term bills, in short.
func linesSay(p recurring.Plan) string {
	all := ""
	for i, l := range p.Terms[len(p.Terms)-1].Lines {
		if i > 0 {
			all += "; "
		}
		all += say(templates.Plans.LineSay, "quantity", text(l.Quantity, 30), "price", price(l.UnitPrice, p.Currency), "text", text(l.Description, 80))
		if l.TaxCode != "" {
			all += " (" + text(l.TaxCode, 40) + ")"
		}
	}
	return text(all, 600)
}
