package work

import (
	"fmt"
	"time"
)

// AutomationSwitch says whether an automation may record anything new. One that nobody ever switched is on.
type AutomationSwitch struct {
	CompanyID int64
	Name      string
	OffAt     time.Time // zero: it is on
	OffBy     Actor     // without roles
	OffNote   string    // why, in their words; may be empty
	Version   int64     // counted up with every switch; 0: never switched
}

// Off reports whether nothing new is recorded.
func (s AutomationSwitch) Off() bool { return !s.OffAt.IsZero() }

// SwitchedOff says that nothing new was recorded because its automation is switched off.
type SwitchedOff struct {
	Switch AutomationSwitch
	Zone   *time.Location // of the time in the sentence; nil: UTC
}

func (e *SwitchedOff) Error() string {
	zone := e.Zone
	if zone == nil {
		zone = time.UTC
	}
	s := fmt.Sprintf("the automation %q was switched off by %s on %s: nothing new is recorded until an admin switches it on again",
		e.Switch.Name, e.Switch.OffBy.Name, e.Switch.OffAt.In(zone).Format("2 January 2006 at 15:04 MST"))
	if e.Switch.OffNote != "" {
		s += fmt.Sprintf(" (reason: %s)", e.Switch.OffNote)
	}
	return s
}
