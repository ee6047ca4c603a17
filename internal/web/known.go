package web

import (
	"slices"
	"strconv"
	"strings"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// values are what the patterns about an item may name.
func (v view) values(it work.Item, system string) map[string]any {
	return map[string]any{
		"system": system, "due": v.ahead(it.DueAt), "since": v.clock(it.OpenSince), "at": v.clock(it.ChangedAt),
		"ref": text(record(it), 80), "who": name(it.Evidence), "step": stepName(it.Step), "n": strconv.Itoa(work.MinAttestation),
	}
}

// stepsAfter names the steps of the invoice that follow the item's own.
func stepsAfter(it work.Item) string {
	var names []string
	for _, step := range it.Steps[slices.Index(it.Steps, it.Step)+1:] {
		names = append(names, stepName(step))
	}
	return strings.Join(names, ", ")
}

// record is what the record outside is called: its number, else its id, of the one we know or at least saw.
func record(it work.Item) string {
	for _, s := range []string{it.ExternalNumber, it.ExternalID, it.SeenNumber, it.SeenID} {
		if s != "" {
			return s
		}
	}
	return ""
}

// variants are the codes under which the wording for the item's state may be found, the most special first.
func (v view) variants(it work.Item, r work.Rules) []string {
	s := string(it.Status)
	codes := []string{s + "/" + string(it.OpenKind)}
	switch it.Evidence {
	case "answer", "lookup", "report":
		codes = append(codes, s+"/"+it.Evidence)
	case "late answer":
		codes = append(codes, s+"/late")
	}
	if r.NoSends {
		codes = append(codes, s+"/stopped")
	}
	if !r.Capabilities.Searchable {
		codes = append(codes, s+"/send")
	}
	if it.Sends > 0 {
		codes = append(codes, s+"/again")
	}
	if !it.DueAt.After(v.now) {
		codes = append(codes, s+"/soon")
	}
	return append(codes, s)
}

// known says in a few sentences what we know about the item and how we know it.
func (v view) known(d review.Detail) []templates.Sentence {
	w, it := templates.Words, d.Item
	rules := d.System.RulesFor(d.Item.Automation)
	vals := v.values(it, d.System.Name)
	if who := decidedBy(d); who != "" {
		vals["who"] = who
	}
	pattern := templates.Pick(w.StatusSays, v.variants(it, rules)...)
	if reason, ok := w.Reasons[string(it.Reason)]; ok && it.Status == work.Review {
		pattern = reason
	}
	late := it.Status == work.Review && it.Reason == work.ReasonMismatch && it.Proposed > 0
	if late {
		pattern = w.Reasons["mismatch/correction"]
	}
	if it.Status == work.Review && it.Reason == work.ReasonCannotLookUp && it.Sends == 0 { // look-first handed it over
		pattern = w.Reasons["cannot_look_up/unseen"]
	}
	out := []templates.Sentence{templates.Say(pattern, vals)}
	if since := unknownSince(it); !since.IsZero() && it.Status != work.Review {
		out = append(out, templates.Say(templates.ItemWords.UnknownSince, map[string]any{"at": v.clock(since)}))
	}
	if trace := v.trace(d); len(trace) > 0 {
		out = append(out, trace)
	}
	more := func(code string, extra map[string]any) {
		for k, val := range vals {
			if _, ok := extra[k]; !ok {
				extra[k] = val
			}
		}
		if p, ok := w.StatusSays[code]; ok {
			out = append(out, templates.Say(p, extra))
		}
	}
	if seen := orText(it.SeenNumber, it.SeenID); seen != "" && !it.Status.Done() {
		more("seen", map[string]any{"ref": text(seen, 80)})
	}
	if it.Remark != "" {
		more("remark", map[string]any{"text": text(it.Remark, 200)})
	}
	if !it.AbsentAt.IsZero() && it.AbsentBy == "lookup" {
		more("absent/lookup", map[string]any{"at": v.clock(it.AbsentAt)})
	}
	if it.LookAsked != "" {
		more("asked", map[string]any{"who": name(it.LookAsked)})
	}
	if it.Proposed > 0 && !late {
		more("proposed", map[string]any{})
	}
	more("last_look/"+string(it.LastLook), map[string]any{})
	if it.Overdue(v.now) {
		more("overdue", map[string]any{"at": v.clock(it.SettleBy)})
	}
	return out
}

// decidedBy is the person who settled the item.
func decidedBy(d review.Detail) string {
	for _, a := range d.Acts {
		if a.To == d.Item.Status && a.From != a.To {
			return a.By.Name
		}
	}
	return ""
}

// longestTrace is how many phrases the summary has; the rest is in the list below it.
const longestTrace = 4

// trace tells the newest attempts in time order, from the last send on: "Sent 10:02, no answer came. Looked in Books
// 10:05 and 10:12: not there."
func (v view) trace(d review.Detail) templates.Sentence {
	type phrase struct {
		a     work.Attempt
		times []templates.Stamp
	}
	var newestFirst []phrase
	told := 0
	for _, a := range d.Attempts {
		if a.EndedAt.IsZero() { // under way: the status says so
			told++
			continue
		}
		if n := len(newestFirst); n > 0 && a.Kind == work.Find && newestFirst[n-1].a.Kind == work.Find && newestFirst[n-1].a.Finding == a.Finding {
			last := &newestFirst[n-1]
			last.times = append([]templates.Stamp{v.clock(a.StartedAt)}, last.times...)
		} else {
			if n == longestTrace || n > 0 && newestFirst[n-1].a.Kind == work.Send {
				break
			}
			newestFirst = append(newestFirst, phrase{a, []templates.Stamp{v.clock(a.StartedAt)}})
		}
		told++
	}
	w := templates.Words
	var s templates.Sentence
	for i := len(newestFirst) - 1; i >= 0; i-- {
		p := newestFirst[i]
		looks, many := len(p.times), ""
		if looks > longestTimes { // the first and the newest tell enough
			many = "/many"
			p.times = append(p.times[:1:1], p.times[len(p.times)-longestTimes+1:]...)
		}
		vals := map[string]any{"at": p.times[0], "times": w.List(p.times), "n": strconv.Itoa(looks), "system": d.System.Name, "ref": text(orText(p.a.ExternalNo, p.a.ExternalID), 80)}
		pattern := templates.Pick(w.FindShort, string(p.a.Finding)+many, string(p.a.Finding))
		if p.a.Kind == work.Send {
			pattern = w.SendShort[string(p.a.Outcome)]
			if p.a.Outcome == work.Unknown && p.a.HTTPStatus != 0 {
				pattern = w.SendShort["unknown/status"]
			}
		}
		if len(s) > 0 {
			s = append(s, templates.Part{Text: " "})
		}
		s = append(s, templates.Say(pattern, vals)...)
	}
	if rest := d.Item.Attempts - told; rest > 0 && len(s) > 0 {
		s = append(s, templates.Part{Text: " "})
		s = append(s, templates.Say(w.StatusSays["earlier"], map[string]any{"n": strconv.Itoa(rest)})...)
	}
	return s
}

const longestTimes = 6

// badge is the item's status in words.
func (v view) badge(it work.Item, who string) templates.Badge {
	w, s := templates.Words, string(it.Status)
	t := templates.Pick(w.StatusName, s+"/"+string(it.OpenKind), s)
	if by, ok := w.StatusName[s+"/by"]; ok && who != "" {
		t = templates.Say(by, map[string]any{"who": who}).String()
	}
	return templates.Badge{Sign: w.Sign[s], Tone: w.Tone[s], Text: t}
}

func (v view) overdue(it work.Item) string {
	if !it.Overdue(v.now) {
		return ""
	}
	return templates.Words.Overdue
}

func stepName(step string) string {
	return orText(templates.Words.Step[step], text(step, 40))
}
