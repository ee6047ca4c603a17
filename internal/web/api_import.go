package web

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
)

// apiImport answers POST /api/v1/import?system=…&automation=…: the body is the CSV file, or a form with it as "file".
func (s *server) apiImport(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	if !review.MayRecord(by) {
		return review.ErrForbidden
	}
	states, err := s.systems.List(ctx, by)
	if err != nil {
		return err
	}
	var systems []work.System
	known := map[string]bool{}
	for _, st := range states {
		systems, known[st.ID] = append(systems, st.System), true
	}
	system := orText(c.QueryParam("system"), onlySystem(systems))
	if !known[system] {
		return sendAPIError(c, http.StatusBadRequest, "invalid", unknownSystem(system).Error())
	}
	file, err := upload(c.Request())
	if err != nil {
		return sendAPIError(c, http.StatusBadRequest, "invalid", "send the CSV file as the body, or in a form as \"file\"")
	}
	report, err := s.Importer.Import(ctx, file, automation.ImportOptions{SystemID: system,
		Automation: orText(c.QueryParam("automation"), invoicesAutomation), Source: "import", By: by, CheckOnly: c.QueryParam("check") == "1"})
	var unproven *automation.Unproven
	if errors.As(err, &unproven) {
		return sendAPIError(c, http.StatusConflict, string(automation.IntakeOff), unproven.Error())
	}
	var fileProblem *automation.FileError
	if errors.As(err, &fileProblem) {
		return sendAPIError(c, http.StatusUnprocessableEntity, "refused", fileProblem.Error())
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, apiReport(report))
}

// upload is the file in the request, read as it arrives.
func upload(r *http.Request) (io.Reader, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return r.Body, nil
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	for {
		part, err := parts.NextPart()
		if err != nil {
			return nil, err
		}
		if part.FormName() == "file" {
			return part, nil
		}
	}
}

type apiRow struct {
	Line     int    `json:"line"`
	Key      string `json:"key,omitempty"`
	Reason   string `json:"reason"`
	Conflict bool   `json:"conflict,omitempty"`
}

func apiReport(r automation.ImportReport) any {
	type total struct {
		Currency string `json:"currency"`
		Rows     int    `json:"rows"`
		Amount   string `json:"amount"`
		New      string `json:"new"`
	}
	totals := []total{}
	for _, t := range r.Totals {
		totals = append(totals, total{t.Currency, t.Rows, t.Amount.Number(), t.New.Number()})
	}
	rows := func(from []automation.RowProblem) []apiRow {
		out := []apiRow{}
		for _, p := range from {
			out = append(out, apiRow(p))
		}
		return out
	}
	return map[string]any{"rows": r.Rows, "good": r.Good, "new": r.New, "known": r.Known, "conflicts": r.Conflict, "bad": r.Bad,
		"checked_only": r.Checked, "ignored_columns": r.Ignored, "totals": totals, "problems": rows(r.Problems), "hints": rows(r.Hints)}
}
