package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/work"
	"onefold/web/templates"
)

// actGroups are the acts that are looked for together. The page lists every act besides.
var actGroups = map[string][]string{
	"sign-in": {auth.DidSignIn, auth.DidSignInStart, auth.DidSignInFailed, auth.DidSecondStepFailed, auth.DidSignOut, auth.DidUseCode},
	"failed":  {auth.DidSignInFailed, auth.DidSecondStepFailed},
	"people": {auth.DidSetUp, auth.DidAddUser, auth.DidInvite, auth.DidDisable, auth.DidEnable, auth.DidRename, auth.DidChangeEmail, auth.DidChangeRoles, auth.DidMakeResetLink,
		auth.DidAcceptLink, auth.DidChangePassword, auth.DidEnrol, auth.DidRemoveSecondStep, auth.DidRenewCodes, auth.DidRequireStep, auth.DidLinkIdentity,
		auth.DidRevokeSession, auth.DidRevokeSessions},
	"tokens": {auth.DidCreateToken, auth.DidRevokeToken},
	"systems": {"automation_off", "automation_on", "automation_on_unproven", "caution", auth.DidPause, auth.DidResume, auth.DidChangePolicy, "look_first_on", "look_first_off", "system_added", "system_removed", "system_changed", "system_credentials", "account_connected", "account_reconnected", "account_disconnected",
		"sender_connected", "sender_secret_renewed", "sender_secret_ended", "sender_removed", "endpoint_connected", "endpoint_removed", "retention_changed"},
	"exports": {auth.DidExport},
	"items": {"item_check", "item_retry", "item_attest", "item_resolve", "item_close", "item_approve", "item_hold", "item_reopen", "item_correct",
		"item_assign", "item_note"},
	"plans": {"plan_created", "plan_imported", "plan_changed", "plan_paused", "plan_resumed", "plan_end", "plan_approved", "plan_agreed", "plan_left_out"},
}

var groupOrder = []string{"sign-in", "failed", "people", "tokens", "items", "plans", "systems", "exports"}

const dayFormat = "2006-01-02"

// trailPage shows who did what, for admins.
func (s *server) trailPage(c echo.Context) error {
	ctx, by, q := c.Request().Context(), person(c), c.QueryParams()
	shell, _, err := s.shell(c, templates.People.Trail)
	if err != nil {
		return err
	}
	m := templates.Trail{Shell: shell, Who: q.Get("who"), What: q.Get("what"), Object: text(q.Get("object"), 200), From: text(q.Get("from"), 20),
		To: text(q.Get("to"), 20), Text: text(q.Get("q"), 200), Acts: actChoices()}
	if m.People, err = s.actorChoices(ctx, by); err != nil {
		return err
	}
	f, problem := s.trailFilter(q)
	if problem != "" {
		m.Problem = problem
		return render(c, http.StatusUnprocessableEntity, templates.TrailPage(m))
	}
	after, ok := trailCursor(q.Get("after"))
	if !ok {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	f.After = after
	page, err := s.Auth.AuditPage(ctx, by, f)
	if err != nil {
		return err
	}
	show := view{s.Zone, s.Auth.Clock()}
	for _, r := range page.Records {
		m.Rows = append(m.Rows, show.trailRow(r))
	}
	keep := trailQuery(q)
	m.Filtered, m.Export = len(keep) > 0, "/audit.csv?"+keep.Encode()
	if after.Source != "" {
		m.First = "/audit?" + keep.Encode()
	}
	next := page.Next
	if next.Source == "" && page.Further.Source != "" {
		next, m.Looked = page.Further, templates.Say(templates.People.TrailLooked, map[string]any{"at": show.second(page.Further.At)})
		if len(m.Rows) == 0 {
			m.Looked = templates.Say(templates.People.TrailLookedNone, map[string]any{"at": show.second(page.Further.At)})
		}
	}
	if next.Source != "" {
		keep.Set("after", strconv.FormatInt(next.At.UnixNano(), 36)+"."+next.Source+"."+strconv.FormatInt(next.ID, 36))
		m.Next = "/audit?" + keep.Encode()
	}
	return render(c, http.StatusOK, templates.TrailPage(m))
}

// trailQuery is the part of the address that is the filter.
func trailQuery(q url.Values) url.Values {
	keep := url.Values{}
	for _, name := range []string{"who", "what", "object", "from", "to", "q"} {
		if v := strings.TrimSpace(q.Get(name)); v != "" {
			keep.Set(name, v)
		}
	}
	return keep
}

// trailFilter reads the filter. Days are those of the firm's zone, both included.
func (s *server) trailFilter(q url.Values) (f auth.AuditFilter, problem string) {
	f = auth.AuditFilter{CompanyID: s.CompanyID, Who: q.Get("who"), Object: strings.TrimSpace(text(q.Get("object"), 200)), Text: strings.TrimSpace(text(q.Get("q"), 200)), Limit: rowsOnPage}
	if group, is := strings.CutPrefix(q.Get("what"), "group:"); is {
		f.What = actGroups[group]
	} else if group != "" {
		f.What = []string{group}
	}
	day := func(name string) (t time.Time) {
		if v := q.Get(name); v != "" {
			var err error
			if t, err = time.ParseInLocation(dayFormat, v, s.Zone); err != nil {
				problem = templates.People.TrailDates
			}
		}
		return t
	}
	if f.From, f.To = day("from"), day("to"); !f.To.IsZero() {
		f.To = f.To.AddDate(0, 0, 1)
	}
	return f, problem
}

func trailCursor(s string) (auth.Cursor, bool) {
	if s == "" {
		return auth.Cursor{}, true
	}
	parts := strings.Split(s, ".")
	if len(parts) != 3 || !slices.Contains([]string{"act", "audit", "plan", "setting"}, parts[1]) {
		return auth.Cursor{}, false
	}
	ns, err1 := strconv.ParseInt(parts[0], 36, 64)
	id, err2 := strconv.ParseInt(parts[2], 36, 64)
	return auth.Cursor{At: time.Unix(0, ns).UTC(), Source: parts[1], ID: id}, err1 == nil && err2 == nil
}

func actChoices() []templates.Choice {
	w := templates.People
	out := []templates.Choice{{Text: w.Anything}}
	for _, g := range groupOrder {
		out = append(out, templates.Choice{Value: "group:" + g, Text: w.ActGroup[g]})
	}
	for _, code := range slices.SortedFunc(maps.Keys(w.Act), func(a, b string) int { return cmp.Compare(w.Act[a], w.Act[b]) }) {
		out = append(out, templates.Choice{Value: code, Text: "– " + w.Act[code]})
	}
	return out
}

// actorChoices are all who can have done something: people and API tokens.
func (s *server) actorChoices(ctx context.Context, by work.Actor) ([]templates.Choice, error) {
	users, err := s.Auth.Users(ctx, by)
	if err != nil {
		return nil, err
	}
	tokens, err := s.Auth.Tokens(ctx, by)
	if err != nil {
		return nil, err
	}
	out := []templates.Choice{{Text: templates.People.Anybody}}
	for _, u := range users {
		out = append(out, templates.Choice{Value: "person:" + u.Actor().ID, Text: text(u.Name, 60)})
	}
	for _, t := range tokens {
		out = append(out, templates.Choice{Value: "token:" + strconv.FormatInt(t.ID, 10), Text: templates.Say(templates.People.TokenCalled, map[string]any{"name": text(t.Name, 60)}).String()})
	}
	return out, nil
}

func (v view) trailRow(r auth.Record) templates.TrailRow {
	kind, rest, _ := strings.Cut(r.Object, ":")
	id, label, _ := strings.Cut(rest, " ")
	row := templates.TrailRow{At: v.exact(r.At), Who: text(orText(r.By.Name, templates.People.Nobody), 60), What: didText(r.What), Object: text(orText(label, r.Object), 200),
		Before: v.plain(r.Before), After: v.plain(r.After), Note: text(r.Note, 300), From: text(r.From.Address, 60), Agent: text(r.From.UserAgent, 200)}
	switch kind {
	case "item":
		row.Href = "/items/" + url.PathEscape(id)
	case "user":
		row.Href = "/people/" + url.PathEscape(id)
	case "system":
		row.Href, row.Object = systemPath(id), text(rest, 200)
	case "token":
		row.Href = "/tokens"
	case "plan":
		row.Href = plansPath + "/" + url.PathEscape(id)
		row.Before, row.After = planTrail(r)
		row.Before, row.After = text(row.Before, 300), text(row.After, 300)
	}
	return row
}

// didText is an act in words; one that has none is its code.
func didText(code string) string {
	return orText(templates.People.Act[code], strings.ReplaceAll(text(code, 60), "_", " "))
}

// plain is a value of the trail as people read it: small JSON as a list, a status in its words.
func (v view) plain(s string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(s), &fields) != nil {
		return text(orText(templates.Words.StatusName[s], s), 300)
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		values := []any{fields[k]}
		if list, is := fields[k].([]any); is {
			values = list
		}
		each := make([]string, len(values))
		for i, one := range values {
			each[i] = v.plainOne(k, fmt.Sprint(one))
		}
		value := strings.Join(each, ", ")
		if value == "" {
			value = templates.Limits.None
		}
		parts = append(parts, orText(templates.People.Field[k], strings.ReplaceAll(k, "_", " "))+": "+value)
	}
	return text(strings.Join(parts, "; "), 300)
}

// plainOne is a value of a field: a role or scope by its name, a moment in the zone of the page. Names that people gave stay
// as they are, also one that reads like a role.
func (v view) plainOne(field, s string) string {
	switch field {
	case "roles":
		return orText(templates.People.Role[s], s)
	case "scopes":
		return orText(templates.People.Scope[s], s)
	case "expires_at":
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return v.exact(at).Text
		}
	}
	return s
}
