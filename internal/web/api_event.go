package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/automation/events"
	"onefold/internal/review"
	"onefold/internal/work"
)

// eventBounds: whoever sends an event has its answer soon, or is told to send it again. Nothing here waits for an
// accounting system.
var eventBounds = bounds{1800 * time.Millisecond, 1 << 20}

// apiOrderEvent is an order event as it is sent.
type apiOrderEvent struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	OccurredAt string `json:"occurred_at"`
	Order      struct {
		Reference string     `json:"reference"`
		System    string     `json:"system"` // only with a token: a sender's events go where its settings say
		Period    string     `json:"period"`
		Invoice   apiInvoice `json:"invoice"`
	} `json:"order"`
}

// order is the event with the item that it asks for. Errors are in the caller's words.
func (e apiOrderEvent) order(body []byte, automationName string, by work.Actor) (events.Order, error) {
	at, err := apiMoment(e.OccurredAt)
	if err != nil {
		return events.Order{}, err
	}
	if e.Order.Reference == "" {
		return events.Order{}, errors.New("\"order.reference\" is missing: the firm's own name for the order")
	}
	n, err := apiNew{Key: e.Order.Reference, System: e.Order.System, Automation: automationName, Period: e.Order.Period, Invoice: e.Order.Invoice}.item(by)
	return events.Order{EventID: e.ID, Type: e.Type, At: at, New: n, Digest: events.Digest(body)}, err
}

func apiMoment(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return at, errors.New("\"occurred_at\" must be a time like 2026-11-29T10:00:00Z")
	}
	return at.UTC(), nil
}

// apiEvent answers POST /api/v1/events: an order event by a program that has a token.
func (s *server) apiEvent(c echo.Context) error {
	by := person(c)
	if !review.MayRecord(by) {
		return review.ErrForbidden
	}
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return err
	}
	var sent apiOrderEvent
	if err := decodeStrict(body, &sent); err != nil {
		return sendAPIError(c, http.StatusBadRequest, "invalid", err.Error())
	}
	states, err := s.systems.List(c.Request().Context(), by)
	if err != nil {
		return s.sendAgain(c, err)
	}
	known, systems := map[string]bool{}, []work.System{}
	for _, st := range states {
		systems, known[st.ID] = append(systems, st.System), true
	}
	if sent.Order.System = orText(sent.Order.System, onlySystem(systems)); !known[sent.Order.System] {
		return sendAPIError(c, http.StatusBadRequest, "invalid", unknownSystem(sent.Order.System).Error())
	}
	return s.receive(c, "token:"+by.ID, sent, body, events.OrdersAutomation, by)
}

// orderHook answers POST /hooks/orders/{sender}: an order event that its sender signed.
func (s *server) orderHook(c echo.Context) error {
	sn, body, err := s.signedBody(c, events.Orders)
	if err != nil {
		return s.refuseHook(c, err)
	}
	var sent apiOrderEvent
	if err := decodeStrict(body, &sent); err != nil {
		return sendAPIError(c, http.StatusBadRequest, "invalid", err.Error())
	}
	sent.Order.System = sn.SystemID
	return s.receive(c, sn.ID, sent, body, sn.Automation, events.OrdersActor(sn))
}

func (s *server) receive(c echo.Context, from string, sent apiOrderEvent, body []byte, automationName string, by work.Actor) error {
	o, err := sent.order(body, automationName, by)
	if err != nil {
		return sendAPIError(c, http.StatusBadRequest, "invalid", err.Error())
	}
	o.New.Source = "order:" + from
	rec, err := s.events.Receive(c.Request().Context(), from, o)
	if err != nil {
		return s.refuseEvent(c, err)
	}
	var r apiResult
	r.fill(rec)
	if r.Error == nil {
		return c.JSON(r.Status, r.Item)
	}
	return c.JSON(r.Status, apiConflict{r.Error, r.Item})
}

// apiConflict is a refusal with what is on record.
type apiConflict struct {
	Error *apiError `json:"error"`
	Item  *apiItem  `json:"item,omitempty"`
}

// apiNotice is what an accounting system tells us of one of its documents. What else is in it is not read.
type apiNotice struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	OccurredAt string `json:"occurred_at"`
	Reference  string `json:"reference"`
	RecordID   string `json:"record_id"`
}

// systemHook answers POST /hooks/systems/{id}: a notice that the accounting system signed. Whether it was of use or not,
// it was taken: the system must not send it again.
func (s *server) systemHook(c echo.Context) error {
	sn, body, err := s.signedBody(c, events.System)
	if err != nil {
		return s.refuseHook(c, err)
	}
	var sent apiNotice
	if err := json.Unmarshal(body, &sent); err != nil {
		return sendAPIError(c, http.StatusBadRequest, "invalid", "this is not a JSON object with texts in it")
	}
	at, err := apiMoment(sent.OccurredAt)
	if err != nil {
		return sendAPIError(c, http.StatusBadRequest, "invalid", err.Error())
	}
	result, err := s.events.Notify(c.Request().Context(), sn.ID, events.Notice{EventID: sent.ID, Type: sent.Type, At: at, Reference: sent.Reference,
		RecordID: sent.RecordID, Digest: events.Digest(body)})
	if err != nil {
		return s.refuseEvent(c, err)
	}
	return c.JSON(http.StatusOK, map[string]string{"result": string(result)})
}

// signedBody is the body of a request and who signed it.
func (s *server) signedBody(c echo.Context, kind events.Kind) (events.Sender, []byte, error) {
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return events.Sender{}, nil, err
	}
	sn, err := s.events.Verified(c.Request().Context(), kind, c.Param("id"), c.Request().Header.Get(events.SignatureHeader), body)
	return sn, body, err
}

// refuseHook says why a signed request does not count.
func (s *server) refuseHook(c echo.Context, err error) error {
	if errors.Is(err, events.ErrSignature) || errors.Is(err, events.ErrStale) {
		return sendAPIError(c, http.StatusUnauthorized, "unauthorized", err.Error())
	}
	return s.sendAgain(c, err)
}

func (s *server) refuseEvent(c echo.Context, err error) error {
	var bad *events.Invalid
	switch {
	case errors.Is(err, events.ErrReused):
		return sendAPIError(c, http.StatusConflict, "conflict", err.Error())
	case errors.As(err, &bad):
		return sendAPIError(c, http.StatusUnprocessableEntity, string(automation.IntakeRefused), bad.Text)
	}
	return s.sendAgain(c, err)
}

// sendAgain answers when the time was over before the event was on record: it is safe to send it again.
func (s *server) sendAgain(c echo.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || c.Request().Context().Err() != nil {
		s.Log.WarnContext(c.Request().Context(), "an event was not recorded in time", "request", c.Get(requestIDKey), "error", err)
		c.Response().Header().Set("Retry-After", "10")
		return sendAPIError(c, http.StatusServiceUnavailable, "unavailable", "it was not recorded in time, send it again")
	}
	return err
}
