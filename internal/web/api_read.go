package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
)

// apiItem answers GET /api/v1/items/{key}: the document's first unfinished step, with all its steps. Where two
// automations use the key, ?automation= says which is meant.
func (s *server) apiItem(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	key, err := url.PathUnescape(c.Param("*"))
	if err != nil || key == "" {
		return sendAPIError(c, http.StatusBadRequest, "invalid", "the address must end in the key, percent-encoded")
	}
	page, err := s.review.Search(ctx, by, review.Query{Text: key, Tab: review.TabAll, Limit: 200})
	if err != nil {
		return err
	}
	folded, automation := work.FoldKey(key), c.QueryParam("automation")
	found := slices.DeleteFunc(page.Items, func(it work.Item) bool {
		return work.FoldKey(it.BusinessKey) != folded || automation != "" && it.Automation != automation
	})
	switch {
	case len(found) == 0:
		return sendAPIError(c, http.StatusNotFound, "not_found", fmt.Sprintf("there is no item with the key %q", text(key, 200)))
	case len(found) > 1:
		return sendAPIError(c, http.StatusConflict, "ambiguous", fmt.Sprintf("more than one automation uses the key %q: name one with ?automation=", text(key, 200)))
	}
	chain, err := s.review.Chain(ctx, by, found[0])
	if err != nil {
		return err
	}
	out := toAPI(found[0])
	for _, it := range chain {
		out.Steps = append(out.Steps, apiStep{it.Step, string(it.Status), string(it.Reason), it.Attempts, it.ExternalID})
	}
	return c.JSON(http.StatusOK, out)
}

func apiTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
