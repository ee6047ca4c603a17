package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger/misbehave"
	"onefold/internal/ledger/sandbox"
)

type newInvoice struct {
	Reference    string `json:"reference"`
	CustomerID   string `json:"customer_id"`
	CustomerName string `json:"customer_name"`
	Total        string `json:"total"`
	Currency     string `json:"currency"`
	Post         bool   `json:"post"`
}

func (v newInvoice) refusal() string {
	amount, err := currency.NewAmount(v.Total, v.Currency)
	switch {
	case v.Reference == "" || len([]rune(v.Reference)) > sandbox.MaxReference:
		return fmt.Sprintf("the reference must have 1 to %d characters", sandbox.MaxReference)
	case strings.TrimSpace(v.CustomerID) == "":
		return "the customer is missing"
	case err != nil:
		return "the total or its currency is not valid"
	case !amount.IsPositive():
		return "the total must be above zero"
	case !amount.Round().Equal(amount):
		return "the total has more decimals than the currency"
	}
	return ""
}

// noCustomer is in the ids of customers that are not there; the sandbox takes any other for known.
const noCustomer = "NO-SUCH-CUSTOMER"

func (s *Server) create(c *call) {
	var v newInvoice
	if json.Unmarshal(c.body, &v) != nil {
		reply(c.w, http.StatusBadRequest, refusal{Code: "invalid", Reason: "the body is not JSON"})
		return
	}
	if reason := v.refusal(); reason != "" {
		reply(c.w, http.StatusUnprocessableEntity, refusal{Code: "invalid", Reason: reason, Final: true})
		return
	}
	if strings.Contains(v.CustomerID, noCustomer) {
		reply(c.w, http.StatusUnprocessableEntity, refusal{Code: "customer", Reason: "there is no such customer"})
		return
	}
	s.write(c, http.StatusCreated, hashOf("create", string(c.body)), func(now time.Time) (Effect, *refusal) {
		e := Effect{Effect: "created", Books: c.b.Name, Reference: v.Reference, CustomerID: v.CustomerID, CustomerName: v.CustomerName,
			Currency: v.Currency, Total: v.Total, Posted: c.b.SingleStep || v.Post}
		c.alter(&e)
		if c.b.Personality == sandbox.Unique {
			if there := c.b.byRef[fold(e.Reference)]; len(there) > 0 {
				return e, &refusal{status: http.StatusConflict, Code: "duplicate", Reason: "this reference was used before", ID: there[0].ID}
			}
		}
		s.ids++
		e.ID = fmt.Sprintf("inv_%06d", s.ids)
		if e.Posted {
			e.Number = c.b.nextNumber()
		}
		return e, nil
	})
}

func (s *Server) post(c *call) {
	id := c.r.PathValue("id")
	s.write(c, http.StatusOK, hashOf("post", id), func(now time.Time) (Effect, *refusal) {
		r := c.b.byID[id]
		switch {
		case r == nil || r.deleted:
			return Effect{}, &refusal{status: http.StatusNotFound, Code: "not_found", Reason: "there is no such invoice"}
		case r.State == "void":
			return Effect{}, &refusal{status: http.StatusUnprocessableEntity, Code: "void", Reason: "the invoice is void", Final: true}
		case r.State == "posted" && c.b.Personality == sandbox.Unique:
			return Effect{}, &refusal{status: http.StatusConflict, Code: "already_posted", Reason: "the invoice is posted already", ID: r.ID}
		}
		return Effect{Effect: "posted", Books: c.b.Name, ID: id, Reference: r.Reference, Number: c.b.nextNumber(), CustomerID: r.CustomerID,
			Currency: r.Currency, Total: r.Total}, nil
	})
}

// write runs one effect under the personality's rules and answers. Decide runs under the lock.
func (s *Server) write(c *call, status int, hash string, decide func(now time.Time) (Effect, *refusal)) {
	s.mu.Lock()
	replay, refused := c.b.begin(c.key, hash, s.opts.Now())
	s.mu.Unlock()
	if replay != nil {
		c.w.Header().Set("Idempotent-Replayed", "true")
		s.answer(c, status, *replay)
		return
	}
	if refused != nil {
		reply(c.w, refused.status, refused)
		return
	}
	if c.fault == CommitLate { // the key counts as running meanwhile
		misbehave.Wait(c.delay())
	}
	s.mu.Lock()
	now := s.opts.Now()
	effect, refused := decide(now)
	if refused != nil {
		c.b.end(c.key)
		s.mu.Unlock()
		reply(c.w, refused.status, refused)
		return
	}
	effect.At, effect.Key, effect.Hash = now.UTC(), c.key, hash
	record, err := s.commit(c.b, effect)
	if err == nil {
		err = s.afterwards(c, effect)
	}
	var view Record
	if record != nil {
		view = *record
	}
	s.mu.Unlock()
	if err != nil {
		reply(c.w, http.StatusInternalServerError, refusal{Code: "internal", Reason: "the books cannot be written"})
		return
	}
	s.answer(c, status, view)
}

// alter stores something other than what was asked.
func (c *call) alter(e *Effect) {
	asked := e.Reference
	switch c.fault {
	case TrimReference:
		e.Reference = strings.TrimSpace(e.Reference)
	case UpperReference:
		e.Reference = strings.ToUpper(e.Reference)
	case OtherCustomer:
		e.CustomerID = "someone-else"
	case Lag:
		e.LagMS = c.delay().Milliseconds()
	case TotalTimes100, TotalPlusCent, TotalPlusOne:
		e.Total = altered(e.Total, e.Currency, c.fault)
	}
	if e.Reference != asked {
		e.Asked = asked
	}
}

func altered(total, code string, f Fault) string {
	amount, err := currency.NewAmount(total, code)
	if err != nil {
		return total
	}
	digits, _ := currency.GetDigits(code)
	plus := "1"
	switch {
	case f == TotalTimes100:
		amount, _ = amount.Mul("100")
		return amount.Number()
	case f == TotalPlusCent && digits > 0:
		plus = "0." + strings.Repeat("0", int(digits)-1) + "1"
	}
	more, err := currency.NewAmount(plus, code)
	if err != nil {
		return total
	}
	amount, _ = amount.Add(more)
	return amount.Number()
}

// afterwards voids or deletes what was just made. The lock is held.
func (s *Server) afterwards(c *call, e Effect) error {
	after := Effect{Books: e.Books, ID: e.ID, Reference: e.Reference, Asked: e.Asked, At: e.At}
	switch c.fault {
	case Voided:
		after.Effect = "voided"
	case Deleted:
		after.Effect = "deleted"
	default:
		return nil
	}
	_, err := s.commit(c.b, after)
	return err
}
