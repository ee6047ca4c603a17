package web

import (
	"context"
	"strconv"
	"strings"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// worthSeeing is how many items have the same trouble before the page speaks of one thing.
const worthSeeing = 10

// fillGroups shows the list by its troubles: an outage looks like one thing.
func (s *server) fillGroups(ctx context.Context, by work.Actor, l listing, show view, known map[string]work.System, counting counting, m *templates.List) (total, error) {
	found, err := s.review.Groups(ctx, by, l.query, groupsOnPage+1)
	if err != nil {
		return total{}, err
	}
	m.Group = &templates.Link{Text: templates.Lists.ByItem, Href: l.with("group", "")}
	if len(found) == 0 {
		return total{}, nil
	}
	t, err := s.total(ctx, by, l, counting)
	if err != nil {
		return t, err
	}
	g := &templates.Groups{More: len(found) > groupsOnPage}
	for _, one := range found[:min(len(found), groupsOnPage)] {
		g.Rows = append(g.Rows, show.group(one, known[one.SystemID], l, t))
	}
	if largest := found[0]; len(found) > 1 && largest.Count >= worthSeeing && !t.more && largest.Count*2 > t.n {
		g.Say = templates.Say(templates.Lists.GroupSays, map[string]any{"n": thousands(largest.Count), "all": thousands(t.n), "system": g.Rows[0].System}).String()
	}
	m.Groups = g
	return t, nil
}

// group is one trouble; its link leads to the rows that have it.
func (v view) group(g review.Group, sys work.System, l listing, t total) templates.GroupRow {
	w := templates.Lists
	r := templates.GroupRow{Href: l.with("group", "", "system", g.SystemID, "reason", string(g.Reason), "error", orText(g.ErrorKind, review.NoErrorKind)),
		System: text(orText(sys.Name, g.SystemID), 60), Why: orText(w.Reason[string(g.Reason)], w.Other), Error: sentence(strings.ReplaceAll(text(g.ErrorKind, longestError), "#", "…")),
		Count: thousands(g.Count), Oldest: v.ago(g.Oldest), Newest: v.ago(g.Newest), Share: "1"}
	if t.n > 0 {
		r.Share = strconv.FormatInt(min(max(g.Count*100/t.n, 1), 100), 10)
	}
	return r
}
