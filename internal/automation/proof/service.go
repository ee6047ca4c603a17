package proof

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// Service is what admins do about proofs. It is safe for concurrent use.
type Service struct {
	Store       Store
	Connections *automation.Connections
	CompanyID   int64
}

// longest is the longest customer id that is taken, in bytes.
const longest = 200

// MayProve reports whether the actor may begin proofs and store what they advise.
func MayProve(by work.Actor) bool {
	return (by.Kind == work.Person || by.Kind == work.Console) && by.Can(work.Admin)
}

// Plan is what a run would do, before it is begun.
type Plan struct {
	System    work.System
	TestBooks bool // it issues invoices; else it makes drafts and needs consent
	Removes   bool // what it makes is taken back at the end, as far as the system lets it
	Refusal   *Why // why it cannot be begun at all; nil: it can
	Before    Wish // what was typed the last time, without the consent; empty: there was none
}

// Plan says what a run would do. It makes no call to the outside. Admins only.
func (s Service) Plan(ctx context.Context, by work.Actor, systemID string) (p Plan, err error) {
	if !MayProve(by) {
		return p, automation.ErrNotAdmin
	}
	if p.System, err = s.system(ctx, systemID); err != nil {
		return p, err
	}
	last, err := s.Store.Proofs(ctx, s.CompanyID, systemID, 1)
	if err != nil {
		return p, err
	}
	if len(last) > 0 {
		p.Before = last[0].Wish
		p.Before.Consent = ""
	}
	how, err := s.Connections.Proving(p.System)
	if err != nil {
		p.Refusal = &Why{Code: WhyAdapter, Text: err.Error()}
		return p, nil
	}
	p.TestBooks = how.TestBooks
	switch {
	case !p.TestBooks && !how.Adapter.Drafts:
		p.Refusal = &Why{Code: WhyNoDrafts}
	case !p.System.PausedAt.IsZero():
		p.Refusal = &Why{Code: WhyPaused}
	default:
		port, _, err := how.Connect(ctx, nil)
		if err != nil {
			p.Refusal = &Why{Code: WhyAdapter, Text: err.Error()}
			return p, nil
		}
		_, p.Removes = remover(port)
		closePort(port)
	}
	return p, nil
}

func (s Service) system(ctx context.Context, id string) (work.System, error) {
	all, err := s.Store.Systems(ctx)
	if err != nil {
		return work.System{}, err
	}
	for _, sys := range all {
		if sys.ID == id {
			return sys, nil
		}
	}
	return work.System{}, automation.ErrUnknownSystem
}

// Begin adds a run that a server takes up at once. It returns automation.ErrNotAdmin, ErrRunning or *Why.
func (s Service) Begin(ctx context.Context, by work.Actor, systemID string, w Wish) (Run, error) {
	p, err := s.Plan(ctx, by, systemID)
	if err != nil {
		return Run{}, err
	}
	if p.Refusal != nil {
		return Run{}, p.Refusal
	}
	w = Wish{strings.TrimSpace(w.Customer), strings.TrimSpace(w.Amount), strings.ToUpper(strings.TrimSpace(w.Currency)), strings.TrimSpace(w.Consent)}
	if w.Amount == "" {
		w.Amount = "1.00"
	}
	if w.Customer == "" || len(w.Customer) > longest {
		return Run{}, &Why{Code: WhyCustomer}
	}
	if err := w.invoice("").Validate(); err != nil {
		return Run{}, &Why{Code: WhyAmount, Text: err.Error()}
	}
	if !p.TestBooks && w.Consent != p.System.Name {
		return Run{}, &Why{Code: WhyConsent}
	}
	now, err := s.Store.Now(ctx)
	if err != nil {
		return Run{}, err
	}
	r := Run{CompanyID: s.CompanyID, SystemID: systemID, State: Waiting, By: by, At: now, Live: !p.TestBooks, Reached: p.System.Reached(),
		Body: Body{System: p.System.Name, Wish: w, Relied: p.System.Capabilities.Cautious(p.System.Caution)}}
	for _, name := range StepNames {
		r.step(name)
	}
	return s.Store.AddProof(ctx, r)
}

// invoice is what a run asks for. An amount that cannot be read makes an invoice that is not valid.
func (w Wish) invoice(mark string) work.Invoice {
	total, err := currency.NewAmount(w.Amount, w.Currency)
	if err != nil {
		total = currency.Amount{}
	}
	return work.Invoice{CustomerID: w.Customer, Total: total, Note: strings.TrimSpace("ONEFOLD PROOF " + mark + ": made to test the connection, please ignore")}
}

// invoice is the wish's, with a day: some systems issue nothing without one. It is the same whenever the run goes on.
func (r Run) invoice(mark string) work.Invoice {
	v := r.Wish.invoice(mark)
	v.IssueDate = r.At.UTC().Format(time.DateOnly)
	v.DueDate = v.IssueDate
	return v
}

// One returns a run. Admins only; ErrUnknown if there is none.
func (s Service) One(ctx context.Context, by work.Actor, id int64) (Run, error) {
	if !MayProve(by) {
		return Run{}, automation.ErrNotAdmin
	}
	return s.Store.Proof(ctx, s.CompanyID, id)
}

// Earlier returns the newest runs of a system, newest first. Admins only.
func (s Service) Earlier(ctx context.Context, by work.Actor, systemID string) ([]Run, error) {
	if !MayProve(by) {
		return nil, automation.ErrNotAdmin
	}
	return s.Store.Proofs(ctx, s.CompanyID, systemID, 20)
}

// Latest returns the newest run of each system that proved it, for everybody who may see the systems. One that is reached
// in another way since is left out: that connection was never proven.
func (s Service) Latest(ctx context.Context) (map[string]Run, error) {
	last, err := s.Store.LastProofs(ctx, s.CompanyID)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.Systems(ctx)
	if err != nil {
		return nil, err
	}
	proven := map[string]Run{}
	for _, sys := range all {
		if r, ok := last[sys.ID]; ok && r.Reached == sys.Reached() {
			proven[sys.ID] = r
		}
	}
	return proven, nil
}

// Adopt stores what a run offers: from then on less is relied on in the system, never more. Admins only; done twice it
// changes nothing.
func (s Service) Adopt(ctx context.Context, by work.Actor, id int64) error {
	r, err := s.One(ctx, by, id)
	if err != nil {
		return err
	}
	if r.Offer == (work.Caution{}) || r.Adopted {
		return nil
	}
	if !r.State.Ended() {
		return ErrRunning
	}
	return s.Store.AdoptCaution(ctx, r, by)
}

// IsWhy returns why a run was not begun, if that is the error.
func IsWhy(err error) (*Why, bool) {
	var w *Why
	ok := errors.As(err, &w)
	return w, ok
}
