package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const rowsOnPage = 50

var tabs = []review.Tab{review.TabReview, review.TabUnknown, review.TabWaiting, review.TabFinished, review.TabClosed, review.TabAll}

// list shows one tab, or what a search found.
func (s *server) list(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	q, ok := listQuery(c.QueryParams())
	if !ok {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	page, err := s.review.Search(ctx, by, q)
	if err != nil {
		return err
	}
	counts, err := s.review.Counts(ctx, by)
	if err != nil {
		return err
	}
	shell, systems, err := s.shell(c, templates.Words.Invoices)
	if err != nil {
		return err
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
	model := templates.List{Shell: shell, Tab: string(q.Tab), Query: q.Text, Status: string(q.Filter.Status), Statuses: statusChoices()}
	for _, t := range tabs {
		model.Tabs = append(model.Tabs, templates.Tab{Count: thousands(counts[t]), Link: templates.Link{
			Text: templates.Words.Tab[string(t)], Here: t == q.Tab, Href: listAddress(q.Text, t, "", review.Cursor{})}})
	}
	for _, it := range page.Items {
		model.Rows = append(model.Rows, show.row(it, known[it.SystemID]))
	}
	if q.Text != "" && page.How != review.HowAll {
		model.Understood = templates.Say(templates.Words.How[string(page.How)], map[string]any{"text": text(q.Text, 100)}).String()
	}
	if len(model.Rows) > 0 {
		model.Export = "/export.csv" + strings.TrimPrefix(listAddress(q.Text, q.Tab, q.Filter.Status, review.Cursor{}), "/")
	}
	model.EmptyTitle, model.EmptyText = emptyList(q)
	if q.After != (review.Cursor{}) {
		model.First = listAddress(q.Text, q.Tab, q.Filter.Status, review.Cursor{})
	}
	if page.Next != (review.Cursor{}) {
		model.Next = listAddress(q.Text, q.Tab, q.Filter.Status, page.Next)
	}
	return render(c, http.StatusOK, templates.ListPage(model))
}

// listQuery reads the address of a list. A search looks everywhere unless a tab is named: what somebody asks for by its
// key must not hide under another tab.
func listQuery(v url.Values) (review.Query, bool) {
	q := review.Query{Text: strings.TrimSpace(text(v.Get("q"), 300)), Tab: review.Tab(v.Get("tab")), Filter: review.Filter{Status: work.Status(v.Get("status"))}, Limit: rowsOnPage}
	if q.Tab == "" {
		q.Tab = review.TabReview
		if q.Text != "" || q.Filter.Status != "" {
			q.Tab = review.TabAll
		}
	}
	if !slices.Contains(tabs, q.Tab) || q.Filter.Status != "" && !slices.Contains(work.Statuses, q.Filter.Status) {
		return q, false
	}
	if after := v.Get("after"); after != "" {
		at, id, _ := strings.Cut(after, ".")
		ns, err1 := strconv.ParseInt(at, 36, 64)
		n, err2 := strconv.ParseInt(id, 36, 64)
		if err1 != nil || err2 != nil {
			return q, false
		}
		q.After = review.Cursor{At: time.Unix(0, ns).UTC(), ID: n}
	}
	return q, true
}

func listAddress(query string, tab review.Tab, status work.Status, after review.Cursor) string {
	v := url.Values{"tab": {string(tab)}}
	if query != "" {
		v.Set("q", query)
	}
	if status != "" {
		v.Set("status", string(status))
	}
	if after != (review.Cursor{}) {
		v.Set("after", strconv.FormatInt(after.At.UnixNano(), 36)+"."+strconv.FormatInt(after.ID, 36))
	}
	return "/?" + v.Encode()
}

func emptyList(q review.Query) (title, body string) {
	w, key := templates.Words, string(q.Tab)
	if q.Text != "" || q.Filter.Status != "" {
		key = "search"
	}
	return w.TabEmptyTitle[key], w.TabEmpty[key]
}

func statusChoices() []templates.Choice {
	all := []templates.Choice{{Text: templates.Words.AnyStatus}}
	for _, st := range work.Statuses {
		all = append(all, templates.Choice{Value: string(st), Text: templates.Words.StatusName[string(st)]})
	}
	return all
}

func (v view) row(it work.Item, sys work.System) templates.Row {
	r := templates.Row{Href: "/items/" + strconv.FormatInt(it.ID, 10), Key: text(it.BusinessKey, 200), Customer: customer(it),
		Amount: amountNumber(it.Invoice.Total), Currency: it.Invoice.Total.CurrencyCode(), Badge: v.badge(it, ""),
		Known: v.rowSays(it, sys), Overdue: v.overdue(it), Assigned: text(it.AssignedTo, 60), Changed: v.ago(it.ChangedAt)}
	if len(it.Steps) > 1 {
		r.Step = stepName(it.Step)
	}
	return r
}

func customer(it work.Item) string {
	return text(orText(it.Invoice.CustomerName, it.Invoice.CustomerID), 200)
}

// thousands is a count as people read it: 12,345.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
