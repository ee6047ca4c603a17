package sandbox

import (
	"fmt"
	"strconv"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Adapter is how an admin connects the sandbox.
var Adapter = ledger.Adapter{
	Name:    "sandbox",
	Title:   "Sandbox",
	Address: "http://127.0.0.1:8090/search",
	Fields: []ledger.Field{
		{Name: "token", Label: "API token", Help: "Only if the sandbox was started with one.", Secret: true},
		{Name: "personality", Label: "Behaves like", Help: "What kind of accounting system the books are; it must fit the books of the address.",
			Choices: []string{string(Search), string(Keys), string(Unique), string(Blind)}, Default: string(Search)},
		{Name: "single_step", Label: "Issued at once", Help: "No: an invoice is first made as a draft and then posted, in two steps.",
			Choices: []string{"false", "true"}, Default: "false"},
		{Name: "search_lag", Label: "Search lag", Help: "How long a new record may be missing from the search, for example 2s.", Default: "2s"},
		{Name: "linger", Label: "Still at work", Help: "How long a request may still be at work there after we hung up, for example 30s.", Default: "30s"},
		{Name: "misses", Label: "Misses that prove absence", Help: "How often in a row a search must find nothing.", Default: "2"},
		{Name: "tolerance", Label: "Rounding", Help: "Difference of the total that still counts as the same, in cents.", Default: "1"},
		{Name: "key_lifetime", Label: "Repeats are recognised for", Help: "For books that recognise repeats: how long, for example 24h.", Default: "24h"},
	},
	Connect:   connect,
	TestBooks: func(work.System) bool { return true }, // it is nothing else
}

func connect(c ledger.Connection) (ledger.System, error) {
	set := settings{of: c.System.Settings}
	cfg := Config{
		BaseURL:     c.System.Address,
		Token:       c.Secrets["token"],
		Personality: Personality(set.text("personality")),
		KeyLifetime: set.duration("key_lifetime"),
		SearchLag:   set.duration("search_lag"),
		Linger:      set.duration("linger"),
		Misses:      set.number("misses"),
		Tolerance:   set.number("tolerance"),
		SingleStep:  set.text("single_step") == "true",
		Timeout:     c.Timeout(),
		Now:         c.Now,
		Lose:        c.Lose,
	}
	if set.err != nil {
		return nil, set.err
	}
	return New(cfg)
}

// settings reads what an admin typed, or the field's default, and keeps the first error.
type settings struct {
	of  map[string]string
	err error
}

func (s *settings) text(name string) string {
	if v, ok := s.of[name]; ok && v != "" {
		return v
	}
	return defaults[name]
}

func (s *settings) wrong(name, must string) {
	if s.err == nil {
		s.err = &ledger.FieldError{Field: name, Err: fmt.Errorf("%s must be %s, not %q", labels[name], must, s.text(name))}
	}
}

func (s *settings) duration(name string) time.Duration {
	d, err := time.ParseDuration(s.text(name))
	if err != nil || d < 0 || d > 10*365*24*time.Hour {
		s.wrong(name, "a time such as 90s, 2m or 24h")
	}
	return d
}

func (s *settings) number(name string) int {
	n, err := strconv.Atoi(s.text(name))
	if err != nil || n < 0 || n > 1000 {
		s.wrong(name, "a whole number from 0 to 1000")
	}
	return n
}

var defaults, labels = map[string]string{}, map[string]string{}

func init() {
	for _, f := range Adapter.Fields {
		defaults[f.Name], labels[f.Name] = f.Default, f.Label
	}
}
