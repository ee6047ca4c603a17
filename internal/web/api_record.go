package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
)

// maxBatch is the most items in one request.
const maxBatch = 1000

// apiResult is what became of one item of a request.
type apiResult struct {
	Key    string    `json:"key,omitempty"`
	Status int       `json:"status"`
	Result string    `json:"result,omitempty"`
	Item   *apiItem  `json:"item,omitempty"`
	Error  *apiError `json:"error,omitempty"`
}

// apiRecord answers POST /api/v1/items with one item, or with a list of them (also as {"items": […]}), each with a
// status of its own. It may be repeated: what is on record with the same content is answered with 200.
func (s *server) apiRecord(c echo.Context) error {
	if !review.MayRecord(person(c)) {
		return review.ErrForbidden
	}
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return err
	}
	raw, batch, err := splitBatch(body)
	switch {
	case err != nil:
		return sendAPIError(c, http.StatusBadRequest, "invalid", err.Error())
	case len(raw) > maxBatch:
		return sendAPIError(c, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("at most %d items in one request, not %d", maxBatch, len(raw)))
	}
	results, err := s.record(c, raw)
	if err != nil {
		return err
	}
	if batch {
		status := http.StatusOK
		for _, r := range results {
			if r.Error != nil {
				status = http.StatusMultiStatus
			}
		}
		return c.JSON(status, map[string][]apiResult{"items": results})
	}
	r := results[0]
	if r.Status == http.StatusCreated {
		c.Response().Header().Set("Location", "/api/v1/items/"+url.PathEscape(r.Item.Key))
	}
	if r.Error == nil {
		return c.JSON(r.Status, r.Item)
	}
	return c.JSON(r.Status, struct {
		Error *apiError `json:"error"`
		Item  *apiItem  `json:"item,omitempty"` // what is on record
	}{r.Error, r.Item})
}

// splitBatch takes a request apart into its items.
func splitBatch(body []byte) (raw []json.RawMessage, batch bool, err error) {
	body = bytes.TrimSpace(body)
	if bytes.HasPrefix(body, []byte("[")) {
		err = decodeStrict(body, &raw)
		return raw, true, err
	}
	var fields map[string]json.RawMessage
	if err := decodeStrict(body, &fields); err != nil {
		return nil, false, err
	}
	items, batch := fields["items"]
	if !batch {
		return []json.RawMessage{body}, false, nil
	}
	for name := range fields {
		if name != "items" {
			return nil, true, fmt.Errorf("unknown field %q", name)
		}
	}
	err = decodeStrict(items, &raw)
	return raw, true, err
}

// record records the good ones among the items and says of each what became of it.
func (s *server) record(c echo.Context, raw []json.RawMessage) ([]apiResult, error) {
	states, err := s.systems.List(c.Request().Context(), person(c))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var systems []work.System
	for _, st := range states {
		known[st.ID] = true
		systems = append(systems, st.System)
	}
	results := make([]apiResult, len(raw))
	var good []work.New
	var place []int // of the good ones among the results
	for i, r := range raw {
		var sent apiNew
		item, err := work.New{}, decodeStrict(r, &sent)
		if err == nil {
			sent.System = orText(sent.System, onlySystem(systems))
			item, err = sent.item(person(c))
		}
		if err == nil && !known[sent.System] {
			err = unknownSystem(sent.System)
		}
		results[i].Key = sent.Key
		if err != nil {
			results[i].Status, results[i].Error = http.StatusBadRequest, &apiError{"invalid", err.Error()}
			continue
		}
		good, place = append(good, item), append(place, i)
	}
	recorded, err := s.Intake.Record(c.Request().Context(), good)
	if err != nil {
		if len(recorded) == 0 {
			return nil, err
		}
		s.Log.ErrorContext(c.Request().Context(), "recording broke off", "request", c.Get(requestIDKey), "error", err)
	}
	for j, i := range place {
		if j >= len(recorded) {
			results[i].Status, results[i].Error = http.StatusServiceUnavailable, &apiError{"unavailable", "it was not recorded, send it again"}
			continue
		}
		results[i].fill(recorded[j])
	}
	return results, nil
}

func unknownSystem(id string) error {
	if id == "" {
		return errors.New("\"system\" is missing: there is more than one accounting system, or none")
	}
	return fmt.Errorf("there is no accounting system %q", text(id, 100))
}

func (r *apiResult) fill(rec automation.Recorded) {
	r.Result = string(rec.Result)
	if rec.Item.ID != 0 {
		item := toAPI(rec.Item)
		r.Item = &item
	}
	switch rec.Result {
	case automation.IntakeNew:
		r.Status = http.StatusCreated
	case automation.IntakeKnown:
		r.Status = http.StatusOK
	case automation.IntakeRefused:
		r.Status = http.StatusUnprocessableEntity
	default:
		r.Status = http.StatusConflict
	}
	if rec.Err != nil {
		r.Error = &apiError{string(rec.Result), rec.Err.Error()}
	}
}
