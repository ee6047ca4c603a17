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
	before, _ := strconv.Atoi(c.QueryParam("before"))
	d, err := s.review.Detail(c.Request().Context(), person(c), id, max(before, 0))
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
	if shell.Notice = t.notice; shell.Notice == nil {
		shell.Notice = show.did(c.QueryParam("did"), person(c), d)
	}
	m := show.item(d, person(c), before > 0)
	m.Shell = shell
	show.offers(&m, d, person(c), t)
	return render(c, status, templates.ItemPage(m))
}

// did says what an action did, as it stands in the history: the same for the first post of a form and for its repeats.
func (v view) did(what string, by work.Actor, d review.Detail) *templates.Notice {
	for _, a := range d.Acts {
		if a.What == what && a.By.Same(by) {
			return &templates.Notice{Good: true, Say: templates.Say(templates.Words.Did[what], map[string]any{"at": v.clock(a.At), "system": d.System.Name})}
		}
	}
	return nil
}

func (v view) item(d review.Detail, by work.Actor, older bool) templates.Item {
	it, w := d.Item, templates.Words
	who := name(it.Evidence)
	if it.Status != work.Resolved {
		who = decidedBy(d)
	}
	m := templates.Item{Key: text(it.BusinessKey, 200), Customer: customer(it), Amount: amount(it.Invoice.Total), Badge: v.badge(it, text(who, 60)),
		Overdue: v.overdue(it), Error: sentence(text(it.LastError, 300)), AssignedTo: text(it.AssignedTo, 60),
		Version: strconv.FormatInt(it.Version, 10), SeenAt: d.Now.UTC().Format(time.RFC3339Nano)}
	if !older {
		m.Known = v.known(d)
	} else {
		m.Newest = "/items/" + strconv.FormatInt(it.ID, 10)
		m.Known = v.known(review.Detail{Item: it, System: d.System, Acts: d.Acts, Now: d.Now})
	}
	if d.Older {
		m.Older = "?before=" + strconv.Itoa(d.Attempts[len(d.Attempts)-1].Number)
	}
	for i := len(d.Attempts) - 1; i >= 0; i-- { // time order
		m.Attempts = append(m.Attempts, v.attempt(d.Attempts[i], d.System.Name))
	}
	for _, a := range d.Acts {
		vals := map[string]any{"who": text(a.By.Name, 60), "at": v.clock(a.At), "ref": text(a.Detail, 200)}
		code := a.What
		if a.What == string(review.Assign) && a.Detail == "" {
			code = "assign/nobody"
		}
		m.Acts = append(m.Acts, templates.Act{Say: templates.Say(templates.Pick(w.Decision, code), vals), Note: text(a.Note, review.MaxNote)})
	}
	m.Steps = v.steps(d)
	m.Facts = v.facts(d)
	for _, l := range it.Invoice.Lines {
		m.Lines = append(m.Lines, templates.Line{Description: text(l.Description, 300), Quantity: text(l.Quantity, 30), Price: price(l.UnitPrice, it.Invoice.Total.CurrencyCode())})
	}
	return m
}

// attempt tells one call in finance's words; what went over the wire is one click away.
func (v view) attempt(a work.Attempt, system string) templates.Attempt {
	w := templates.Words
	pattern := w.Find[string(a.Finding)]
	if a.Kind == work.Send {
		pattern = w.Send[string(a.Outcome)]
	}
	vals := map[string]any{"at": v.clock(a.StartedAt), "system": system, "ref": text(orText(a.ExternalNo, a.ExternalID), 80),
		"n": strconv.Itoa(a.LateFor), "who": text(name(a.AskedBy), 60)}
	var say templates.Sentence
	if a.LateFor != 0 {
		say = templates.Say(w.Send["late"], vals)
	}
	say = append(say, templates.Say(pattern, vals)...)
	if a.AskedBy != "" {
		say = append(say, templates.Say(w.Send["asked"], vals)...)
	}
	meta := templates.Say(w.Try, map[string]any{"n": strconv.Itoa(a.Number), "reference": text(a.Reference, 200)}).String()
	if a.HTTPStatus != 0 {
		meta += " · " + strconv.Itoa(a.HTTPStatus)
	}
	return templates.Attempt{Number: strconv.Itoa(a.Number), Say: say, Detail: sentence(text(a.Error, 300)), Meta: meta,
		Request: text(a.Request, 4000), Response: text(a.Response, 4000)}
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

// source puts where an item came from in words: "import:7" is import no. 7.
func source(s string) string {
	if n, found := strings.CutPrefix(s, "import:"); found {
		return templates.Say(templates.Words.Fact["import"], map[string]any{"n": n}).String()
	}
	return s
}
