package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const (
	rowsOnPage   = 50
	groupsOnPage = 100
	countedRows  = 10_000 // how far the rows of a filtered list are counted
	countedFound = 200    // likewise of a search
)

// list shows one tab, what a search found, or both narrowed by a filter; as rows or grouped by error.
func (s *server) list(c echo.Context) error {
	now, err := s.review.Now(c.Request().Context())
	if err != nil {
		return err
	}
	l := listQuery(c.QueryParams(), person(c), now)
	if len(l.problems) == 0 && hasBlanks(c.QueryParams()) { // a form sends every field: the address to share has those that say something
		return c.Redirect(http.StatusSeeOther, l.address())
	}
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	typed := templates.Views{}
	if kept && f.Path == "/views" {
		typed = templates.Views{Open: true, Name: text(f.Fields.Get("name"), review.MaxReference), Shared: f.Fields.Get("shared") != "", Problem: templates.People.Restored}
	}
	return s.showList(c, http.StatusOK, l, typed)
}

func hasBlanks(v map[string][]string) bool {
	for _, values := range v {
		if slices.Contains(values, "") {
			return true
		}
	}
	return false
}

// showList shows the list. typed is what somebody typed into the form for views and was refused.
func (s *server) showList(c echo.Context, status int, l listing, typed templates.Views) error {
	ctx, by := c.Request().Context(), person(c)
	counting := s.count(ctx, by)
	shell, systems, err := s.shell(c, templates.Words.Invoices)
	if err != nil {
		return err
	}
	if did, ok := templates.Lists.Did[c.QueryParam("did")]; ok {
		shell.Notice = &templates.Notice{Good: true, Say: templates.Say(did, nil)}
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show := view{s.Zone, now}
	known := map[string]work.System{}
	for _, sys := range systems {
		known[sys.ID] = sys.System
	}
	m := templates.List{Shell: shell, Tab: string(l.query.Tab), Query: l.query.Text, Problems: l.problems}
	if m.Filter, err = s.filterForm(ctx, by, l, systems); err != nil {
		return err
	}
	if m.Views, err = s.views(ctx, by, l, typed); err != nil {
		return err
	}
	var t total
	if l.grouped {
		t, err = s.fillGroups(ctx, by, l, show, known, counting, &m)
	} else {
		t, err = s.fillRows(ctx, by, l, show, known, counting, &m)
	}
	if err != nil {
		return err
	}
	counts, err := counting()
	if err != nil {
		return err
	}
	m.Tabs = tabLinks(l, counts)
	if len(m.Rows) > 0 || m.Groups != nil {
		m.Total = t.text()
		for _, format := range exportFormats {
			v := l.values()
			v.Del("group")
			m.Exports = append(m.Exports, templates.Link{Text: templates.Lists.Formats[format], Href: "/export." + format + "?" + v.Encode()})
		}
	} else {
		emptyList(&m, l)
		if l.plain() && counts[review.TabAll] == 0 {
			beginList(&m, len(systems) > 0, by)
		}
	}
	return render(c, status, templates.ListPage(m))
}

func (s *server) fillRows(ctx context.Context, by work.Actor, l listing, show view, known map[string]work.System, counting counting, m *templates.List) (total, error) {
	page, err := s.review.Search(ctx, by, l.query)
	if err != nil {
		return total{}, err
	}
	if l.query.Text != "" && page.How != review.HowAll {
		how := string(page.How)
		if page.How == review.HowNone && (len(l.asked) > 0 || l.query.Tab != review.TabAll) { // it may be elsewhere
			how += "/here"
		}
		m.Understood = templates.Say(templates.Lists.How[how], map[string]any{"text": text(l.query.Text, 100)}).String()
	}
	first := l.query.After == review.Cursor{}
	if !first {
		m.First = l.address()
	}
	if page.Next != (review.Cursor{}) {
		m.Next = l.from(page.Next)
	}
	t := total{n: int64(len(page.Items))}
	if !first || m.Next != "" {
		if t, err = s.total(ctx, by, l, counting); err != nil {
			return t, err
		}
	}
	acts := mayAct(by) && len(page.Items) > 0
	if acts {
		m.Ticks = &templates.TickForm{Address: l.address(), Ticked: templates.Lists.Ticked, All: t.say(templates.Lists.All, templates.Lists.AllOne, templates.Lists.AllMany)}
	}
	for _, it := range page.Items {
		r := show.row(it, known[it.SystemID], !sameStatus[l.query.Tab])
		if acts {
			r.Tick = templates.Say(templates.Lists.Tick, map[string]any{"key": r.Key}).String()
		}
		m.Rows = append(m.Rows, r)
	}
	if l.query.Tab == review.TabReview && (m.Next != "" || m.First != "") {
		m.Group = &templates.Link{Text: templates.Lists.ByError, Href: l.with("group", groupByError)}
	}
	return t, nil
}

// sameStatus are the tabs whose rows all have the same status: they need not say so.
var sameStatus = map[review.Tab]bool{review.TabReview: true, review.TabClosed: true}

// mayAct reports whether the person is offered to do something with rows. What is done asks again.
func mayAct(by work.Actor) bool { return by.Can(work.Operator, work.Admin) }

// counting waits for the counts of the tabs.
type counting func() (map[review.Tab]int64, error)

// count counts beside the reading of the rows: with very many open items it takes longer than they do.
func (s *server) count(ctx context.Context, by work.Actor) counting {
	var counts map[review.Tab]int64
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		counts, err = s.review.Counts(ctx, by)
	}()
	return func() (map[review.Tab]int64, error) {
		<-done
		return counts, err
	}
}

// total is how many rows a list has.
type total struct {
	n    int64
	more bool // that many and more
}

// total counts the rows of the whole list.
func (s *server) total(ctx context.Context, by work.Actor, l listing, counting counting) (total, error) {
	if !l.filtered() {
		counts, err := counting()
		return total{n: counts[l.query.Tab]}, err
	}
	q := l.query
	q.After = review.Cursor{}
	most := int64(countedRows)
	if strings.TrimSpace(q.Text) != "" {
		most = countedFound
	}
	n, err := s.review.Count(ctx, by, q, most+1)
	return total{min(n, most), n > most}, err
}

func (t total) text() string {
	w := templates.Lists
	return t.say(w.Matches, w.MatchesOne, w.MatchesMany)
}

func (t total) say(many, one, more string) string {
	pattern := many
	switch {
	case t.more:
		pattern = more
	case t.n == 1:
		pattern = one
	}
	return templates.Say(pattern, map[string]any{"n": thousands(t.n)}).String()
}

// tabLinks lead to the other tabs, with the search and those conditions that make sense there.
func tabLinks(l listing, counts map[review.Tab]int64) []templates.Tab {
	var out []templates.Tab
	for _, t := range tabs {
		out = append(out, templates.Tab{Code: string(t), Count: thousands(counts[t]), Link: templates.Link{Text: templates.Words.Tab[string(t)],
			Here: t == l.query.Tab, Href: l.with("tab", string(t), "status", "", "reason", "", "error", "", "group", "")}})
	}
	return out
}

// emptyList says that all is well, or why nothing is shown.
func emptyList(m *templates.List, l listing) {
	w, key := templates.Lists, ""
	switch {
	case l.query.After != review.Cursor{}:
		key = "later"
	case len(l.asked) > 0:
		key = "filter"
	case l.query.Text != "":
		key = "search"
	default:
		m.EmptyTitle, m.EmptyText = templates.Words.TabEmptyTitle[string(l.query.Tab)], templates.Words.TabEmpty[string(l.query.Tab)]
		return
	}
	m.EmptyTitle, m.EmptyText = w.EmptyTitle[key], w.Empty[key]
	everywhere := listing{query: review.Query{Text: l.query.Text, Tab: review.TabAll}}
	switch {
	case key == "later":
	case l.query.Text != "" && (len(l.asked) > 0 || l.query.Tab != review.TabAll):
		m.Elsewhere = &templates.Link{Text: w.SearchEverywhere, Href: everywhere.address()}
	case len(l.asked) > 0:
		m.Elsewhere = &templates.Link{Text: w.WithoutFilter, Href: m.Filter.Clear}
	}
}

// plain reports whether the list is what a tab shows by itself.
func (l listing) plain() bool {
	return l.query.After == review.Cursor{} && len(l.asked) == 0 && l.query.Text == ""
}

// beginList says how to begin where nothing was ever recorded.
func beginList(m *templates.List, connected bool, by work.Actor) {
	w, key := templates.Lists, "connect"
	way := templates.Link{Text: templates.SystemWords.Connect, Href: "/systems/new"}
	switch {
	case connected && review.MayRecord(by):
		key, way = "record", templates.Link{Text: templates.Words.Import, Href: "/import"}
	case connected:
		return
	case !automation.MayConnect(by):
		key = "wait"
	}
	m.EmptyTitle, m.EmptyText, m.Begin = w.EmptyTitle[key], w.Empty[key], &way
	if key == "wait" {
		m.Begin = nil
	}
}

// thousands is a count as people read it: 12,345.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
