package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/auth"
	"onefold/internal/automation"
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
		agree := func(id string) {
			t.Helper()
			_, err := service.Agree(ctx, boss, "orders", []string{id})
			must(t, err)
		}
		agree("another") // not what the person was asked about
		if err := switchOn(); !errors.As(err, &never) {
			t.Fatalf("it begins on what nobody agreed to: %v", err)
		}
		if _, err := service.Agree(ctx, ada, "orders", []string{"books"}); !errors.Is(err, review.ErrForbidden) {
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
		agree("books")
		must(t, switchOn())
		if list, err := s.NeverProven(ctx, 1, "recurring"); err != nil || len(list) != 0 {
			t.Errorf("recurring: %v %v", list, err)
		}
	})
}

// What any way in records on a system that was never proven is refused, with nothing on record, until a person agreed for
// that automation; agreeing again leaves nothing more on record. What has begun goes on.
func TestNothingIsRecordedOnAnUnprovenSystemUnasked(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		ctx, service := t.Context(), review.NewAutomations(s, 1, nil)
		total, err := currency.NewAmount("10.00", "EUR")
		must(t, err)
		record := func(name, key string) automation.Recorded {
			t.Helper()
			list, err := automation.Intake{Store: s}.Record(ctx, []work.New{{Automation: name, BusinessKey: key, SystemID: "books", Source: "api", By: boss,
				Invoice: work.Invoice{CustomerID: "C", Total: total}}})
			must(t, err)
			return list[0]
		}
		wait := func(name, key string) {
			t.Helper()
			var unproven *automation.Unproven
			if r := record(name, key); r.Result != automation.IntakeOff || !errors.As(r.Err, &unproven) || unproven.System.ID != "books" || r.Item.ID != 0 {
				t.Fatalf("%s begins unasked: %+v", name, r)
			}
		}
		agree := func(name string, want bool) {
			t.Helper()
			if agreed, err := service.Agree(ctx, boss, name, []string{"books"}); err != nil || agreed != want {
				t.Fatalf("agreed %v, %v", agreed, err)
			}
		}
		wait("one", "A-1")
		agree("one", true)
		agree("one", false)
		must(t, s.AllowUnproven(ctx, 1, "one", []string{"books"}, boss)) // at the same moment as somebody else
		if r := record("one", "A-1"); r.Result != automation.IntakeNew {
			t.Fatalf("%+v", r)
		}
		wait("two", "B-1")
		trail, err := s.AuditPage(ctx, auth.AuditFilter{What: []string{"automation_on_unproven"}, Limit: 50})
		must(t, err)
		if len(trail.Records) != 1 || trail.Records[0].By.ID != boss.ID {
			t.Errorf("on record: %+v", trail.Records)
		}
	})
}
