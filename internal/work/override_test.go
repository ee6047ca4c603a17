package work_test

import (
	"testing"
	"time"

	"onefold/internal/work"
)

func TestOverridesChangeOnlyTheirAutomation(t *testing.T) {
	sends, wait := 2, time.Minute
	s := work.System{ID: "books", Adapter: "stub", Steps: []string{"create"}, MaxInFlight: 1, Policy: work.DefaultPolicy(),
		Overrides: map[string]work.Override{"orders": {Sends: &sends, FirstDelay: &wait}}}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if p := s.RulesFor("orders").Policy; p.Sends != 2 || p.FirstDelay != time.Minute || p.Growth != s.Policy.Growth {
		t.Errorf("orders: %+v", p)
	}
	if p := s.RulesFor("recurring").Policy; p != s.Policy {
		t.Errorf("another automation: %+v", p)
	}
	none := 0
	s.Overrides["orders"] = work.Override{Sends: &none}
	if err := s.Validate(); err == nil {
		t.Error("an override out of bounds was accepted")
	}
}
