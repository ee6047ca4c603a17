package web

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/work"
)

// apiError is the body of every refusal of the API: one clear sentence.
type apiError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func sendAPIError(c echo.Context, status int, code, message string) error {
	return c.JSON(status, map[string]apiError{"error": {code, message}})
}

func apiCode(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "invalid"
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusMethodNotAllowed:
		return "method_not_allowed"
	case http.StatusConflict:
		return "conflict"
	case http.StatusRequestEntityTooLarge:
		return "too_large"
	case http.StatusUnprocessableEntity:
		return "refused"
	case http.StatusServiceUnavailable:
		return "unavailable"
	}
	return "internal"
}

// bearer lets only API tokens in that have the scope. Sessions of people do not count here: their forms are guarded, this
// is not.
func (s *server) bearer(scope auth.Scope) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			grant, err := s.Auth.Bearer(c.Request(), origin(c))
			var slow *auth.TooMany
			switch {
			case errors.Is(err, auth.ErrNoToken):
				c.Response().Header().Set("WWW-Authenticate", `Bearer realm="onefold"`)
				return sendAPIError(c, http.StatusUnauthorized, "unauthorized", "send an API token that works as \"Authorization: Bearer …\"")
			case errors.As(err, &slow):
				seconds := int(slow.Wait.Seconds()) + 1
				c.Response().Header().Set("Retry-After", strconv.Itoa(seconds))
				return sendAPIError(c, http.StatusTooManyRequests, "too_many", fmt.Sprintf("too many requests, wait %d s", seconds))
			case err != nil:
				return err
			case !grant.Has(scope):
				return sendAPIError(c, http.StatusForbidden, "forbidden", fmt.Sprintf("this token may not do that: it needs the scope %s", scope))
			}
			c.Set(personKey, grant.Actor)
			return next(c)
		}
	}
}

// jsonOnly refuses bodies that do not say that they are JSON: no form of another site can send one.
func jsonOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		kind, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
		if err != nil || kind != echo.MIMEApplicationJSON {
			return sendAPIError(c, http.StatusUnsupportedMediaType, "unsupported_media_type", "send JSON, with the header \"Content-Type: application/json\"")
		}
		return next(c)
	}
}

// apiItem is an item as the API shows it.
type apiItem struct {
	ID             int64     `json:"id"`
	Key            string    `json:"key"`
	Automation     string    `json:"automation"`
	System         string    `json:"system"`
	Step           string    `json:"step"`
	Period         string    `json:"period"`
	Status         string    `json:"status"`
	Reason         string    `json:"reason,omitempty"`
	Attempts       int       `json:"attempts"`
	ExternalID     string    `json:"external_id,omitempty"`
	ExternalNumber string    `json:"external_number,omitempty"`
	ExternalURL    string    `json:"external_url,omitempty"`
	Reference      string    `json:"reference"`
	LastError      string    `json:"last_error,omitempty"`
	Customer       string    `json:"customer_id"`
	Total          apiAmount `json:"total"`
	RecordedAt     string    `json:"recorded_at"`
	ChangedAt      string    `json:"changed_at,omitempty"`
	DueAt          string    `json:"due_at,omitempty"`
	Steps          []apiStep `json:"steps,omitempty"`
}

type apiAmount struct {
	Number   decimal `json:"number"`
	Currency string  `json:"currency"`
}

type apiStep struct {
	Step       string `json:"step"`
	Status     string `json:"status"`
	Reason     string `json:"reason,omitempty"`
	Attempts   int    `json:"attempts"`
	ExternalID string `json:"external_id,omitempty"`
}

func toAPI(it work.Item) apiItem {
	return apiItem{ID: it.ID, Key: it.BusinessKey, Automation: it.Automation, System: it.SystemID, Step: it.Step, Period: it.Period, Status: string(it.Status),
		Reason: string(it.Reason), Attempts: it.Attempts, ExternalID: it.ExternalID, ExternalNumber: it.ExternalNumber,
		ExternalURL: it.ExternalURL, Reference: it.Reference, LastError: text(it.LastError, 300), Customer: it.Invoice.CustomerID,
		Total:      apiAmount{decimal(it.Invoice.Total.Number()), it.Invoice.Total.CurrencyCode()},
		RecordedAt: apiTime(it.RecordedAt), ChangedAt: apiTime(it.ChangedAt), DueAt: apiTime(it.DueAt)}
}
