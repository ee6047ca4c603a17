package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/work"
)

const systemColumns = "id, company_id, name, adapter, address, policy, capabilities, steps, max_in_flight, per_second, identity, " +
	"paused_at, paused_by, pause_reason, breaker_until, breaker_reason, login_problem, look_first, look_first_why, overrides, settings, breaker_since, credentials_version, typed, seen, caution, version"

// scanSystem reads systemColumns, and more columns after them.
func scanSystem(r interface{ Scan(dest ...any) error }, s *work.System, more ...any) error {
	var policy, capabilities, steps, overrides, settings, seen, caution string
	dest := []any{&s.ID, &s.CompanyID, &s.Name, &s.Adapter, &s.Address, &policy, &capabilities, &steps, &s.MaxInFlight, &s.PerSecond,
		&s.Identity, stamp{&s.PausedAt}, &s.PausedBy, &s.PauseReason, stamp{&s.BreakerUntil}, &s.BreakerReason, &s.LoginProblem,
		stamp{&s.LookFirst}, &s.LookFirstWhy, &overrides, &settings, stamp{&s.BreakerSince},
		&s.CredentialsVersion, &s.Typed, &seen, &caution, &s.Version}
	if err := r.Scan(append(dest, more...)...); err != nil {
		return err
	}
	s.Steps = strings.Split(steps, ",")
	if err := json.Unmarshal([]byte(policy), &s.Policy); err != nil {
		return fmt.Errorf("the stored policy of %q is damaged: %w", s.ID, err)
	}
	if err := json.Unmarshal([]byte(capabilities), &s.Capabilities); err != nil {
		return fmt.Errorf("the stored capabilities of %q are damaged: %w", s.ID, err)
	}
	return readSettings(s, overrides, settings, seen, caution)
}

// readSettings reads what may be empty.
func readSettings(s *work.System, overrides, settings, seen, caution string) error {
	if seen != "" {
		if err := json.Unmarshal([]byte(seen), &s.Seen); err != nil {
			return fmt.Errorf("what was seen of %q is damaged: %w", s.ID, err)
		}
	}
	if caution != "" {
		if err := json.Unmarshal([]byte(caution), &s.Caution); err != nil {
			return fmt.Errorf("the stored caution of %q is damaged: %w", s.ID, err)
		}
	}
	if overrides != "" {
		if err := json.Unmarshal([]byte(overrides), &s.Overrides); err != nil {
			return fmt.Errorf("the stored overrides of %q are damaged: %w", s.ID, err)
		}
	}
	if settings != "" {
		if err := json.Unmarshal([]byte(settings), &s.Settings); err != nil {
			return fmt.Errorf("the stored settings of %q are damaged: %w", s.ID, err)
		}
	}
	return nil
}

func scanSystems(r rows) ([]work.System, error) {
	var list []work.System
	for r.Next() {
		var s work.System
		if err := scanSystem(r, &s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, r.Err()
}

// moment is a time in gorm's rows; the zero time is NULL.
type moment time.Time

// Scan implements sql.Scanner.
func (m *moment) Scan(v any) error { return stamp{(*time.Time)(m)}.Scan(v) }

// GormValue writes the time in the database's own form.
func (m moment) GormValue(_ context.Context, db *gorm.DB) clause.Expr {
	t := time.Time(m)
	if db.Name() == "sqlite" {
		return clause.Expr{SQL: "?", Vars: []any{micros(t)}}
	}
	if t.IsZero() {
		return clause.Expr{SQL: "NULL"}
	}
	return clause.Expr{SQL: "?", Vars: []any{t}}
}

// systemRow is a system in the database, but for the pace, which only claims touch.
type systemRow struct {
	ID            string `gorm:"primaryKey"`
	CompanyID     int64
	Name          string
	Adapter       string
	Address       string
	Policy        string
	Capabilities  string
	Steps         string
	MaxInFlight   int
	PerSecond     float64
	Identity      string
	PausedAt      moment
	PausedBy      string
	PauseReason   string
	BreakerUntil  moment
	BreakerReason string
	LoginProblem  string
	LookFirst     moment
	LookFirstWhy  string
	Overrides     string
	Settings      string
	BreakerSince  moment

	CredentialsVersion int64

	Typed   bool
	Seen    string
	Caution string

	Version int64
}

func (systemRow) TableName() string { return "systems" }

func newSystemRow(s work.System) (systemRow, error) {
	policy, err := json.Marshal(s.Policy)
	if err != nil {
		return systemRow{}, fmt.Errorf("the policy cannot be stored: %w", err)
	}
	capabilities, err := json.Marshal(s.Capabilities)
	if err != nil {
		return systemRow{}, fmt.Errorf("the capabilities cannot be stored: %w", err)
	}
	var overrides, settings, seen, caution []byte
	if len(s.Overrides) > 0 {
		if overrides, err = json.Marshal(s.Overrides); err != nil {
			return systemRow{}, fmt.Errorf("the overrides cannot be stored: %w", err)
		}
	}
	if len(s.Settings) > 0 {
		if settings, err = json.Marshal(s.Settings); err != nil {
			return systemRow{}, fmt.Errorf("the settings cannot be stored: %w", err)
		}
	}
	if s.Seen != (work.Seen{}) {
		if seen, err = json.Marshal(s.Seen); err != nil {
			return systemRow{}, fmt.Errorf("what was seen cannot be stored: %w", err)
		}
	}
	if s.Caution != (work.Caution{}) {
		if caution, err = json.Marshal(s.Caution); err != nil {
			return systemRow{}, fmt.Errorf("the caution cannot be stored: %w", err)
		}
	}
	return systemRow{ID: s.ID, CompanyID: s.CompanyID, Name: tidy(s.Name, maxShort), Adapter: s.Adapter, Address: s.Address,
		Policy: string(policy), Capabilities: string(capabilities), Steps: strings.Join(s.Steps, ","), MaxInFlight: s.MaxInFlight,
		PerSecond: s.PerSecond, Identity: tidy(s.Identity, maxShort), PausedAt: moment(s.PausedAt), PausedBy: s.PausedBy,
		PauseReason: tidy(s.PauseReason, maxShort), BreakerUntil: moment(s.BreakerUntil), BreakerReason: tidy(s.BreakerReason, maxShort),
		LoginProblem: tidy(s.LoginProblem, maxShort), LookFirst: moment(s.LookFirst), LookFirstWhy: tidy(s.LookFirstWhy, maxShort),
		Overrides: string(overrides), Settings: string(settings), BreakerSince: moment(s.BreakerSince),
		CredentialsVersion: s.CredentialsVersion, Typed: s.Typed, Seen: string(seen), Caution: string(caution), Version: s.Version}, nil
}

func (r systemRow) system() (work.System, error) {
	s := work.System{ID: r.ID, CompanyID: r.CompanyID, Name: r.Name, Adapter: r.Adapter, Address: r.Address, Steps: strings.Split(r.Steps, ","),
		MaxInFlight: r.MaxInFlight, PerSecond: r.PerSecond, Identity: r.Identity, PausedAt: time.Time(r.PausedAt), PausedBy: r.PausedBy,
		PauseReason: r.PauseReason, BreakerUntil: time.Time(r.BreakerUntil), BreakerReason: r.BreakerReason, LoginProblem: r.LoginProblem,
		LookFirst: time.Time(r.LookFirst), LookFirstWhy: r.LookFirstWhy, BreakerSince: time.Time(r.BreakerSince),
		CredentialsVersion: r.CredentialsVersion, Typed: r.Typed, Version: r.Version}
	if err := json.Unmarshal([]byte(r.Policy), &s.Policy); err != nil {
		return s, fmt.Errorf("the stored policy of %q is damaged: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(r.Capabilities), &s.Capabilities); err != nil {
		return s, fmt.Errorf("the stored capabilities of %q are damaged: %w", r.ID, err)
	}
	return s, readSettings(&s, r.Overrides, r.Settings, r.Seen, r.Caution)
}
