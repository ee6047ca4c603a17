package work_test

import (
	"testing"
	"time"

	"onefold/internal/work"
)

// Whatever a proof found and an admin stored, the rules never become bolder than what is declared.
func TestACautionOnlyTakesAway(t *testing.T) {
	yes := []bool{false, true}
	for n := range 1 << 10 {
		bit := func(i int) bool { return yes[n>>i&1] }
		declared := work.Capabilities{HonoursKeys: bit(0), Searchable: bit(1), UniqueReferences: bit(2), PlainReference: bit(3), SearchLag: 10 * time.Second}
		if declared.HonoursKeys {
			declared.KeyLifetime = time.Hour
		}
		s := work.System{Capabilities: declared, Typed: bit(4), Seen: work.Seen{Keys: bit(5), Search: bit(6)},
			Caution: work.Caution{NoKeys: bit(7), NoSearch: bit(8), NotUnique: bit(9), Plain: bit(9), SearchLag: map[bool]time.Duration{true: time.Second, false: time.Minute}[bit(7)]}}
		s.Seen.On = s.Reached()
		got := s.Rules().Capabilities
		if got != s.ReliedOn() {
			t.Fatal("the rules go by something else")
		}
		switch {
		case got.HonoursKeys && !declared.HonoursKeys, got.Searchable && !declared.Searchable, got.UniqueReferences && !declared.UniqueReferences,
			!got.PlainReference && declared.PlainReference, got.SearchLag < declared.SearchLag, got.KeyLifetime > declared.KeyLifetime:
			t.Fatalf("bolder than declared: %+v from %+v", got, s)
		case s.Typed && !s.Seen.Keys && got.HonoursKeys, s.Typed && !s.Seen.Search && got.Searchable:
			t.Fatalf("typed, never seen, and relied on: %+v", s)
		case s.Caution.NoKeys && got.HonoursKeys, s.Caution.NoSearch && got.Searchable, s.Caution.NotUnique && got.UniqueReferences:
			t.Fatalf("taken away, and relied on: %+v", s)
		case got.SearchLag < s.Caution.SearchLag, s.Caution.Plain && !got.PlainReference:
			t.Fatalf("the caution is lost: %+v", got)
		}
	}
}

// Where an admin typed that keys are recognised and records can be found, neither opens the gate before a proof has seen it.
func TestWhatIsTypedOpensNoGateBeforeItWasSeen(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	it := work.Item{Status: work.Pending, Sends: 1, SendsUsed: 1, Unsettled: []int{1}, FirstSentAt: now.Add(-time.Hour), SettleFrom: now.Add(-time.Hour)}
	s := work.System{Policy: work.DefaultPolicy(), Capabilities: work.Capabilities{HonoursKeys: true}, Typed: true}
	if proof, err := work.Gate(it, s.Rules(), now); err == nil {
		t.Errorf("the gate is open by %s", proof)
	}
	s.Seen = work.Seen{On: s.Reached(), Keys: true}
	if _, err := work.Gate(it, s.Rules(), now); err != nil {
		t.Errorf("seen, and still closed: %v", err)
	}
	renamed := s
	renamed.Name, renamed.Policy.RequestTimeout = "Other name", time.Minute
	if _, err := work.Gate(it, renamed.Rules(), now); err != nil {
		t.Errorf("another name is no other connection: %v", err)
	}
	for what, change := range map[string]func(*work.System){
		"address":     func(s *work.System) { s.Address = "https://other.example.com" },
		"settings":    func(s *work.System) { s.Settings = map[string]string{"definition": "other"} },
		"credentials": func(s *work.System) { s.CredentialsVersion++ },
	} {
		other := s
		change(&other)
		if proof, err := work.Gate(it, other.Rules(), now); err == nil {
			t.Errorf("other %s: what was seen elsewhere opens the gate by %s", what, proof)
		}
	}
}
