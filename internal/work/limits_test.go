package work_test

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"onefold/internal/work"
)

func tunable() work.System {
	return work.System{ID: "books", Adapter: "stub", Steps: []string{"create"}, MaxInFlight: 8, Policy: work.DefaultPolicy(),
		Capabilities: work.Capabilities{Searchable: true, Linger: 30 * time.Second, SearchLag: 5 * time.Second, Misses: 2}}
}

func TestLimitsGoThereAndBack(t *testing.T) {
	s := tunable()
	l := s.Limits("")
	if len(l) != len(work.AllLimits)-1 || l["search_lag"] != "5s" || l["approval_limit"] != "" || l["breaker_after"] != "5" {
		t.Errorf("limits %v", l)
	}
	for name, text := range map[string]string{"sends": "7", "first_delay": "1m30s", "growth": "3.5", "longest_delay": "3h0m0s", "jitter": "0.5",
		"request_timeout": "45s", "lookups": "20", "settle": "5m0s", "search_lag": "10s", "misses": "3", "settle_within": "6h0m0s", "approval_limit": "1000.00 EUR",
		"in_flight": "3", "per_second": "2.5", "breaker_after": "9", "breaker_pause": "20s", "breaker_longest": "10m0s"} {
		l[name] = text
	}
	is, err := s.WithLimits("", l)
	if err != nil {
		t.Fatal(err)
	}
	if got := is.Limits(""); !maps.Equal(got, l) {
		t.Errorf("got %v, want %v", got, l)
	}
	own := work.Limits{"sends": "2", "approval_limit": "50.00 EUR"}
	if is, err = is.WithLimits("orders", own); err != nil {
		t.Fatal(err)
	}
	if got := is.Limits("orders"); !maps.Equal(got, own) {
		t.Errorf("got %v, want %v", got, own)
	}
	if e := is.Effective("orders"); e["sends"] != "2" || e["first_delay"] != "1m30s" || s.Overrides != nil {
		t.Errorf("effective %v; before %v", e, s.Overrides)
	}
	if is, err = is.WithLimits("orders", nil); err != nil || len(is.Overrides) != 0 {
		t.Errorf("an automation without limits of its own keeps %v, %v", is.Overrides, err)
	}
}

// What a system needs to be safe can only be raised, and what is refused changes nothing.
func TestLimitsKeepTheirBounds(t *testing.T) {
	for _, c := range []struct{ name, text, code string }{
		{"settle", "29s", "below"}, {"search_lag", "4s", "below"}, {"misses", "1", "below"}, {"lookups", "2", "below"}, {"sends", "0", "below"}, {"sends", "21", "above"},
		{"jitter", "1.01", "above"}, {"growth", "1", "below"}, {"longest_delay", "29s", "below"}, {"sends", "", "empty"}, {"sends", "many", "unreadable"},
		{"growth", "NaN", "unreadable"}, {"approval_limit", "-1 EUR", "unreadable"}, {"approval_limit", "12", "unreadable"}, {"in_flight", "0", "below"},
		{"breaker_longest", "9s", "below"}, {"per_second", "-1", "below"}, {"first_delay", "0s", "below"},
	} {
		s := tunable()
		l := s.Limits("")
		l[c.name] = c.text
		is, err := s.WithLimits("", l)
		var refused work.LimitsRefused
		if !errors.As(err, &refused) || len(refused) != 1 || refused[0].Name != c.name || refused[0].Code != c.code {
			t.Errorf("%s=%q: %v", c.name, c.text, err)
		}
		if !maps.Equal(is.Limits(""), s.Limits("")) {
			t.Errorf("%s=%q was refused but changed something", c.name, c.text)
		}
	}
	s := tunable()
	s.Policy.FirstDelay = 300 * time.Millisecond // set up so, not by an admin
	l := s.Limits("")
	l["sends"] = "6"
	if _, err := s.WithLimits("", l); err != nil {
		t.Errorf("what is as it was must not be refused: %v", err)
	}
	if s, _ = tunable().WithLimits("orders", work.Limits{"lookups": "4"}); s.Overrides["orders"].Lookups == nil {
		t.Fatal("no override")
	}
	l = s.Limits("")
	l["misses"], l["lookups"] = "4", "20"
	if _, err := s.WithLimits("", l); err == nil {
		t.Error("the system's limits must not make an automation's own impossible")
	}
}

// An automation may do without the approval that its system asks for, and what it waits for otherwise comes back.
func TestAnAutomationWithoutApproval(t *testing.T) {
	s := tunable()
	l := s.Limits("")
	l["approval_limit"] = "1000.00 EUR"
	s, err := s.WithLimits("", l)
	if err != nil {
		t.Fatal(err)
	}
	free, err := s.WithLimits("orders", work.Limits{"approval_limit": work.NoLimit})
	if err != nil {
		t.Fatal(err)
	}
	if free.RulesFor("orders").Policy.ApprovalLimit != nil || free.RulesFor("others").Policy.ApprovalLimit == nil || free.Policy.ApprovalLimit == nil {
		t.Errorf("%+v", free.Overrides)
	}
	if got := free.Limits("orders"); !maps.Equal(got, work.Limits{"approval_limit": work.NoLimit}) || free.Effective("orders")["approval_limit"] != work.NoLimit {
		t.Errorf("%v", got)
	}
	text, err := json.Marshal(free.Overrides)
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]work.Override
	if err := json.Unmarshal(text, &read); err != nil || !read["orders"].NoApproval {
		t.Errorf("%s: %v", text, err)
	}
	back, err := free.WithLimits("orders", nil)
	if err != nil || back.RulesFor("orders").Policy.ApprovalLimit == nil {
		t.Errorf("%v %+v", err, back.Overrides)
	}
}
