package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

var tabs = []review.Tab{review.TabReview, review.TabUnknown, review.TabWaiting, review.TabFinished, review.TabClosed, review.TabAll}

// Values in an address that stand for others.
const (
	assignedMe     = "me" // whoever looks: so a shared link shows everybody their own
	assignedNobody = "nobody"
	groupByError   = "error"
)

// ages are how long an item has not changed.
var ages = []struct {
	code string
	age  time.Duration
}{{"1h", time.Hour}, {"1d", 24 * time.Hour}, {"3d", 72 * time.Hour}, {"1w", 7 * 24 * time.Hour}}

// longest is how long a value in an address may be, in characters.
const longest = 300

// listing is a list as its address asks for it.
type listing struct {
	query    review.Query
	grouped  bool
	asked    url.Values // the conditions of the filter that hold, by their names in the address
	wrong    url.Values // those that were not understood, as they were typed; they were left out
	problems []string   // what was not understood, in words
}

// listQuery reads the address of a list, for the person who looks at it and at this moment. What it does not understand
// it leaves out and says so: a page shows the rest, and whatever acts on the list must refuse it. A search looks everywhere
// unless a tab is named: what somebody asks for by its key must not hide under another tab.
func listQuery(v url.Values, by work.Actor, now time.Time) listing {
	l := listing{asked: url.Values{}, wrong: url.Values{}, query: review.Query{Limit: rowsOnPage, Tab: review.Tab(v.Get("tab")), Text: strings.TrimSpace(text(v.Get("q"), longest))}}
	for _, c := range conditions {
		value := strings.TrimSpace(v.Get(c.name))
		if value == "" {
			continue
		}
		kept, ok := "", len([]rune(value)) <= longest && text(value, longest) == value
		if ok {
			kept, ok = c.read(reading{&l.query.Filter, v, by, now}, value)
		}
		if !ok {
			l.problem(c.name, value)
			continue
		}
		l.asked.Set(c.name, kept)
	}
	l.orderAmounts()
	if tab := l.query.Tab; !slices.Contains(tabs, tab) {
		l.query.Tab = review.TabReview
		if l.query.Text != "" || len(l.asked)+len(l.wrong) > 0 {
			l.query.Tab = review.TabAll
		}
		if tab != "" {
			l.problem("tab", string(tab))
		}
	}
	if group := v.Get("group"); group != "" {
		if l.grouped = group == groupByError; !l.grouped {
			l.problem("group", group)
		}
	}
	if after := v.Get("after"); after != "" {
		at, id, _ := strings.Cut(after, ".")
		ns, err1 := strconv.ParseInt(at, 36, 64)
		n, err2 := strconv.ParseInt(id, 36, 64)
		if err1 != nil || err2 != nil {
			l.problem("after", after)
		} else {
			l.query.After = review.Cursor{At: time.Unix(0, ns).UTC(), ID: n}
		}
	}
	return l
}

func (l *listing) problem(name, value string) {
	l.wrong.Set(name, value)
	pattern := templates.Pick(templates.Lists.Problem, name, "")
	l.problems = append(l.problems, templates.Say(pattern, map[string]any{"value": text(value, 60)}).String())
}

// reading is an address that is being read, by whom and when.
type reading struct {
	f   *review.Filter // what it comes to
	v   url.Values
	by  work.Actor
	now time.Time
}

// condition is one field of the filter. read puts a value into the filter and returns it as an address keeps it.
type condition struct {
	name string
	read func(r reading, value string) (kept string, ok bool)
}

// conditions are in the order in which they are shown.
var conditions = []condition{
	{"status", func(r reading, value string) (string, bool) {
		r.f.Status = pick(work.Statuses, value)
		return value, r.f.Status != ""
	}},
	{"reason", func(r reading, value string) (string, bool) {
		r.f.Reason = pick(work.Reasons, value)
		return value, r.f.Reason != ""
	}},
	{"system", plainText(func(f *review.Filter) *string { return &f.SystemID })},
	{"automation", plainText(func(f *review.Filter) *string { return &f.Automation })},
	{"assigned", func(r reading, value string) (string, bool) {
		switch value {
		case assignedMe:
			r.f.Assigned = r.by.Name
		case assignedNobody, review.AssignedNobody:
			r.f.Assigned, value = review.AssignedNobody, assignedNobody
		default:
			r.f.Assigned = value
		}
		return value, true
	}},
	{"age", func(r reading, value string) (string, bool) {
		for _, a := range ages {
			if a.code == value {
				r.f.ChangedBefore = r.now.Add(-a.age)
				return value, true
			}
		}
		return "", false
	}},
	{"overdue", func(r reading, value string) (string, bool) {
		r.f.Overdue = value == "1"
		return value, r.f.Overdue
	}},
	{"from", amountOf(func(f *review.Filter) *string { return &f.Least })},
	{"to", amountOf(func(f *review.Filter) *string { return &f.Most })},
	{"currency", func(r reading, value string) (string, bool) {
		if value = strings.ToUpper(value); currency.IsValid(value) {
			r.f.Currency = value
		}
		return value, r.f.Currency != ""
	}},
	{"period", func(r reading, value string) (string, bool) {
		if _, err := time.Parse("2006-01", value); err == nil {
			r.f.Period = value
		}
		return value, r.f.Period != ""
	}},
	{"source", plainText(func(f *review.Filter) *string { return &f.Source })},
	{"error", plainText(func(f *review.Filter) *string { return &f.ErrorKind })},
}

func pick[T ~string](known []T, value string) T {
	if slices.Contains(known, T(value)) {
		return T(value)
	}
	return ""
}

func plainText(field func(f *review.Filter) *string) func(reading, string) (string, bool) {
	return func(r reading, value string) (string, bool) {
		*field(r.f) = value
		return value, true
	}
}

func amountOf(field func(f *review.Filter) *string) func(reading, string) (string, bool) {
	return func(r reading, value string) (string, bool) {
		number, ok := typedAmount(value, strings.ToUpper(strings.TrimSpace(r.v.Get("currency"))))
		*field(r.f) = number
		return number, ok
	}
}

// typedAmount reads an amount to look for. A comma that could be either parts thousands here: nothing is made of it.
func typedAmount(s, code string) (string, bool) {
	number, fault := typedNumber(s, code)
	if fault == twoWays && strings.Contains(s, ",") {
		number, fault = typedNumber(strings.Replace(s, ",", "", 1), code)
	}
	return number, fault == "" && !strings.HasPrefix(number, "-")
}

// orderAmounts exchanges the ends of a range that were given the wrong way round.
func (l *listing) orderAmounts() {
	f := &l.query.Filter
	if f.Least == "" || f.Most == "" {
		return
	}
	least, err1 := currency.NewAmount(f.Least, "EUR") // any currency: only the numbers are compared
	most, err2 := currency.NewAmount(f.Most, "EUR")
	if err1 != nil || err2 != nil {
		return
	}
	if order, err := least.Cmp(most); err != nil || order <= 0 {
		return
	}
	f.Least, f.Most = f.Most, f.Least
	l.asked.Set("from", f.Least)
	l.asked.Set("to", f.Most)
	l.problems = append(l.problems, templates.Lists.Exchanged)
}

// filtered reports whether anything but the tab narrows the list.
func (l listing) filtered() bool { return l.query.Text != "" || len(l.asked) > 0 }

// values are the list's address as the fields of a form. It has the person's own words, not their dates: a list that
// is opened tomorrow is as old as it says.
func (l listing) values() url.Values {
	v := url.Values{"tab": {string(l.query.Tab)}}
	if l.query.Text != "" {
		v.Set("q", l.query.Text)
	}
	if l.grouped {
		v.Set("group", groupByError)
	}
	for name := range l.asked {
		v.Set(name, l.asked.Get(name))
	}
	return v
}

// address is where the list begins.
func (l listing) address() string { return "/?" + l.values().Encode() }

// with is the address of the list with other values: pairs of a name and a value, an empty value takes the name away.
func (l listing) with(pairs ...string) string {
	v := l.values()
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Del(pairs[i])
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return "/?" + v.Encode()
}

// from is the address of the list after a row.
func (l listing) from(after review.Cursor) string {
	return l.with("after", strconv.FormatInt(after.At.UnixNano(), 36)+"."+strconv.FormatInt(after.ID, 36))
}
