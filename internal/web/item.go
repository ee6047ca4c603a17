package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// typed is what somebody typed into a form that was not honoured, to be shown again.
type typed struct {
	action  review.Action
	input   review.Input
	problem string
	notice  *templates.Notice
	kept    *auth.Form // it was sent after the session had ended
}

func (s *server) item(c echo.Context) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	f, there, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	t := typed{}
	if there {
		t = restored(f)
	}
	if t.action == review.Correct {
		return s.showCorrect(c, http.StatusOK, id, correction{fields: f.Fields, kept: &f})
	}
	return s.showItem(c, http.StatusOK, id, t)
}

func itemID(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, review.ErrNotFound
	}
	return id, nil
}

func (s *server) showItem(c echo.Context, status int, id int64, t typed) error {
	from := historyPlace(c)
	d, err := s.review.Detail(c.Request().Context(), person(c), id, from)
	if err != nil {
		return err
	}
	shell, _, err := s.shell(c, text(d.Item.BusinessKey, 80))
	if err != nil {
		return err
	}
	show := view{s.Zone, d.Now}
	if t.kept != nil {
		t.notice = show.notSent(t, d)
	}
	switch did := c.QueryParam("did"); {
	case t.notice != nil:
		shell.Notice = t.notice
	case did == holdAll:
		if shell.Notice, err = s.heldAll(c, d); err != nil {
			return err
		}
	default:
		shell.Notice = show.did(did, person(c), d)
	}
	m := show.item(d, person(c), from != review.Place{})
	m.Shell = shell
	show.offers(&m, d, person(c), t)
	if m.Assign != nil {
		if m.Colleagues, err = s.colleagues(c); err != nil {
			return err
		}
	}
	return render(c, status, templates.ItemPage(m))
}

// did says what an action did, as it stands in the history: the same for the first post of a form and for its repeats.
func (v view) did(what string, by work.Actor, d review.Detail) *templates.Notice {
	vals := map[string]any{"system": d.System.Name}
	event := review.Action(what).Event()
	if what == dropped {
		event = string(review.Correct)
	}
	for _, a := range d.Acts {
		if a.What != event || !a.By.Same(by) {
			continue
		}
		if review.Action(what) == review.Check {
			if back := checkBack(a, d); back != nil {
				return &templates.Notice{Good: true, Say: append(templates.Say(templates.Words.Did["check/back"], nil), v.call(*back, d)...)}
			}
		}
		vals["at"] = v.clock(a.At)
		return &templates.Notice{Good: true, Say: templates.Say(templates.Pick(templates.Words.Did, didCodes(what, d)...), vals)}
	}
	return nil
}

// checkBack is the look that a person's wish led to, if it is over; nil: not yet.
func checkBack(wish work.Act, d review.Detail) *work.Attempt {
	for i := range d.Attempts {
		a := &d.Attempts[i]
		if a.Kind == work.Find && a.AskedBy == wish.By.Label() && !a.EndedAt.IsZero() && !a.StartedAt.Before(wish.At.Truncate(time.Millisecond)) {
			return a
		}
	}
	return nil
}

func didCodes(what string, d review.Detail) []string {
	switch {
	case what == string(review.Correct) && d.Item.Proposed > 0:
		return []string{what + "/waits"}
	case what == string(review.Correct) && d.Item.Reason == work.ReasonApprovalRequired:
		return []string{what + "/approval"}
	}
	return []string{what}
}

func (v view) item(d review.Detail, by work.Actor, older bool) templates.Item {
	it := d.Item
	who := name(it.Evidence)
	if it.Status != work.Resolved {
		who = decidedBy(d)
	}
	m := templates.Item{ID: strconv.FormatInt(it.ID, 10), Key: text(it.BusinessKey, 200), Customer: customer(it), Amount: amount(it.Invoice.Total), Badge: v.badge(it, text(who, 60)),
		Overdue: v.overdue(it), Error: sentence(text(it.LastError, 300)), AssignedTo: text(it.AssignedTo, 60), Beside: v.beside(d, by),
		Version: strconv.FormatInt(it.Version, 10), SeenAt: d.Now.UTC().Format(time.RFC3339Nano)}
	if !older {
		m.Known = v.known(d)
		m.Compare = v.compare(d)
	} else {
		m.Newest = "/items/" + m.ID
		m.Known = v.known(review.Detail{Item: it, System: d.System, Acts: d.Acts, Now: d.Now})
	}
	if it.LookAsked != "" || it.OpenAttempt != 0 {
		m.LookAgain = "/items/" + m.ID
		if by.ID != "" && it.LookAsked == by.Label() {
			m.LookAgain += "?did=" + string(review.Check)
		}
	}
	m.Pruned = v.pruned(d.PrunedAt, d.Pruned)
	if d.Next != (review.Place{}) {
		m.Older = historyAddress(d.Next)
	}
	if len(d.Attempts) > 0 {
		m.Attempts = attemptsPath + "?" + url.Values{"q": {it.BusinessKey}}.Encode()
	}
	m.History = v.history(d)
	m.Steps = v.steps(d)
	m.Facts = v.facts(d)
	for i, l := range it.Invoice.Lines {
		if i == linesOnPage {
			m.MoreLines = templates.Say(templates.Words.Fact["more"], map[string]any{"n": strconv.Itoa(len(it.Invoice.Lines) - i)}).String()
			break
		}
		m.Lines = append(m.Lines, templates.Line{Description: text(l.Description, 300), Quantity: text(l.Quantity, 30), Price: price(l.UnitPrice, it.Invoice.Total.CurrencyCode())})
	}
	return m
}

// linesOnPage is how many lines of an invoice its page shows.
const linesOnPage = 100

// beside says which colleagues are at the item, so that two do not do one thing.
func (v view) beside(d review.Detail, by work.Actor) []templates.Sentence {
	w := templates.ItemWords
	var out []templates.Sentence
	if to := d.Item.AssignedTo; to != "" && to != by.Name && d.Item.Status.Open() {
		out = append(out, templates.Say(w.BesideAssigned, map[string]any{"who": text(to, 60)}))
	}
	if a := d.Colleague(by); a != nil {
		what := templates.Pick(templates.Words.Decision, "short/"+a.What, "short/")
		out = append(out, templates.Say(w.Beside, map[string]any{"who": text(a.By.Name, 60), "at": v.ago(a.At), "what": what}))
	}
	return out
}

// steps lists the whole chain of the document; what is not recorded yet has no status.
func (v view) steps(d review.Detail) []templates.Step {
	var out []templates.Step
	for _, step := range d.Item.Steps {
		s := templates.Step{Text: stepName(step)}
		for _, it := range d.Chain {
			if it.Step == step {
				b := v.badge(it, "")
				s.Badge, s.Ref, s.Here, s.Href = &b, text(orText(it.ExternalNumber, it.ExternalID), 80), it.ID == d.Item.ID, "/items/"+strconv.FormatInt(it.ID, 10)
			}
		}
		out = append(out, s)
	}
	return out
}

func (v view) facts(d review.Detail) []templates.Fact {
	it, w := d.Item, templates.Words.Fact
	var out []templates.Fact
	add := func(code, value string) {
		if value != "" {
			out = append(out, templates.Fact{Name: w[code], Value: text(value, 200)})
		}
	}
	add("system", d.System.Name)
	if u, err := url.Parse(it.ExternalURL); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		out = append(out, templates.Fact{Name: w["open"], Value: text(orText(it.ExternalNumber, it.ExternalID), 80), Href: u.String()})
	} else {
		add("number", it.ExternalNumber)
	}
	if it.ExternalID != it.ExternalNumber {
		add("id", it.ExternalID)
	}
	add("reference", it.Reference)
	add("customer_id", it.Invoice.CustomerID)
	add("issue_date", it.Invoice.IssueDate)
	add("due_date", it.Invoice.DueDate)
	add("note", it.Invoice.Note)
	add("books", it.Identity)
	at := v.ago(it.RecordedAt)
	out = append(out, templates.Fact{Name: w["recorded"], At: &at})
	add("recorded_by", it.RecordedBy.Name)
	add("source", source(it.Source))
	if it.Revision > 1 {
		add("revision", strconv.Itoa(it.Revision))
	}
	return out
}

// source puts where an item came from in words: "import:7" is import no. 7, "file:a.csv" is a.csv.
func source(s string) string {
	if n, found := strings.CutPrefix(s, "import:"); found {
		return templates.Say(templates.Words.Fact["import"], map[string]any{"n": n}).String()
	}
	return strings.TrimPrefix(s, "file:")
}
