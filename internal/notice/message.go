package notice

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"onefold/internal/work"
)

// Message is what a recipient is told, before it is made a mail or a chat message. All texts are one line and bounded.
type Message struct {
	Subject string `json:"subject"`
	Lead    string `json:"lead"`
	Lines   []Line `json:"lines,omitempty"`
	More    string `json:"more,omitempty"`
	Link    string `json:"link,omitempty"` // an absolute address; empty: none
	Open    string `json:"open,omitempty"` // what the link is called
	Foot    string `json:"foot,omitempty"` // why one is told and where to change it
}

// Line is one trouble with its address.
type Line struct {
	Text string `json:"text"`
	Note string `json:"note,omitempty"`
	Link string `json:"link,omitempty"`
}

// Words are the patterns of messages; {names} in them are filled in.
type Words struct {
	OneNew, ManyNew, OneWaits, ManyWait   string // subjects: {key}, {n}
	NewLead, NewLeadAll, WaitLead         string // {n}, {all}, {at}
	Line, LineError, Example, ExampleOf   string // {n}, {system}, {why}, {error}; {key}, {customer}, {amount}
	MoreGroups, OpenList, OpenSystems     string
	AlertOne, AlertMany, AlertLead        string // {system}, {n}
	OverOne, OverMany, OverLead, OverLine string
	TestSubject, TestLead                 string // {name}
	FootPerson, FootWebhook               string
	CauseSays                             map[string]string // subjects of alerts by cause; "" for others
	Why                                   map[string]string // by reason: "Refused"
	Errors                                map[string]string // what became of a try, in plain words
}

// Longest parts of a message, in characters.
const (
	maxSubject = 120
	maxKey     = 80
	maxName    = 80
	maxTrouble = 200
	maxAlert   = 300
)

// oneLine makes foreign text fit for any part of a message: valid, on one line, without control or direction marks, cut
// with a mark at a character's end. Addresses in it do not become links.
func oneLine(s string, longest int) string {
	if limit := longest * 8; len(s) > limit { // before the work: the text may be long
		s = strings.ToValidUTF8(s[:limit], "")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "://", ": //")
	if utf8.RuneCountInString(s) > longest {
		s = strings.TrimRight(string([]rune(s)[:longest]), " ") + "…"
	}
	return s
}

// fill puts values into a pattern, each once and as it is: a {name} inside a value is text.
func fill(pattern string, values map[string]string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(values[name])
		pattern = after
	}
}

// composer makes the messages of one round.
type composer struct {
	words   Words
	base    string // the address of the pages without a slash at its end
	systems map[string]work.System
	seen    map[string]Waiting // what was looked up in this round
}

func (c composer) link(path string) string {
	if c.base == "" {
		return ""
	}
	return c.base + path
}

func (c composer) system(id string) string {
	if s, ok := c.systems[id]; ok {
		return oneLine(s.Name, maxName)
	}
	if id == "" { // it is about our own servers
		return "Onefold"
	}
	return oneLine(id, maxName)
}

// listPath is the list of what waits, as pages take it.
func listPath(systems []string, assigned string, g *Group) string {
	v := url.Values{"tab": {"review"}}
	if len(systems) == 1 {
		v.Set("system", systems[0])
	}
	if assigned != "" {
		v.Set("assigned", "me")
	}
	if g != nil {
		v.Set("system", g.SystemID)
		v.Set("reason", string(g.Reason))
		if g.ErrorKind != "" {
			v.Set("error", g.ErrorKind)
		}
	}
	return "/?" + v.Encode()
}

// waiting is the message about items: new ones, of all that wait, or with new nil the reminder.
func (c composer) waiting(fresh *Waiting, all Waiting, f Filter, foot string) Message {
	w, shown := c.words, all
	subject, lead := w.ManyWait, w.WaitLead
	if fresh != nil {
		shown, subject, lead = *fresh, w.ManyNew, w.NewLead
		if all.Total > fresh.Total {
			lead = w.NewLeadAll
		}
	}
	values := map[string]string{"n": thousands(shown.Total), "all": thousands(all.Total)}
	m := Message{Link: c.link(listPath(f.Systems, f.Assigned, nil)), Open: w.OpenList, Foot: foot}
	if shown.Total == 1 && len(shown.Groups) == 1 {
		values["key"] = oneLine(shown.Groups[0].First.BusinessKey, maxKey)
		if subject = w.OneWaits; fresh != nil {
			subject = w.OneNew
		}
	}
	for _, g := range shown.Groups {
		m.Lines = append(m.Lines, c.line(g, f))
	}
	if shown.More > 0 {
		m.More = fill(w.MoreGroups, map[string]string{"n": thousands(shown.More)})
	}
	m.Subject, m.Lead = oneLine(fill(subject, values), maxSubject), fill(lead, values)
	return m
}

func (c composer) line(g Group, f Filter) Line {
	w, it := c.words, g.First
	pattern := w.Line
	if g.ErrorKind != "" {
		pattern = w.LineError
	}
	why := w.Why[string(g.Reason)]
	if why == "" {
		why = string(g.Reason)
	}
	l := Line{Link: c.link(listPath(nil, f.Assigned, &g)), Text: fill(pattern, map[string]string{"n": thousands(g.Count), "system": c.system(g.SystemID), "why": why,
		"error": oneLine(g.ErrorKind, maxTrouble)})}
	example := w.ExampleOf
	if g.Count == 1 {
		example, l.Link = w.Example, c.link("/items/"+strconv.FormatInt(it.ID, 10))
	}
	customer := it.Invoice.CustomerName
	if customer == "" {
		customer = it.Invoice.CustomerID
	}
	l.Note = fill(example, map[string]string{"key": oneLine(it.BusinessKey, maxKey), "customer": oneLine(customer, maxName),
		"amount": it.Invoice.Total.Number() + " " + it.Invoice.Total.CurrencyCode()})
	return l
}

// alerts is the message about systems that stand still, or that it is over.
func (c composer) alerts(list []AlertState, over bool, foot string) Message {
	w := c.words
	one, many, lead := w.AlertOne, w.AlertMany, w.AlertLead
	if over {
		one, many, lead = w.OverOne, w.OverMany, w.OverLead
	}
	m := Message{Lead: lead, Link: c.link("/systems"), Open: w.OpenSystems, Foot: foot}
	subject := many
	if len(list) == 1 {
		subject = one
	}
	says, ok := w.CauseSays[list[0].Cause]
	if !ok {
		says = w.CauseSays[""]
	}
	m.Subject = oneLine(fill(subject, map[string]string{"system": c.system(list[0].SystemID), "n": strconv.Itoa(len(list)), "says": says}), maxSubject)
	for i, a := range list {
		if i == GroupsInMessage {
			m.More = fill(w.MoreGroups, map[string]string{"n": strconv.Itoa(len(list) - i)})
			break
		}
		l := Line{Text: oneLine(a.Text, maxAlert), Link: c.link("/?" + url.Values{"tab": {"all"}, "overdue": {"1"}, "system": {a.SystemID}}.Encode())}
		if a.Cause != "overdue" {
			l.Link = c.link("/systems#system-" + url.PathEscape(a.SystemID))
		}
		if a.SystemID == "" { // about our own servers
			l.Link = c.link("/servers")
		}
		if over {
			l.Text = fill(w.OverLine, map[string]string{"text": l.Text})
		}
		m.Lines = append(m.Lines, l)
	}
	return m
}

// thousands is a count as people read it: 12,345.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
