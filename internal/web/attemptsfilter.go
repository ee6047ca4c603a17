package web

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// Values in the address of the attempts that stand for others.
const (
	askedAnybody = "anybody"
	askedMe      = "me"
	statusNone   = "none"
)

// attemptResults are the results that can be asked for: those of a sending, those of a look, those of both.
var attemptResults = []string{string(work.Accepted), string(work.Rejected), string(work.NotSent), string(work.AlreadyExists), string(work.Unknown),
	string(work.FoundMatching), string(work.FoundDifferent), string(work.FoundSeveral), string(work.FoundVoid), string(work.NotFound), string(work.CouldNotTell),
	string(work.Deferred), review.ResultOpen}

// attemptListing is the list of attempts as its address asks for it.
type attemptListing struct {
	query    review.AttemptQuery
	asked    url.Values // the conditions that hold, by their names in the address
	wrong    url.Values // those that were not understood, as they were typed; they were left out
	problems []string   // what was not understood, in words
}

// attemptReading is an address that is being read.
type attemptReading struct {
	q    *review.AttemptQuery
	by   work.Actor
	zone *time.Location
}

// attemptCondition is one field of the filter. read puts a value into the query and returns it as an address keeps it.
type attemptCondition struct {
	name string
	read func(r attemptReading, value string) (kept string, ok bool)
}

var (
	statusClass = regexp.MustCompile(`^[1-5]xx$`)
	askedLabel  = regexp.MustCompile(`^(person|token|automation|console):\S+$`)
)

// attemptConditions are in the order in which they are shown.
var attemptConditions = []attemptCondition{
	{"kind", func(r attemptReading, value string) (string, bool) {
		r.q.Kind = pick(review.AttemptKinds, value)
		return value, r.q.Kind != ""
	}},
	{"result", func(r attemptReading, value string) (string, bool) {
		r.q.Result = pick(attemptResults, value)
		return value, r.q.Result != ""
	}},
	{"system", func(r attemptReading, value string) (string, bool) {
		r.q.SystemID = value
		return value, true
	}},
	{"automation", func(r attemptReading, value string) (string, bool) {
		r.q.Automation = value
		return value, true
	}},
	{"status", readStatus},
	{"longer", func(r attemptReading, value string) (string, bool) {
		d, err := durationOf(value)
		if err != nil || d <= 0 {
			return "", false
		}
		r.q.Longer = d
		return durationText(d), true
	}},
	{"from", func(r attemptReading, value string) (string, bool) {
		at, kept, _, ok := readMoment(value, r.zone)
		r.q.From = at
		return kept, ok
	}},
	{"to", func(r attemptReading, value string) (string, bool) {
		at, kept, until, ok := readMoment(value, r.zone)
		if ok {
			at = until
		}
		r.q.To = at
		return kept, ok
	}},
	{"node", func(r attemptReading, value string) (string, bool) {
		r.q.Node = value
		return value, true
	}},
	{"asked", func(r attemptReading, value string) (string, bool) {
		switch {
		case value == askedAnybody:
			r.q.AskedBy = review.AskedByAnybody
		case value == askedMe:
			r.q.AskedBy = askedBy(r.by)
		case askedLabel.MatchString(value):
			r.q.AskedBy = value
		}
		return value, r.q.AskedBy != ""
	}},
}

// readStatus reads "503", "5xx", or "none" for no answer.
func readStatus(r attemptReading, value string) (string, bool) {
	value = strings.ToLower(value)
	n, err := strconv.Atoi(value)
	switch {
	case value == statusNone:
		r.q.NoStatus = true
	case statusClass.MatchString(value):
		r.q.StatusFrom = int(value[0]-'0') * 100
		r.q.StatusTo = r.q.StatusFrom + 99
	case err == nil && n >= 100 && n <= 599:
		r.q.StatusFrom, r.q.StatusTo = n, n
	default:
		return "", false
	}
	return value, true
}

// readMoment reads a day, or a time of a day, in the zone. It returns when it begins and when it is over: a day after a day, a
// minute after a minute.
func readMoment(value string, zone *time.Location) (at time.Time, kept string, until time.Time, ok bool) {
	value = strings.Replace(value, "T", " ", 1)
	for layout, next := range map[string]func(time.Time) time.Time{
		dayFormat:          func(t time.Time) time.Time { return t.AddDate(0, 0, 1) },
		"2006-01-02 15:04": func(t time.Time) time.Time { return t.Add(time.Minute) },
		time.DateTime:      func(t time.Time) time.Time { return t.Add(time.Second) },
	} {
		if t, err := time.ParseInLocation(layout, value, zone); err == nil {
			return t, t.Format(layout), next(t), true
		}
	}
	return time.Time{}, "", time.Time{}, false
}

// attemptQuery reads the address of the list. What it does not understand it leaves out and says so: a page shows the rest, a
// file is refused.
func attemptQuery(v url.Values, by work.Actor, zone *time.Location) attemptListing {
	l := attemptListing{asked: url.Values{}, wrong: url.Values{}, query: review.AttemptQuery{Limit: rowsOnPage, Key: strings.TrimSpace(text(v.Get("q"), longest))}}
	for _, c := range attemptConditions {
		value := strings.TrimSpace(v.Get(c.name))
		if value == "" {
			continue
		}
		kept, ok := "", len([]rune(value)) <= longest && text(value, longest) == value
		if ok {
			if kept, ok = c.read(attemptReading{&l.query, by, zone}, value); !ok {
				l.problem(c.name, value)
				continue
			}
			l.asked.Set(c.name, kept)
			continue
		}
		l.problem("", value)
	}
	if q := &l.query; !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		from, to := l.asked.Get("from"), l.asked.Get("to")
		l.asked.Set("from", to)
		l.asked.Set("to", from)
		q.From, _, _, _ = readMoment(to, zone)
		_, _, q.To, _ = readMoment(from, zone)
		l.problems = append(l.problems, templates.Attempts.Backwards)
	}
	if after := v.Get("after"); after != "" {
		var ok bool
		if l.query.After, ok = attemptCursor(after); !ok {
			l.problem("after", after)
		}
	}
	return l
}

func (l *attemptListing) problem(name, value string) {
	l.wrong.Set(name, value)
	l.problems = append(l.problems, say(templates.Pick(templates.Attempts.Problem, name, ""), "value", text(value, 60)))
}

// attemptCursor reads where a page goes on.
func attemptCursor(s string) (review.AttemptCursor, bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return review.AttemptCursor{}, false
	}
	us, err1 := strconv.ParseInt(parts[0], 36, 64)
	item, err2 := strconv.ParseInt(parts[1], 36, 64)
	number, err3 := strconv.ParseInt(parts[2], 36, 32)
	if err1 != nil || err2 != nil || err3 != nil || us < 0 || us > maxMicros {
		return review.AttemptCursor{}, false
	}
	return review.AttemptCursor{At: time.UnixMicro(us).UTC(), ItemID: item, Number: int(number)}, true
}

// maxMicros is the year 9999: later moments no database takes.
const maxMicros = 253402300799 * 1_000_000

// address is the list's address, from its beginning.
func (l attemptListing) address() string { return l.with() }

// with is the address of the list with other values: pairs of a name and a value, an empty value takes the name away.
func (l attemptListing) with(pairs ...string) string {
	v := url.Values{}
	for name := range l.asked {
		v.Set(name, l.asked.Get(name))
	}
	if l.query.Key != "" {
		v.Set("q", l.query.Key)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Del(pairs[i])
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return attemptsPath
	}
	return attemptsPath + "?" + v.Encode()
}

// from is the address of the list after a place; empty if there is none.
func (l attemptListing) from(c review.AttemptCursor) string {
	if c == (review.AttemptCursor{}) {
		return ""
	}
	return l.with("after", strings.Join([]string{strconv.FormatInt(c.At.UnixMicro(), 36), strconv.FormatInt(c.ItemID, 36), strconv.FormatInt(int64(c.Number), 36)}, "."))
}

// attemptFilter is the form that narrows the list, and a chip for each condition that holds.
func (s *server) attemptFilter(ctx context.Context, by work.Actor, l attemptListing, systems []review.SystemState) (templates.Filter, error) {
	w := templates.Attempts
	automations, err := s.review.Automations(ctx, by)
	if err != nil {
		return templates.Filter{}, err
	}
	choices := map[string][]templates.Choice{"asked": {{Value: askedAnybody, Text: w.Value["asked/anybody"]}, {Value: askedMe, Text: w.Value["asked/me"]}}}
	askers, err := s.askers(ctx, by, systems)
	if err != nil {
		return templates.Filter{}, err
	}
	choices["asked"] = append(choices["asked"], askers...)
	for _, k := range review.AttemptKinds {
		choices["kind"] = append(choices["kind"], templates.Choice{Value: string(k), Text: w.Name[string(k)]})
	}
	for _, r := range attemptResults {
		choices["result"] = append(choices["result"], templates.Choice{Value: r, Text: w.Badge[r]})
	}
	for _, sys := range systems {
		choices["system"] = append(choices["system"], templates.Choice{Value: sys.ID, Text: text(sys.Name, 60)})
	}
	for _, a := range automations {
		choices["automation"] = append(choices["automation"], templates.Choice{Value: a, Text: text(a, 60)})
	}
	f := templates.Filter{Open: len(l.wrong) > 0 && !l.wrong.Has("after")}
	for _, c := range attemptConditions {
		value := orText(l.asked.Get(c.name), l.wrong.Get(c.name))
		field := templates.Field{Name: c.name, Label: say(w.Condition[c.name], "zone", s.Zone.String()), Value: value, Hint: w.Hint[c.name]}
		if any, chosen := w.Any[c.name]; chosen {
			field.Choices = append([]templates.Choice{{Text: any}}, choices[c.name]...)
		}
		shown := text(value, 80)
		if _, id, of := strings.Cut(shown, ":"); of && c.name == "asked" {
			shown = id
		}
		if i := slices.IndexFunc(choices[c.name], func(o templates.Choice) bool { return o.Value == value }); i >= 0 {
			shown = choices[c.name][i].Text
		} else if field.Choices != nil && l.asked.Get(c.name) != "" { // it holds, so it must not be lost
			field.Choices = append(field.Choices, templates.Choice{Value: value, Text: shown})
		}
		if l.asked.Get(c.name) != "" {
			f.Chips = append(f.Chips, templates.Link{Text: say(templates.Pick(w.Chip, c.name, ""), "label", w.Condition[c.name], "value", shown), Href: l.with(c.name, "")})
			f.WithSearch = append(f.WithSearch, templates.Field{Name: c.name, Value: value})
		}
		f.Fields = append(f.Fields, field)
	}
	if l.query.Key != "" {
		f.WithFilter = []templates.Field{{Name: "q", Value: l.query.Key}}
	}
	if len(f.Chips) > 0 {
		plain := l
		plain.asked = nil
		f.Clear = plain.address()
	}
	return f, nil
}

// askers are all who can have asked for an attempt, also those who could not any more. Whoever sees attempts sees their names.
func (s *server) askers(ctx context.Context, by work.Actor, systems []review.SystemState) ([]templates.Choice, error) {
	w := templates.Attempts.Value
	names, err := s.Auth.Names(ctx, by)
	if err != nil {
		return nil, err
	}
	var list []templates.Choice
	for _, a := range names {
		list = append(list, templates.Choice{Value: askedBy(a), Text: say(templates.Pick(w, "asked/"+string(a.Kind), "asked/person"), "name", text(a.Name, 60))})
	}
	for _, sys := range systems {
		list = append(list, templates.Choice{Value: askedBy(work.Actor{Kind: work.Automation, ID: "notice:" + sys.ID}), Text: say(w["asked/automation"], "name", text(sys.Name, 60))})
	}
	return append(list, templates.Choice{Value: askedBy(work.Actor{Kind: work.Console, ID: "console"}), Text: w["asked/console"]}), nil
}

// askedBy is how an address names who asked.
func askedBy(a work.Actor) string { return string(a.Kind) + ":" + a.ID }
