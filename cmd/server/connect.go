package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/work"
)

// connect makes the adapter of a system. A new accounting system is one line here.
func connect(s work.System) (ledger.System, error) {
	switch s.Adapter {
	case "sandbox":
		return connectSandbox(s)
	default:
		return nil, fmt.Errorf("there is no adapter %q; this version knows: sandbox", s.Adapter)
	}
}

func connectSandbox(s work.System) (ledger.System, error) {
	set := settings{of: s.Settings}
	cfg := sandbox.Config{
		BaseURL:     s.Address,
		Token:       os.Getenv("ONEFOLD_SYSTEM_" + strings.ToUpper(strings.ReplaceAll(s.ID, "-", "_")) + "_TOKEN"),
		Personality: sandbox.Personality(set.text("personality", "search")),
		KeyLifetime: set.duration("key_lifetime", 24*time.Hour),
		SearchLag:   set.duration("search_lag", 2*time.Second),
		Linger:      set.duration("linger", 30*time.Second),
		Misses:      set.number("misses", 2),
		Tolerance:   set.number("tolerance", 1),
		SingleStep:  set.text("single_step", "") == "true",
		Timeout:     s.Policy.RequestTimeout,
	}
	if set.err != nil {
		return nil, fmt.Errorf("the system %s: %w", s.ID, set.err)
	}
	return sandbox.New(cfg)
}

// settings reads a system's settings and keeps the first error.
type settings struct {
	of  map[string]string
	err error
}

func (s *settings) text(name, otherwise string) string {
	if v, ok := s.of[name]; ok {
		return v
	}
	return otherwise
}

func (s *settings) duration(name string, otherwise time.Duration) time.Duration {
	v, ok := s.of[name]
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(v)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("the setting %s must be a time such as 90s, not %q", name, v)
	}
	return d
}

func (s *settings) number(name string, otherwise int) int {
	v, ok := s.of[name]
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("the setting %s must be a whole number, not %q", name, v)
	}
	return n
}

// declared completes a system from its adapter: what it can do and which steps a document needs.
func declared(s work.System) (work.System, error) {
	sys, err := connect(s)
	if err != nil {
		return s, err
	}
	s.Capabilities, s.Steps = sys.Capabilities(), sys.Steps()
	return s, s.Validate()
}
