package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"onefold/internal/work"
)

// BuiltInAutomations are shown before anything was recorded under their names.
var BuiltInAutomations = []string{"recurring", "orders", "invoices"}

// CountedUpTo is the most of one list that the automations' page counts: a long history must not make the page slow.
const CountedUpTo = 10_000

// ErrAutomationChanged says that somebody else switched the automation since the person saw it.
var ErrAutomationChanged = errors.New("somebody else switched this automation meanwhile: look at it again")

// AutomationStore is what the page of the automations needs from the database.
type AutomationStore interface {
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Automations are the names under which anything is recorded, in order.
	Automations(ctx context.Context, companyID int64) ([]string, error)
	// AutomationSwitches returns those that were ever switched, by name.
	AutomationSwitches(ctx context.Context, companyID int64) ([]work.AutomationSwitch, error)
	// SwitchAutomation writes the switch and puts it on record, if the stored version is still one less; else it returns
	// ErrAutomationChanged.
	SwitchAutomation(ctx context.Context, to work.AutomationSwitch, by work.Actor, note string) error
	// AutomationTargets are the systems that automations have sent to, by automation and system.
	AutomationTargets(ctx context.Context, companyID int64) ([]AutomationTarget, error)
	// NeverProven returns the systems that the automation is set up to send to and never sent anything to, that were never
	// proven as they are connected now, and on which nobody let it run.
	NeverProven(ctx context.Context, companyID int64, automation string) ([]work.System, error)
	// BeginsUnproven reports whether the automation never recorded anything for the system, that was never proven as it is
	// connected now, and nobody let it begin there.
	BeginsUnproven(ctx context.Context, companyID int64, automation, systemID string) (bool, error)
	// AllowUnproven notes that a person lets the automation run on these systems all the same, and puts it on record, once.
	AllowUnproven(ctx context.Context, companyID int64, automation string, ids []string, by work.Actor) error
	// Count counts the rows of a list, but stops at most.
	Count(ctx context.Context, q Query, most int64) (int64, error)
}

// AutomationTarget is a system that an automation has recorded for, as it last did.
type AutomationTarget struct {
	Automation string
	SystemID   string
	Steps      []string  // of the newest document
	LastAt     time.Time // when that was recorded
}

// AutomationState is one automation as its page shows it.
type AutomationState struct {
	work.AutomationSwitch
	Targets []AutomationTarget
	LastAt  time.Time     // when it last recorded anything; zero: never
	Counts  map[Tab]int64 // documents in each of MonthTabs, counted up to CountedUpTo
	Planned bool          // it records by itself, and can be run at once
	NextAt  time.Time     // when it will record something next; zero: nothing is planned
}

// AutomationRunner is an automation that records by itself.
type AutomationRunner interface {
	// Next is when something is due next; it may be past, if it waits for the next round. Zero: nothing is planned.
	Next(ctx context.Context) (time.Time, error)
	// Run records what is due now. It may be called at any time, any number of times: nothing is made twice.
	Run(ctx context.Context) (AutomationRun, error)
}

// AutomationRun is what one run did.
type AutomationRun struct {
	Recorded int      // documents that are new
	Asked    int      // plans that now wait for a person
	Problems []string // in the user's words
}

// Automations is what staff may see and do about automations. It is safe for concurrent use.
type Automations struct {
	store   AutomationStore
	company int64
	runners map[string]AutomationRunner
}

// NewAutomations returns the service for a company. Runners are those that record by themselves, by name.
func NewAutomations(store AutomationStore, companyID int64, runners map[string]AutomationRunner) *Automations {
	return &Automations{store, companyID, runners}
}

// MaySwitch reports whether the actor may switch automations and run them at once.
func MaySwitch(by work.Actor) bool {
	return (by.Kind == work.Person || by.Kind == work.Console) && by.Can(work.Admin)
}

// List returns every automation that is built in, was used or was switched, the built-in ones first.
func (a *Automations) List(ctx context.Context, by work.Actor) ([]AutomationState, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	all, err := a.known(ctx)
	if err != nil {
		return nil, err
	}
	targets, err := a.store.AutomationTargets(ctx, a.company)
	if err != nil {
		return nil, err
	}
	list := make([]AutomationState, len(all))
	for i, s := range all {
		if list[i], err = a.state(ctx, s, targets); err != nil {
			return nil, fmt.Errorf("automation %q: %w", s.Name, err)
		}
	}
	return list, nil
}

func (a *Automations) state(ctx context.Context, s work.AutomationSwitch, targets []AutomationTarget) (AutomationState, error) {
	st := AutomationState{AutomationSwitch: s, Counts: map[Tab]int64{}}
	for _, t := range targets {
		if t.Automation != s.Name {
			continue
		}
		st.Targets = append(st.Targets, t)
		if t.LastAt.After(st.LastAt) {
			st.LastAt = t.LastAt
		}
	}
	var err error
	if r := a.runners[s.Name]; r != nil {
		st.Planned = true
		if st.NextAt, err = r.Next(ctx); err != nil {
			return st, err
		}
	}
	if st.LastAt.IsZero() {
		return st, nil
	}
	for _, tab := range MonthTabs {
		q := Query{CompanyID: a.company, Tab: tab, Filter: Filter{Automation: s.Name}}
		if st.Counts[tab], err = a.store.Count(ctx, q, CountedUpTo); err != nil {
			return st, err
		}
	}
	return st, nil
}

// known are the switches of all automations that there are, also of those that nobody switched.
func (a *Automations) known(ctx context.Context) ([]work.AutomationSwitch, error) {
	used, err := a.store.Automations(ctx, a.company)
	if err != nil {
		return nil, err
	}
	switches, err := a.store.AutomationSwitches(ctx, a.company)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(BuiltInAutomations)
	for _, s := range switches {
		used = append(used, s.Name)
	}
	slices.Sort(used)
	for _, name := range used {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	list := make([]work.AutomationSwitch, len(names))
	for i, name := range names {
		list[i] = work.AutomationSwitch{CompanyID: a.company, Name: name}
		if at := slices.IndexFunc(switches, func(s work.AutomationSwitch) bool { return s.Name == name }); at >= 0 {
			list[i] = switches[at]
		}
	}
	return list, nil
}

func (a *Automations) one(ctx context.Context, name string) (work.AutomationSwitch, error) {
	all, err := a.known(ctx)
	if err != nil {
		return work.AutomationSwitch{}, err
	}
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	return work.AutomationSwitch{}, ErrNotFound
}

// OnUnproven says that an automation would begin on systems that were never proven: a person must agree first.
type OnUnproven struct {
	Automation string
	Systems    []work.System // never empty
}

func (e *OnUnproven) Error() string {
	var names []string
	for _, sys := range e.Systems {
		names = append(names, sys.Name)
	}
	return fmt.Sprintf("the automation %q would begin on %s, which was never proven: prove it first, or agree to run it anyway", e.Automation, strings.Join(names, " and "))
}

// mayBegin returns *OnUnproven if a person must agree first.
func (a *Automations) mayBegin(ctx context.Context, name string) error {
	never, err := a.store.NeverProven(ctx, a.company, name)
	if err == nil && len(never) > 0 {
		err = &OnUnproven{name, never}
	}
	return err
}

// Agree lets an automation begin on those of the systems on which it may not begin yet, although they were never proven.
// It goes on record; agreed is false if there was nothing to agree to.
func (a *Automations) Agree(ctx context.Context, by work.Actor, name string, ids []string) (agreed bool, err error) {
	if !MaySwitch(by) {
		return false, ErrForbidden
	}
	name = strings.TrimSpace(name)
	if name == "" {
		return false, ErrNotFound
	}
	var wait []string
	for _, id := range ids {
		unproven, err := a.store.BeginsUnproven(ctx, a.company, name, id)
		if err != nil {
			return false, err
		}
		if unproven {
			wait = append(wait, id)
		}
	}
	if len(wait) == 0 {
		return false, nil
	}
	return true, a.store.AllowUnproven(ctx, a.company, name, wait, by)
}

// Switch turns an automation off or on, if it is still as the person saw it: version is what they saw. Off, it records
// nothing new; what is recorded goes on. Switching to what it is already, by the same person, changes nothing. The note,
// which may be empty, goes on record. It returns ErrForbidden, ErrNotFound, ErrAutomationChanged or, when it would be on,
// *OnUnproven.
func (a *Automations) Switch(ctx context.Context, by work.Actor, name string, on bool, version int64, note string) error {
	if !MaySwitch(by) {
		return ErrForbidden
	}
	is, err := a.one(ctx, name)
	if err != nil {
		return err
	}
	note = strings.TrimSpace(Input{Note: note}.clean().Note)
	if is.Version != version || is.Off() != on {
		return settledAlready(is, by, on)
	}
	if on {
		if err := a.mayBegin(ctx, name); err != nil {
			return err
		}
	}
	to := work.AutomationSwitch{CompanyID: a.company, Name: name, Version: version + 1}
	if !on {
		if to.OffAt, err = a.store.Now(ctx); err != nil {
			return err
		}
		to.OffBy, to.OffNote = work.Actor{Kind: by.Kind, ID: by.ID, Name: by.Name}, note
	}
	err = a.store.SwitchAutomation(ctx, to, by, note)
	if errors.Is(err, ErrAutomationChanged) {
		if is, again := a.one(ctx, name); again == nil {
			return settledAlready(is, by, on)
		}
	}
	return err
}

// settledAlready is nil if the automation is as wanted by nobody else's doing: the same form came twice.
func settledAlready(is work.AutomationSwitch, by work.Actor, on bool) error {
	if is.Off() != on && (on || is.OffBy.Same(by)) {
		return nil
	}
	return ErrAutomationChanged
}

// Run records at once what is due of an automation that records by itself. Pressed twice it makes nothing twice. It
// returns ErrForbidden, ErrNotFound, *OnUnproven or a *work.SwitchedOff.
func (a *Automations) Run(ctx context.Context, by work.Actor, name string) (AutomationRun, error) {
	if !MaySwitch(by) {
		return AutomationRun{}, ErrForbidden
	}
	r := a.runners[name]
	if r == nil {
		return AutomationRun{}, ErrNotFound
	}
	is, err := a.one(ctx, name)
	if err != nil {
		return AutomationRun{}, err
	}
	if is.Off() {
		return AutomationRun{}, &work.SwitchedOff{Switch: is}
	}
	if err := a.mayBegin(ctx, name); err != nil {
		return AutomationRun{}, err
	}
	return r.Run(ctx)
}
