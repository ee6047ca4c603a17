package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/web/templates"
)

// tokenDays are the lifetimes to choose from.
var tokenDays = []string{"30", "90", "365", "730"}

func (s *server) tokensPage(c echo.Context) error {
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	m := templates.Tokens{Day: "90"}
	if kept && f.Path == "/tokens" {
		m = typedToken(f.Fields)
		m.Notice = &templates.Notice{Say: templates.Say(templates.People.Restored, nil)}
	}
	return s.showTokens(c, http.StatusOK, m)
}

// typedToken is the form of a new token as it was filled in.
func typedToken(f url.Values) templates.Tokens {
	return templates.Tokens{Name: text(f.Get("name"), 200), Scopes: scopeTicks(scopesIn(f["scope"])), Day: text(f.Get("days"), 4), Limit: text(f.Get("per_minute"), 7)}
}

func (s *server) showTokens(c echo.Context, status int, m templates.Tokens) error {
	notice, w := m.Notice, templates.People
	var err error
	if m.Shell, _, err = s.shell(c, w.Tokens); err != nil {
		return err
	}
	list, err := s.Auth.Tokens(c.Request().Context(), person(c))
	if err != nil {
		return err
	}
	if m.Notice = notice; notice == nil && m.Problem == "" {
		m.Notice = didPeople(c)
	}
	if m.Scopes == nil {
		m.Scopes = scopeTicks(nil)
	}
	for _, d := range tokenDays {
		m.Days = append(m.Days, templates.Choice{Value: d, Text: w.Days[d]})
	}
	show := view{s.Zone, s.Auth.Clock()}
	for _, t := range list {
		m.Rows = append(m.Rows, show.tokenRow(t))
	}
	return render(c, status, templates.TokensPage(m))
}

func (v view) tokenRow(t auth.Token) templates.TokenRow {
	w := templates.People
	r := templates.TokenRow{Name: text(t.Name, 200), Begins: text(t.Prefix, 20) + templates.Words.Cut, By: text(name(t.CreatedBy), 60), Created: v.ago(t.CreatedAt),
		Expires: v.clock(t.ExpiresAt), Used: v.ago(t.LastUsedAt), From: text(t.LastUsedFrom, 60)}
	var scopes []string
	for _, sc := range t.Scopes {
		scopes = append(scopes, templates.Pick(w.Scope, string(sc)))
	}
	r.Scopes = strings.Join(scopes, ", ")
	if t.LastUsedAt.IsZero() {
		r.Never = w.NotUsed
	}
	switch {
	case t.Works(v.now):
		r.Badge = templates.Badge{Sign: "✓", Tone: "good", Text: w.TokenState["works"]}
		r.Revoke = "/tokens/" + strconv.FormatInt(t.ID, 10) + "/revoke"
	case !t.RevokedAt.IsZero():
		r.Badge = templates.Badge{Sign: "×", Tone: "quiet", Text: w.TokenState["revoked"]}
	default:
		r.Badge = templates.Badge{Sign: "×", Tone: "wait", Text: w.TokenState["expired"]}
	}
	return r
}

func scopeTicks(on []auth.Scope) []templates.Tick {
	var out []templates.Tick
	for _, sc := range auth.Scopes {
		out = append(out, templates.Tick{Value: string(sc), Text: templates.People.Scope[string(sc)], Help: templates.People.ScopeHelp[string(sc)], On: slices.Contains(on, sc)})
	}
	return out
}

func scopesIn(values []string) []auth.Scope {
	scopes := make([]auth.Scope, len(values))
	for i, v := range values {
		scopes[i] = auth.Scope(v)
	}
	return scopes
}

// createToken makes a token and shows it, this once.
func (s *server) createToken(c echo.Context) error {
	w, f := templates.People, c.Request().PostForm
	m := typedToken(f)
	days, _ := strconv.Atoi(m.Day) // none: refused below
	limit, err := 0, error(nil)
	if m.Limit = strings.TrimSpace(m.Limit); m.Limit != "" {
		limit, err = strconv.Atoi(m.Limit)
	}
	if err != nil {
		m.Problem = w.BadInput["per_minute"]
		return s.showTokens(c, http.StatusUnprocessableEntity, m)
	}
	t, secret, err := s.Auth.CreateToken(c.Request().Context(), person(c), origin(c), auth.NewToken{Name: f.Get("name"), Scopes: scopesIn(f["scope"]),
		Lasts: time.Duration(days) * 24 * time.Hour, PerMinute: limit})
	if m.Problem = badInput(err, "token"); m.Problem != "" {
		return s.showTokens(c, http.StatusUnprocessableEntity, m)
	}
	if err != nil {
		return err
	}
	return s.showTokens(c, http.StatusOK, templates.Tokens{Day: "90", Secret: &templates.NewSecret{Value: secret,
		Say: templates.Say(w.TokenSecret, map[string]any{"name": text(t.Name, 200)})}})
}

func (s *server) revokeToken(c echo.Context) error {
	id, err := pathID(c, "id")
	if err == nil {
		err = s.Auth.RevokeToken(c.Request().Context(), person(c), origin(c), id)
	}
	return backTo(c, err, "/tokens?did=revoked")
}
