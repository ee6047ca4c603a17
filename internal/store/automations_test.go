package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

var boss = work.Actor{Kind: work.Person, ID: "1", Name: "Bo Boss", Roles: []work.Role{work.Admin}}

// An automation that is switched off records nothing new on any server, but still answers for what is on record.
func TestSwitchedOffAutomationRecordsNothingNew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		c := newClock()
		here, there := db.Open(t, store.Config{Clock: c.Now}), db.Open(t, store.Config{Clock: c.Now})
		must(t, here.DeclareSystem(t.Context(), books()))
		for _, name := range []string{"orders", "invoices"} {
			must(t, here.AllowUnproven(t.Context(), 1, name, []string{"books"}, boss))
		}
		service := review.NewAutomations(here, 1, nil)
		record := func(s *store.Store, name, key, number string) automation.Recorded {
			t.Helper()
			total, err := currency.NewAmount(number, "EUR")
			must(t, err)
			got, err := automation.Intake{Store: s, Zone: time.FixedZone("CET", 3600)}.Record(t.Context(), []work.New{{Automation: name, BusinessKey: key, SystemID: "books", Source: "api",
				By: boss, Invoice: work.Invoice{CustomerID: "C", CustomerName: "Acme", Total: total, IssueDate: "2026-11-30", Lines: []work.Line{{Description: "Service", Quantity: "1", UnitPrice: number}}}}})
			must(t, err)
			return got[0]
		}
		if r := record(here, "orders", "A", "5.00"); r.Result != automation.IntakeNew {
			t.Fatalf("%+v", r)
		}
		must(t, service.Switch(t.Context(), boss, "orders", false, 0, " The shop sends rubbish. "))
		for _, s := range []*store.Store{here, there} {
			r := record(s, "orders", "B", "5.00")
			var off *work.SwitchedOff
			if r.Result != automation.IntakeOff || !errors.As(r.Err, &off) || r.Item.ID != 0 {
				t.Fatalf("%+v", r)
			}
			for _, want := range []string{"Bo Boss", "30 November 2026 at 10:00 CET", "The shop sends rubbish."} {
				if !strings.Contains(r.Err.Error(), want) {
					t.Errorf("%q does not name %q", r.Err, want)
				}
			}
			if r := record(s, "orders", "A", "5.00"); r.Result != automation.IntakeKnown {
				t.Errorf("what is on record: %+v", r)
			}
			if r := record(s, "orders", "A", "6.00"); r.Result != automation.IntakeConflict {
				t.Errorf("another content: %+v", r)
			}
		}
		if r := record(there, "invoices", "C", "5.00"); r.Result != automation.IntakeNew {
			t.Errorf("another automation: %+v", r)
		}
		if n, err := here.Count(t.Context(), review.Query{CompanyID: 1, Tab: review.TabAll, Filter: review.Filter{Automation: "orders"}}, 10); err != nil || n != 1 {
			t.Errorf("%d orders, %v", n, err)
		}
		_, err := automation.Importer{Intake: automation.Intake{Store: there}, TempDir: t.TempDir()}.Import(t.Context(), strings.NewReader("key,customer_id,currency,amount\nX,C,EUR,1.00\n"),
			automation.ImportOptions{SystemID: "books", Automation: "orders", Source: "import", By: boss})
		var refused *automation.FileError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "Bo Boss") {
			t.Errorf("a whole file: %v", err)
		}
		must(t, service.Switch(t.Context(), boss, "orders", true, 1, ""))
		if r := record(there, "orders", "B", "5.00"); r.Result != automation.IntakeNew {
			t.Errorf("on again: %+v", r)
		}
		page, err := here.AuditPage(t.Context(), auth.AuditFilter{Object: "automation:orders", What: []string{"automation_on", "automation_off"}})
		must(t, err)
		if len(page.Records) != 2 || page.Records[1].What != "automation_off" || page.Records[1].Note != "The shop sends rubbish." || page.Records[1].By.ID != "1" {
			t.Errorf("on record: %+v", page.Records)
		}
	})
}

// Two admins at once: one of them is told.
func TestSwitchIsGuardedByVersion(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		service, other := review.NewAutomations(s, 1, nil), work.Actor{Kind: work.Person, ID: "2", Name: "Di Deputy", Roles: []work.Role{work.Admin}}
		for name, by := range map[string]work.Actor{"operator": {Kind: work.Person, Roles: []work.Role{work.Operator, work.Ops, work.Viewer}},
			"token": {Kind: work.Token, Roles: []work.Role{work.Admin}}} {
			if err := service.Switch(t.Context(), by, "orders", false, 0, ""); !errors.Is(err, review.ErrForbidden) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := service.Switch(t.Context(), boss, "nothing", false, 0, ""); !errors.Is(err, review.ErrNotFound) {
			t.Errorf("unknown: %v", err)
		}
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i, by := range []work.Actor{boss, other} {
			wg.Go(func() { errs[i] = service.Switch(context.Background(), by, "orders", false, 0, by.Name) })
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), review.ErrAutomationChanged) {
			t.Fatalf("both: %v", errs)
		}
		by := map[bool]work.Actor{true: boss, false: other}[errs[0] == nil]
		if err := service.Switch(t.Context(), by, "orders", false, 0, ""); err != nil {
			t.Errorf("the same form twice: %v", err)
		}
		if err := service.Switch(t.Context(), by, "orders", true, 0, ""); !errors.Is(err, review.ErrAutomationChanged) {
			t.Errorf("an old page: %v", err)
		}
		list, err := service.List(t.Context(), boss)
		must(t, err)
		for _, a := range list {
			if a.Off() != (a.Name == "orders") || a.Name == "orders" && (a.Version != 1 || a.OffNote != by.Name) {
				t.Errorf("%+v", a)
			}
		}
	})
}
