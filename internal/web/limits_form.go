package web

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// limitGroups is the order of the form.
var limitGroups = []struct {
	name   string
	limits []string
}{
	{"again", []string{"sends", "first_delay", "growth", "longest_delay", "jitter"}},
	{"look", []string{"request_timeout", "settle", "search_lag", "misses", "lookups"}},
	{"person", []string{"settle_within", "approval_limit"}},
	{"pace", []string{"in_flight", "per_second", "breaker_after", "breaker_pause", "breaker_longest"}},
}

// limitsForm is the form as it was sent.
type limitsForm struct {
	automation string
	seen       work.Limits
	limits     work.Limits // what could be read
	typed      url.Values
	problems   map[string]string // by limit
	stale      map[string]string // likewise
	note       string
	problem    string // with the form as a whole
}

// readLimits reads the form. What cannot be read is among the problems.
func readLimits(f url.Values) *limitsForm {
	l := &limitsForm{automation: f.Get("automation"), limits: work.Limits{}, seen: work.Limits{}, typed: f, problems: map[string]string{}, stale: map[string]string{}, note: f.Get("note")}
	_ = json.Unmarshal([]byte(f.Get("seen")), &l.seen) // damaged: then everything was changed meanwhile
	for _, limit := range work.AllLimits {
		if limit.OfSystem && l.automation != "" {
			continue
		}
		text, err := readLimit(limit, f, l.seen)
		var ambiguous ambiguousNumber
		switch {
		case errors.As(err, &ambiguous):
			l.problems[limit.Name] = string(ambiguous)
		case err != nil:
			l.problems[limit.Name] = templates.Limits.Code[string(limit.Kind)]
		}
		l.limits[limit.Name] = text
	}
	return l
}

// ambiguousNumber asks which number is meant.
type ambiguousNumber string

func (a ambiguousNumber) Error() string { return string(a) }

// readLimit is the canonical text of what was typed.
func readLimit(l work.Limit, f url.Values, seen work.Limits) (string, error) {
	typed := strings.TrimSpace(f.Get(l.Name))
	if typed == "" {
		return "", nil
	}
	point := func(s string) string { return strings.Replace(strings.TrimSpace(s), ",", ".", 1) }
	switch l.Kind {
	case work.CountLimit:
		n, err := strconv.Atoi(typed)
		return strconv.Itoa(n), err
	case work.TimeLimit:
		d, err := durationOf(typed)
		return d.String(), err
	case work.ShareLimit:
		n, err := strconv.ParseFloat(point(strings.TrimSuffix(typed, "%")), 64)
		return numberText(n / 100), err
	case work.MoneyLimit:
		if w := templates.Limits; strings.EqualFold(typed, work.NoLimit) || strings.EqualFold(typed, w.None) {
			return work.NoLimit, nil
		}
		code := strings.ToUpper(strings.TrimSpace(f.Get(l.Name + "_currency")))
		stood, _ := limitMoney(seen[l.Name])
		number, problem := formNumber(typed, code, []string{stood})
		if _, fault := typedNumber(typed, code); fault == twoWays && problem != "" {
			return "", ambiguousNumber(problem)
		}
		if problem != "" || code == "" || strings.HasPrefix(number, "-") {
			return "", errNoTime
		}
		return number + " " + code, nil
	}
	n, err := strconv.ParseFloat(point(typed), 64)
	return numberText(n), err
}

func numberText(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// showLimit is a canonical text as it is shown, and typed.
func showLimit(kind work.LimitKind, text string) string {
	switch kind {
	case work.TimeLimit:
		if d, err := time.ParseDuration(text); err == nil {
			return durationText(d)
		}
	case work.ShareLimit:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return showBound(kind, n)
		}
	case work.MoneyLimit:
		if text == work.NoLimit {
			return templates.Limits.None
		}
		if number, code := limitMoney(text); code != "" {
			return price(number, code) + " " + code
		}
	}
	return text
}

// showBound is the end of a range as it is shown.
func showBound(kind work.LimitKind, n float64) string {
	const digits = 1e6 // more are only the binary's
	switch kind {
	case work.TimeLimit:
		return durationText(time.Duration(n))
	case work.ShareLimit:
		return numberText(math.Round(n*100*digits)/digits) + " %"
	}
	return numberText(math.Round(n*digits) / digits)
}

func limitMoney(text string) (number, code string) {
	number, code, _ = strings.Cut(text, " ")
	return number, code
}

// limitFields fills the form: with what was typed, else with what is set.
func (v view) limitFields(sys work.System, automation string, f *limitsForm) []templates.LimitGroup {
	w := templates.Limits
	own, all := sys.Limits(automation), sys.Limits("")
	var groups []templates.LimitGroup
	for _, g := range limitGroups {
		group := templates.LimitGroup{Title: w.Group[g.name], Say: w.GroupSay[g.name]}
		for _, name := range g.limits {
			i := slices.IndexFunc(work.AllLimits, func(l work.Limit) bool { return l.Name == name })
			l := work.AllLimits[i]
			if l.OfSystem && automation != "" {
				continue
			}
			field := templates.LimitField{Name: name, Label: w.Name[name], Help: w.Help[name], Bounds: boundSays(sys, l, automation), Money: l.Kind == work.MoneyLimit, Mode: "decimal"}
			switch l.Kind {
			case work.TimeLimit:
				field.Mode = "text"
			case work.CountLimit:
				field.Mode = "numeric"
			}
			if automation != "" {
				_, field.Own = own[name]
				value := orText(showLimit(l.Kind, all[name]), w.None)
				field.Place, field.Inherits = value, say(w.Inherits, "system", text(sys.Name, 60), "value", value)
				if field.Money && all[name] != "" {
					field.Mode = "text"
					field.Help += " " + say(w.WithoutApproval, "none", w.None)
				}
			} else if field.Money {
				field.Place = w.None
			}
			field.Value = showLimit(l.Kind, own[name])
			if field.Money {
				field.Value, field.Currency = limitMoney(own[name])
				if own[name] == work.NoLimit {
					field.Value = w.None
				}
			}
			if f != nil {
				field.Value, field.Problem, field.Stale = text(f.typed.Get(name), 60), f.problems[name], f.stale[name]
				if field.Money {
					field.Currency = text(f.typed.Get(name+"_currency"), 10)
				}
			}
			group.Fields = append(group.Fields, field)
		}
		if len(group.Fields) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// boundSays says between what a limit may be, and why.
func boundSays(sys work.System, l work.Limit, automation string) []string {
	if l.Kind == work.MoneyLimit {
		return nil
	}
	b, w := sys.Bound(l.Name, automation), templates.Limits
	var says []string
	for _, pattern := range []string{w.Min[b.WhyMin], w.Max[b.WhyMax]} {
		if pattern != "" {
			says = append(says, boundSay(pattern, sys, l, b))
		}
	}
	return says
}

func boundSay(pattern string, sys work.System, l work.Limit, b work.Bound) string {
	return say(pattern, "system", text(sys.Name, 60), "min", showBound(l.Kind, b.Min), "max", showBound(l.Kind, b.Max))
}

// refusedLimits puts what is refused beside the limits.
func (f *limitsForm) refusedLimits(sys work.System, refused work.LimitsRefused) {
	w := templates.Limits
	for _, e := range refused {
		l := work.AllLimits[slices.IndexFunc(work.AllLimits, func(l work.Limit) bool { return l.Name == e.Name })]
		switch e.Code {
		case "below":
			f.problems[e.Name] = boundSay(orText(w.Min[e.WhyMin], w.Below), sys, l, e.Bound)
		case "above":
			f.problems[e.Name] = boundSay(orText(w.Max[e.WhyMax], w.Above), sys, l, e.Bound)
		case "empty":
			f.problems[e.Name] = w.Code["empty"]
		default:
			f.problems[e.Name] = w.Code[string(l.Kind)]
		}
	}
}

// readable is the form with the present limits in place of what could not be read, so that all faults are told at once.
func (f *limitsForm) readable(limits, now work.Limits) work.Limits {
	if f == nil || len(f.problems) == 0 {
		return limits
	}
	limits = maps.Clone(limits)
	for name := range f.problems {
		limits[name] = now[name]
	}
	return limits
}

// wrong takes in why limits cannot be so; it returns what is no fault of the form.
func (f *limitsForm) wrong(sys work.System, err error) error {
	var refused work.LimitsRefused
	var impossible work.LimitsImpossible
	switch {
	case f == nil:
		if errors.As(err, &refused) || errors.As(err, &impossible) {
			return nil // it was set up so; there is nothing to show
		}
		return err
	case errors.As(err, &refused):
		f.refusedLimits(sys, refused)
	case errors.As(err, &impossible):
		f.problem = sentence(string(impossible))
	default:
		return err
	}
	return nil
}

// overtaken puts what somebody else made of limits beside what was typed. What was not touched here is taken over. The
// form may then be saved: everything was seen.
func (f *limitsForm) overtaken(sys work.System, e *review.LimitsStale) {
	w, now := templates.Limits, sys.Limits(f.automation)
	none := w.None
	if f.automation != "" {
		none = w.InheritsPlace
	}
	for _, l := range work.AllLimits {
		if _, changed := e.Is[l.Name]; !changed {
			continue
		}
		was, is := orText(showLimit(l.Kind, e.Was[l.Name]), none), orText(showLimit(l.Kind, now[l.Name]), none)
		pattern := w.StaleField
		if f.limits[l.Name] == f.seen[l.Name] {
			pattern = w.StaleTaken
			f.limits[l.Name] = now[l.Name]
			f.typed.Set(l.Name, showLimit(l.Kind, now[l.Name]))
			if l.Kind == work.MoneyLimit {
				number, code := limitMoney(now[l.Name])
				f.typed.Set(l.Name, number)
				f.typed.Set(l.Name+"_currency", code)
			}
		}
		f.stale[l.Name] = say(pattern, "is", is, "was", was)
	}
	f.seen = now
}
