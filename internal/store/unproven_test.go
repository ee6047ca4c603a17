package store_test

import (
	"errors"
	"testing"
	"time"

	"onefold/internal/automation/events"
	"onefold/internal/automation/proof"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

// An automation does not begin on a system that was never proven before a person agreed, once, on record.
func TestAnAutomationAsksBeforeItBeginsOnAnUnprovenSystem(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		service := review.NewAutomations(s, 1, nil)
		version := int64(0)
		switchOn := func() error {
			t.Helper()
			must(t, service.Switch(ctx, boss, "orders", false, version, ""))
			version++
			err := service.Switch(ctx, boss, "orders", true, version, "")
			if err == nil {
				version++
			} else {
				must(t, s.SwitchAutomation(ctx, work.AutomationSwitch{CompanyID: 1, Name: "orders", Version: version + 1}, boss, "back"))
				version++
			}
			return err
		}
		must(t, switchOn()) // it is set up to send nowhere
		must(t, s.PutSender(ctx, events.Sender{CompanyID: 1, Kind: events.Orders, ID: "shop", Name: "Shop", SystemID: "books", Automation: "orders", Sealed: "x", SecretN: 1, ChangedAt: c.Now()}, boss, "sender_added"))
		var never *review.OnUnproven
		if err := switchOn(); !errors.As(err, &never) || len(never.Systems) != 1 || never.Systems[0].ID != "books" {
			t.Fatalf("it begins unasked: %v", err)
		}
		must(t, service.Agree(ctx, boss, "orders", []string{"another"})) // not what the person was asked about
		if err := switchOn(); !errors.As(err, &never) {
			t.Fatalf("it begins on what nobody agreed to: %v", err)
		}
		if err := service.Agree(ctx, ada, "orders", []string{"books"}); !errors.Is(err, review.ErrForbidden) {
			t.Errorf("an operator agrees: %v", err)
		}

		// Proven as it is connected, it needs no agreement; connected in another way it does again.
		sys, err := s.System(ctx, "books")
		must(t, err)
		r, err := s.AddProof(ctx, proof.Run{CompanyID: 1, SystemID: "books", State: proof.Waiting, By: boss, At: c.Now(), Reached: sys.Reached()})
		must(t, err)
		r, _, err = s.TakeProof(ctx, r.ID, "a", time.Minute)
		must(t, err)
		r.State = proof.Proven
		must(t, s.EndProof(ctx, &r, "a"))
		must(t, switchOn())
		sys, err = s.System(ctx, "books")
		must(t, err)
		sys.Address = "https://elsewhere.example.com"
		must(t, s.DeclareSystem(ctx, sys))
		if err := switchOn(); !errors.As(err, &never) {
			t.Fatalf("another connection was proven: %v", err)
		}
		must(t, service.Agree(ctx, boss, "orders", []string{"books"}))
		must(t, switchOn())
		if list, err := s.NeverProven(ctx, 1, "recurring"); err != nil || len(list) != 0 {
			t.Errorf("recurring: %v %v", list, err)
		}
	})
}
