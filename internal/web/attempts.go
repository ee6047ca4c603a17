package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const (
	attemptsPath = "/attempts"

	furtherTime = 2 * time.Second // how long one wish to look further back goes on by itself
)

// attemptRoutes are the pages of what was exchanged with accounting systems.
func (s *server) attemptRoutes(r *router) {
	r.page(get, attemptsPath, readers, s.attemptsPage)
	r.page(get, attemptsPath+"/:id/:number", readers, s.attemptPage)
	r.add(get, attemptsPath+".csv", readers, bounds{importTime, formSize}, ownLinks(attemptsPath, s.attemptsCSV))
}

// attemptsPage lists the attempts of all items.
func (s *server) attemptsPage(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	l := attemptQuery(c.QueryParams(), by, s.Zone)
	if len(l.problems) == 0 && hasBlanks(c.QueryParams()) { // a form sends every field: the address to share has those that say something
		return c.Redirect(http.StatusSeeOther, l.address())
	}
	if c.QueryParam("further") != "" && len(l.problems) == 0 {
		after, err := s.review.AttemptsFurther(ctx, by, l.query, furtherTime)
		if err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, orText(l.from(after), l.address()))
	}
	shell, systems, err := s.shell(c, templates.Attempts.Title)
	if err != nil {
		return err
	}
	page, err := s.review.AttemptList(ctx, by, l.query)
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show, w := view{s.Zone, now}, templates.Attempts
	m := templates.AttemptList{Shell: shell, Query: l.query.Key, Problems: l.problems, Next: l.from(page.Next)}
	if m.Further = l.from(page.Further); m.Further != "" {
		m.Further += "&further=1"
	}
	if m.Filter, err = s.attemptFilter(ctx, by, l, systems); err != nil {
		return err
	}
	if page.How == review.HowNone || page.How != review.HowAll && len(page.Rows) > 0 {
		m.Understood = say(w.How[string(page.How)], "text", text(l.query.Key, 100))
	}
	later := l.query.After != review.AttemptCursor{}
	if later {
		m.First = l.address()
	}
	names := map[string]string{}
	for _, sys := range systems {
		names[sys.ID] = sys.Name
	}
	for _, r := range page.Rows {
		m.Rows = append(m.Rows, show.attemptRow(r, names, l))
	}
	if len(m.Rows) > 0 || m.Further != "" || later {
		m.Export = strings.Replace(l.address(), attemptsPath, attemptsPath+".csv", 1)
	}
	switch {
	case m.Further != "" && len(m.Rows) > 0:
		m.Looked = templates.Say(w.Looked, map[string]any{"at": show.second(page.Further.At)})
	case m.Further != "":
		m.Looked = templates.Say(w.LookedNone, map[string]any{"at": show.second(page.Further.At)})
		m.EmptyTitle = w.NoneTitle
	case len(m.Rows) > 0:
	case later:
		m.EmptyTitle, m.EmptyText = w.NoneTitle, w.NoOlder
	case page.How == review.HowNone: // said already
	case len(l.asked) > 0:
		m.EmptyTitle, m.EmptyText = w.NoneTitle, w.NoneSearched
	case l.query.Key != "":
		m.EmptyTitle, m.EmptyText = w.EmptyTitle, w.NoneOfKey[string(page.How)]
	default:
		m.EmptyTitle, m.EmptyText = w.EmptyTitle, w.Empty
	}
	return render(c, http.StatusOK, templates.AttemptsPage(m))
}

// second is the moment with its second; with the date if it is another one.
func (v view) second(t time.Time) templates.Stamp {
	s := v.clock(t)
	if s.ISO != "" {
		s.Text += t.In(v.zone).Format(":05")
	}
	return s
}

func attemptAddress(itemID int64, number int) string {
	return attemptsPath + "/" + strconv.FormatInt(itemID, 10) + "/" + strconv.Itoa(number)
}

// itemAtAttempt is the part of an item's page that shows the attempt.
func itemAtAttempt(itemID int64, number int) string {
	n := strconv.Itoa(number)
	return "/items/" + strconv.FormatInt(itemID, 10) + "?before=" + strconv.Itoa(number+1) + "#try-" + n
}

func (v view) attemptRow(r review.AttemptRow, systems map[string]string, l attemptListing) templates.AttemptRow {
	w, result, kind := templates.Attempts, review.ResultOf(r.Attempt), string(review.KindOf(r.Attempt))
	row := templates.AttemptRow{ID: strconv.FormatInt(r.ItemID, 10) + "-" + strconv.Itoa(r.Number), Version: result, Href: attemptAddress(r.ItemID, r.Number),
		Item: "/items/" + strconv.FormatInt(r.ItemID, 10), Key: text(r.BusinessKey, 80), Number: say(w.Fact["attempt"], "n", strconv.Itoa(r.Number)), Kind: w.Name[kind],
		At: v.second(r.StartedAt), Badge: attemptBadge(r.Attempt), Took: tookText(r.Attempt), System: text(orText(systems[r.SystemID], r.SystemID), 60), Error: sentence(text(r.Error, 120))}
	if len(r.Steps) > 1 {
		row.Step = stepName(r.Step)
	}
	if r.HTTPStatus != 0 {
		row.Status = strconv.Itoa(r.HTTPStatus)
	}
	if r.Node != "" {
		row.Node = templates.Link{Text: text(r.Node, 40), Href: l.with("node", r.Node)}
	}
	if r.AskedBy != "" {
		who, _, _ := strings.Cut(r.AskedBy, " ")
		row.Asked = templates.Link{Text: text(name(r.AskedBy), 60)}
		if askedLabel.MatchString(who) {
			row.Asked.Href = l.with("asked", who)
		}
	}
	return row
}

func attemptBadge(a work.Attempt) templates.Badge {
	w, result := templates.Attempts, review.ResultOf(a)
	return templates.Badge{Sign: w.Sign[result], Text: w.Badge[result], Tone: w.Tone[result]}
}

// took is how long a call took. It is not known while it is open, nor of a late answer and what a report held: their times are
// when it came, was made and was read.
func took(a work.Attempt) (d time.Duration, known bool) {
	k := review.KindOf(a)
	return a.EndedAt.Sub(a.StartedAt), !a.EndedAt.IsZero() && k != review.KindLate && k != review.KindReport
}

// tookText is how long a call took: "340 ms", "2.1 s", "1 min 5 s"; empty if that is not known.
func tookText(a work.Attempt) string {
	d, known := took(a)
	switch {
	case !known || d < 0:
		return ""
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " " + templates.Limits.Second
	}
	return durationText(d.Round(time.Second))
}

// attemptPage shows one attempt: what was exchanged, and what was concluded from it.
func (s *server) attemptPage(c echo.Context) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(c.Param("number"))
	if err != nil || number < 1 || number >= 1<<31-1 {
		return review.ErrNotFound
	}
	d, err := s.review.Attempt(c.Request().Context(), person(c), id, number)
	if err != nil {
		return err
	}
	w, a := templates.Attempts, d.Attempt
	result, kind := review.ResultOf(a), string(review.KindOf(a))
	m := templates.Attempt{ItemID: strconv.FormatInt(id, 10), Version: strconv.FormatInt(d.Item.Version, 10), Key: text(d.Item.BusinessKey, 200),
		Heading: say(w.One, "n", strconv.Itoa(a.Number), "kind", w.Name[kind]), Badge: attemptBadge(a), Error: sentence(text(a.Error, 2000)),
		Request: text(a.Request, 16<<10), Response: text(a.Response, 16<<10), Item: itemAtAttempt(id, number),
		OfItem: attemptsPath + "?" + url.Values{"q": {d.Item.BusinessKey}}.Encode()}
	if len(d.Item.Steps) > 1 {
		m.Heading += " · " + stepName(d.Item.Step)
	}
	show := view{s.Zone, d.Now}
	m.What = show.call(a, d.Detail)
	if a.AskedBy != "" {
		m.What = append(m.What, templates.Say(templates.Words.Send["asked"], map[string]any{"who": text(name(a.AskedBy), 60)})...)
	}
	m.Means = say(w.Judged[result], "system", d.System.Name)
	if more := w.Judged[kind]; more != "" {
		m.Means = say(more, "system", d.System.Name) + " " + m.Means
	}
	m.Facts = append(show.attemptFacts(d), s.traceFact(d)...)
	if m.NotKept = w.NotKept; d.Item.Finished() {
		m.NotKept = w.NotKeptLong
	}
	if d.Before > 0 {
		m.Before = attemptAddress(id, d.Before)
	}
	if d.After > 0 {
		m.After = attemptAddress(id, d.After)
	}
	if m.Shell, _, err = s.shell(c, say(w.Fact["attempt"], "n", strconv.Itoa(number))+" · "+text(d.Item.BusinessKey, 80)); err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.AttemptPage(m))
}

func (v view) attemptFacts(d review.AttemptDetail) []templates.Fact {
	a, w := d.Attempt, templates.Attempts.Fact
	var out []templates.Fact
	add := func(code, value string) {
		if value != "" {
			out = append(out, templates.Fact{Name: w[code], Value: text(value, 300)})
		}
	}
	at := func(code string, t time.Time) {
		if stamp := v.stamp(t); stamp.ISO != "" {
			stamp.Text = t.In(v.zone).Format("2 Jan 2006 15:04:05.000 MST")
			out = append(out, templates.Fact{Name: w[code], At: &stamp})
		}
	}
	at("began", a.StartedAt)
	at("ended", a.EndedAt)
	add("took", tookText(a))
	at("send_by", a.SendBy)
	out = append(out, templates.Fact{Name: templates.Attempts.System, Value: text(d.System.Name, 60)})
	add("node", a.Node)
	add("asked", orText(name(a.AskedBy), templates.Attempts.Nobody))
	if a.LateFor != 0 {
		add("late_for", say(w["attempt"], "n", strconv.Itoa(a.LateFor)))
	}
	if a.HTTPStatus != 0 {
		add("status", strconv.Itoa(a.HTTPStatus))
	}
	add("result", templates.Pick(templates.Attempts.Badge, review.ResultOf(a)))
	add("reference", a.Reference)
	add("key", a.Key)
	add("revision", strconv.Itoa(a.Revision))
	add("books", a.Identity)
	add("id", a.ExternalID)
	add("number", a.ExternalNo)
	if r, ok := work.ReadRecord(a.Record); ok && r.Total.CurrencyCode() != "" {
		add("seen", strings.TrimSpace(orText(r.Number, r.ID)+" · "+amount(r.Total)))
	}
	return out
}
