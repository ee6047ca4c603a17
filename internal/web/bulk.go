package web

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const (
	bulkPath    = "/bulk"
	bulkNewPath = bulkPath + "/new"
	mostTicked  = 1000
)

// bulkChoice is what the address of the page chose: some items, or all of a list.
type bulkChoice struct {
	set   review.BulkSet
	list  string // address of the list; empty: not known
	query url.Values
}

// bulkTyped is what a person typed into the page and was not carried out.
type bulkTyped struct {
	plan    review.Plan
	input   review.Input
	problem string // code of its wording
	notice  string
}

// bulkChoice reads the page's address; the list is read as at the time.
func (s *server) bulkChoice(c echo.Context, at time.Time) (b bulkChoice, ok bool) {
	v := c.QueryParams()
	b.query = url.Values{}
	if address := v.Get("list"); address != "" {
		u, err := url.Parse(address)
		if err != nil || u.Host != "" || u.Scheme != "" || u.Path != "/" || len(address) > 8000 {
			return b, false
		}
		l := listQuery(u.Query(), person(c), at)
		b.list = l.address()
		b.query.Set("list", b.list)
		if v.Get("all") != "" {
			if len(l.problems) > 0 {
				return b, false
			}
			l.query.After = review.Cursor{}
			b.set.Query = &l.query
			b.query.Set("all", "1")
			return b, true
		}
	}
	if v.Get("all") != "" {
		return b, false
	}
	for _, item := range v["item"] {
		id, err := strconv.ParseInt(item, 10, 64)
		if err != nil || len(b.set.IDs) == mostTicked {
			return b, false
		}
		if !slices.Contains(b.set.IDs, id) {
			b.set.IDs = append(b.set.IDs, id)
			b.query.Add("item", item)
		}
	}
	return b, true
}

// bulkNewPage shows what the plans would do with the chosen items.
func (s *server) bulkNewPage(c echo.Context) error {
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	var t bulkTyped
	if kept {
		t = bulkTyped{plan: review.Plan(f.Fields.Get("plan")), notice: templates.People.NotSent}
		t.input = bulkInput(t.plan, f.Fields.Get)
	}
	return s.showBulkNew(c, http.StatusOK, t)
}

func bulkInput(p review.Plan, field func(string) string) review.Input {
	in := review.Input{}
	switch p {
	case review.PlanHold:
		in.Note = field("note_" + string(p))
	case review.PlanClose:
		in.Note, in.Why = field("note_"+string(p)), field("why")
	case review.PlanAssign:
		in.To = field("to")
	}
	return in
}

// bulkStart freezes what was chosen and begins the run.
func (s *server) bulkStart(c echo.Context) error {
	ctx, form := c.Request().Context(), c.Request().PostForm
	t := bulkTyped{plan: review.Plan(form.Get("plan"))}
	t.input = bulkInput(t.plan, form.Get)
	seen, err1 := time.Parse(time.RFC3339Nano, form.Get("seen"))
	previewed, err2 := strconv.ParseInt(form.Get("previewed"), 10, 64)
	items, err3 := tickedItems(form["ticked"], seen)
	choice, ok := s.bulkChoice(c, seen)
	if !ok || errors.Join(err1, err2, err3) != nil || form.Get("form") == "" {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	n := review.NewBulkRun{Form: form.Get("form") + "/" + string(t.plan), Plan: t.plan, Input: t.input, Items: items, Query: choice.set.Query, List: choice.list,
		How: review.How(form.Get("how")), Seen: seen, Previewed: previewed}
	err := error(nil)
	if t.plan == review.PlanAssign {
		err = s.checkColleague(c, t.input.To)
	}
	var run review.BulkRun
	var isNew bool
	if err == nil {
		run, isNew, err = s.bulk.Start(ctx, person(c), n)
	}
	if isNew {
		err = s.auditBulk(c, auth.DidStartBulk, run)
	}
	var refusal *work.Refusal
	switch {
	case err == nil:
		return c.Redirect(http.StatusSeeOther, bulkAddress(run.ID)+"?did=start")
	case errors.As(err, &refusal):
		t.problem = string(refusal.Code)
		return s.showBulkNew(c, http.StatusUnprocessableEntity, t)
	case errors.Is(err, review.ErrBulkMoved):
		t.problem = "moved"
		return s.showBulkNew(c, http.StatusConflict, t)
	case errors.Is(err, review.ErrBulkLarge), errors.Is(err, review.ErrBulkEmpty): // the page says so
		return s.showBulkNew(c, http.StatusConflict, t)
	case errors.Is(err, review.ErrBulkPlan):
		t.problem = "plan"
		return s.showBulkNew(c, http.StatusUnprocessableEntity, t)
	}
	return err
}

func tickedItems(fields []string, seen time.Time) ([]review.Seen, error) {
	items := make([]review.Seen, 0, len(fields))
	for _, f := range fields[:min(len(fields), mostTicked)] {
		id, version, _ := strings.Cut(f, ".")
		i, err1 := strconv.ParseInt(id, 10, 64)
		v, err2 := strconv.ParseInt(version, 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		items = append(items, review.Seen{ID: i, Version: v, At: seen})
	}
	return items, nil
}

func (s *server) showBulkNew(c echo.Context, status int, t bulkTyped) error {
	ctx, w := c.Request().Context(), templates.BulkWords
	shell, _, err := s.shell(c, w.Runs)
	if err != nil {
		return err
	}
	m := templates.BulkNew{Shell: shell, Title: w.Runs, RunsHref: bulkPath, Notice: t.notice}
	if t.problem == "moved" || t.problem == "plan" {
		m.Problem, t.problem = w.Problem[t.problem], ""
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	empty := func(code string) error {
		m.Empty = templates.Say(w.Empty[code], map[string]any{"n": thousands(review.MaxBulk)}).String()
		if status == http.StatusOK && code == "list" {
			status = http.StatusBadRequest
		}
		return render(c, status, templates.BulkNewPage(m))
	}
	choice, ok := s.bulkChoice(c, now)
	m.List = orText(choice.list, "/")
	if !ok {
		return empty("list")
	}
	p, err := s.bulk.Preview(ctx, person(c), choice.set)
	switch {
	case errors.Is(err, review.ErrBulkEmpty) && choice.set.Query == nil:
		return empty("none")
	case errors.Is(err, review.ErrBulkEmpty):
		return empty("all")
	case err != nil:
		return err
	case p.Size > review.MaxBulk:
		return empty("large")
	}
	m.Title, m.Say, m.Post = templates.Say(w.NewTitle, map[string]any{"n": thousands(p.Size)}).String(), w.Ticked, bulkNewPath+"?"+choice.query.Encode()
	if p.Size == 1 {
		m.Title = w.NewOne
	}
	if choice.set.Query != nil {
		m.Say = w.OfList
	}
	if p.Counted < p.Size {
		m.Counted = templates.Say(w.Counted, map[string]any{"n": thousands(p.Counted)}).String()
	}
	m.Hidden = []templates.Field{{Name: "form", Value: rand.Text()}, {Name: "seen", Value: p.Seen.Format(time.RFC3339Nano)}, {Name: "how", Value: string(p.How)},
		{Name: "previewed", Value: strconv.FormatInt(p.Size, 10)}}
	for _, it := range p.Items {
		m.Hidden = append(m.Hidden, templates.Field{Name: "ticked", Value: strconv.FormatInt(it.ID, 10) + "." + strconv.FormatInt(it.Version, 10)})
	}
	people, err := s.colleagues(c)
	if err != nil {
		return err
	}
	for _, plan := range review.Plans {
		m.Plans = append(m.Plans, bulkPlan(plan, p, people, t))
	}
	return render(c, status, templates.BulkNewPage(m))
}

// bulkPlan is one plan as it is offered.
func bulkPlan(plan review.Plan, p review.BulkPreview, people []templates.Choice, t bulkTyped) templates.BulkPlan {
	w, code, f := templates.BulkWords, string(plan), p.Plans[plan]
	size := thousands(p.Size)
	m := templates.BulkPlan{Code: code, Title: w.Plan[code], Say: w.PlanSay[code], Steps: w.PlanSteps[code], Nothing: f.Can == 0 && p.Counted == p.Size,
		Do: templates.Say(w.PlanDo[code], map[string]any{"n": size}).String(), MaxNote: strconv.Itoa(review.MaxNote)}
	looks := plan == review.PlanRepair || plan == review.PlanCheck
	can := w.Can
	switch {
	case f.Can == p.Counted && f.Can == 1:
		can = w.CanOne
	case f.Can == p.Counted && looks:
		can = w.LookAll
	case f.Can == p.Counted:
		can = w.CanAll
	case f.Can == 0:
		can = w.CanNone
	case looks:
		can = w.Look
	}
	m.Can = templates.Say(can, map[string]any{"n": thousands(f.Can), "all": thousands(p.Counted)}).String()
	for _, why := range byCount(f.Refused) {
		m.Cannot = append(m.Cannot, templates.Say(w.Cannot, map[string]any{"n": thousands(f.Refused[why]), "why": templates.Pick(w.Refused, string(why), "")}).String())
	}
	switch plan {
	case review.PlanAssign:
		m.People = people
	case review.PlanClose:
		m.NeedsNote, m.Reasons = true, []templates.Choice{{Text: w.WhyNone}}
		for _, why := range review.CloseReasons {
			m.Reasons = append(m.Reasons, templates.Choice{Value: why, Text: templates.ItemWords.CloseReason[why]})
		}
	case review.PlanHold:
		m.NeedsNote = true
	}
	if t.plan == plan {
		m.Open, m.Nothing, m.Note, m.Why, m.To = true, false, t.input.Note, t.input.Why, t.input.To // nothing typed is lost
		if t.problem != "" {
			m.Problem = templates.Pick(w.Problem, t.problem, "")
		}
	}
	return m
}

// byCount are the keys, the most frequent first.
func byCount[K cmp.Ordered](m map[K]int64) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	return keys
}

func bulkAddress(id int64) string { return bulkPath + "/" + strconv.FormatInt(id, 10) }

// auditBulk puts on record that a run was begun or stopped.
func (s *server) auditBulk(c echo.Context, what string, run review.BulkRun) error {
	return s.Auth.Audit(c.Request().Context(), auth.Entry{CompanyID: s.CompanyID, By: person(c), From: origin(c), What: what,
		Object: "bulk:" + strconv.FormatInt(run.ID, 10), Note: string(run.Plan)})
}
