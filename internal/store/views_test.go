package store_test

import (
	"errors"
	"fmt"
	"testing"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

func TestSavedViews(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		service := review.New(s, 1)
		person := func(id string, roles ...work.Role) work.Actor {
			return work.Actor{Kind: work.Person, ID: id, Name: id, Roles: roles}
		}
		vera, olga, adam := person("1", work.Viewer), person("2", work.Operator), person("3", work.Admin)
		token := work.Actor{Kind: work.Token, ID: "1", Roles: []work.Role{work.Admin}}
		save := func(by work.Actor, name, address string, shared bool, want error) {
			t.Helper()
			if err := service.SaveView(t.Context(), by, name, address, shared); !errors.Is(err, want) {
				t.Errorf("%s saves %q: %v, want %v", by.Name, name, err, want)
			}
		}
		sees := func(by work.Actor, want string) []review.View {
			t.Helper()
			views, err := service.Views(t.Context(), by)
			must(t, err)
			got := ""
			for _, v := range views {
				got += fmt.Sprintf("%s=%s ", v.Name, v.Address)
			}
			if got != want {
				t.Errorf("%s sees %q, want %q", by.Name, got, want)
			}
			return views
		}
		save(vera, "  My\t list ", "/?tab=review", false, nil)
		save(vera, "For all", "/?tab=all", true, review.ErrForbidden)
		save(olga, "For all", "/?tab=all", true, nil)
		save(token, "A token's", "/?tab=all", false, review.ErrForbidden)
		save(person("9"), "No role", "/?tab=all", false, review.ErrForbidden)
		for _, name := range []string{"", "  ", "\x00", string(make([]rune, 70))} {
			save(vera, name, "/?tab=all", false, review.ErrViewName)
		}
		for _, address := range []string{"", "/", "https://elsewhere.example/?a", "//elsewhere.example/?a", "/people?x", "/?a\r\nSet-Cookie: x", "/?\xff"} {
			save(vera, "bad", address, false, review.ErrViewAddress)
		}
		sees(vera, "For all=/?tab=all My list=/?tab=review ")
		sees(olga, "For all=/?tab=all ")
		sees(token, "For all=/?tab=all ") // its id is that of a person
		save(vera, "My list", "/?tab=closed", false, nil)
		mine := sees(vera, "For all=/?tab=all My list=/?tab=closed ")
		remove := func(by work.Actor, id int64, want error) {
			t.Helper()
			if err := service.DeleteView(t.Context(), by, id); !errors.Is(err, want) {
				t.Errorf("%s removes %d: %v, want %v", by.Name, id, err, want)
			}
		}
		remove(vera, mine[0].ID, review.ErrNotFound) // it is shared, but not theirs
		remove(olga, mine[1].ID, review.ErrNotFound)
		remove(token, mine[0].ID, review.ErrForbidden)
		remove(vera, mine[1].ID, nil)
		remove(vera, mine[1].ID, review.ErrNotFound)
		remove(adam, mine[0].ID, nil)
		sees(vera, "")
		if err := review.New(s, 2).SaveView(t.Context(), olga, "Other company", "/?tab=all", true); err != nil {
			t.Fatal(err)
		}
		sees(vera, "")
	})
}

func TestAutomationsWithItems(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		names := func(company int64) string {
			list, err := review.New(s, company).Automations(t.Context(), viewer)
			must(t, err)
			return fmt.Sprintf("%q", list)
		}
		if got := names(1); got != "[]" {
			t.Errorf("without items: %s", got)
		}
		for i, a := range []string{"invoices", "Zinsen", "renewals", "invoices", "renewals"} {
			record(t, s, fmt.Sprintf("R-%d", i), func(n *work.New) { n.Automation = a })
		}
		if got := names(1); got != `["Zinsen" "invoices" "renewals"]` {
			t.Errorf("got %s", got)
		}
		if got := names(2); got != "[]" {
			t.Errorf("another company sees %s", got)
		}
		if _, err := review.New(s, 1).Automations(t.Context(), work.Actor{}); !errors.Is(err, review.ErrForbidden) {
			t.Errorf("without a role: %v", err)
		}
	})
}
