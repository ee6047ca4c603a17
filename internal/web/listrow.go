package web

import (
	"strconv"
	"strings"

	"onefold/internal/work"
	"onefold/web/templates"
)

// longestError is how much of an error a row shows, in characters.
const longestError = 140

// row is one line of the list. With a badge it says its status as well.
func (v view) row(it work.Item, sys work.System, withBadge bool) templates.Row {
	r := templates.Row{ID: strconv.FormatInt(it.ID, 10), Version: strconv.FormatInt(it.Version, 10), Href: "/items/" + strconv.FormatInt(it.ID, 10),
		Key: text(it.BusinessKey, 200), Customer: customer(it), Amount: amountNumber(it.Invoice.Total), Currency: it.Invoice.Total.CurrencyCode(),
		System: text(orText(sys.Name, it.SystemID), 60), Why: v.why(it, sys), Overdue: v.overdueBecause(it, sys), Attempts: strconv.Itoa(it.Attempts),
		LastTry: v.ago(it.LastTryAt), Error: sentence(text(lastError(it), longestError)), Assigned: text(it.AssignedTo, 60)}
	if len(it.Steps) > 1 {
		r.Step = stepName(it.Step)
	}
	if withBadge {
		b := v.badge(it, "")
		r.Badge = &b
	}
	if it.Status.Open() {
		r.Remark = text(it.Remark, longestError)
	}
	return r
}

// lastError is the last error without what the reason beside it says already: of a record that differs only how.
func lastError(it work.Item) string {
	if _, how, found := strings.Cut(it.LastError, ": "); found && it.Status == work.Review && it.Reason == work.ReasonMismatch {
		return how
	}
	return it.LastError
}

// why says in a sentence why the item is in the list.
func (v view) why(it work.Item, sys work.System) templates.Sentence {
	w := templates.Lists
	if reason, ok := w.Reason[string(it.Reason)]; ok && it.Status == work.Review {
		return templates.Say(reason, nil)
	}
	return templates.Say(templates.Pick(w.Says, v.variants(it, sys.Rules())...), v.values(it, orText(sys.Name, it.SystemID)))
}

// overdueBecause says that an item should have been settled by now, and what keeps it; empty if it is in time.
func (v view) overdueBecause(it work.Item, sys work.System) string {
	cause := ""
	switch {
	case !it.Overdue(v.now):
		return ""
	case it.Status == work.Review:
		cause = "person"
	case !sys.PausedAt.IsZero():
		cause = "paused"
	case sys.LoginProblem != "":
		cause = "login"
	case !sys.BreakerUntil.IsZero():
		cause = "breaker"
	case !sys.LookFirst.IsZero():
		cause = "look_first"
	}
	return templates.Say(templates.Lists.Overdue[cause], map[string]any{"system": text(sys.Name, 60)}).String()
}

func customer(it work.Item) string {
	return text(orText(it.Invoice.CustomerName, it.Invoice.CustomerID), 200)
}
