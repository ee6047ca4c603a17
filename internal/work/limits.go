package work

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"
)

// Limits are what admins tune for a system, or differently for one automation, by name and as canonical text: "5",
// "2.5", "30s", "1000.00 EUR". An empty text is no limit, or for an automation: as the system has it.
type Limits map[string]string

// LimitKind says what a limit counts, and so what its text looks like.
type LimitKind string

const (
	CountLimit    LimitKind = "count"    // a whole number
	TimeLimit     LimitKind = "time"     // a duration; bounds are in nanoseconds
	FactorLimit   LimitKind = "factor"   // a decimal number
	ShareLimit    LimitKind = "share"    // a part of one, shown as a percentage
	MoneyLimit    LimitKind = "money"    // an amount with its currency; may be empty
	PerSecondRate LimitKind = "per_time" // a decimal number of calls; 0 is no limit
)

// Limit is one of the limits.
type Limit struct {
	Name     string // stable; stored and used in forms
	Kind     LimitKind
	OfSystem bool // calls of all automations share it, so no automation has its own
	in       func(*System) any
	own      func(*Override) any // **T of the override's field; nil with OfSystem
}

// AllLimits lists every limit in the order of the form.
var AllLimits = []Limit{
	{"sends", CountLimit, false, func(s *System) any { return &s.Policy.Sends }, func(o *Override) any { return &o.Sends }},
	{"first_delay", TimeLimit, false, func(s *System) any { return &s.Policy.FirstDelay }, func(o *Override) any { return &o.FirstDelay }},
	{"growth", FactorLimit, false, func(s *System) any { return &s.Policy.Growth }, func(o *Override) any { return &o.Growth }},
	{"longest_delay", TimeLimit, false, func(s *System) any { return &s.Policy.LongestDelay }, func(o *Override) any { return &o.LongestDelay }},
	{"jitter", ShareLimit, false, func(s *System) any { return &s.Policy.Jitter }, func(o *Override) any { return &o.Jitter }},
	{"request_timeout", TimeLimit, false, func(s *System) any { return &s.Policy.RequestTimeout }, func(o *Override) any { return &o.RequestTimeout }},
	{"lookups", CountLimit, false, func(s *System) any { return &s.Policy.Lookups }, func(o *Override) any { return &o.Lookups }},
	{"settle", TimeLimit, false, func(s *System) any { return &s.Policy.Settle }, func(o *Override) any { return &o.Settle }},
	{"search_lag", TimeLimit, false, func(s *System) any { return &s.Policy.SearchLag }, func(o *Override) any { return &o.SearchLag }},
	{"misses", CountLimit, false, func(s *System) any { return &s.Policy.Misses }, func(o *Override) any { return &o.Misses }},
	{"settle_within", TimeLimit, false, func(s *System) any { return &s.Policy.SettleWithin }, func(o *Override) any { return &o.SettleWithin }},
	{"approval_limit", MoneyLimit, false, func(s *System) any { return &s.Policy.ApprovalLimit }, func(o *Override) any { return &o.ApprovalLimit }},
	{"in_flight", CountLimit, true, func(s *System) any { return &s.MaxInFlight }, nil},
	{"per_second", PerSecondRate, true, func(s *System) any { return &s.PerSecond }, nil},
	{"breaker_after", CountLimit, true, func(s *System) any { return &s.Policy.BreakerAfter }, nil},
	{"breaker_pause", TimeLimit, true, func(s *System) any { return &s.Policy.BreakerPause }, nil},
	{"breaker_longest", TimeLimit, true, func(s *System) any { return &s.Policy.BreakerLongest }, nil},
}

// NoLimit is the text of an approval limit that an automation does without although its system has one.
const NoLimit = "none"

// Limits are what is set for the system itself (automation empty; every limit is there, at least at its floor) or what
// the automation has of its own.
func (s System) Limits(automation string) Limits {
	l := Limits{}
	if automation != "" {
		o := s.Overrides[automation]
		for _, f := range AllLimits {
			if !f.OfSystem {
				l.put(f.Name, textOfLimit(f.own(&o)))
			}
		}
		if o.NoApproval {
			l.put("approval_limit", NoLimit)
		}
		return l
	}
	s = s.atFloors()
	for _, f := range AllLimits {
		l.put(f.Name, textOfLimit(f.in(&s)))
	}
	return l
}

// Effective are the limits that hold for the automation's items; for the system itself if it is empty.
func (s System) Effective(automation string) Limits {
	l := s.Limits("")
	maps.Copy(l, s.Limits(automation))
	return l
}

// atFloors raises what is below a floor of the system's capabilities, where it has no effect, and fills in defaults.
func (s System) atFloors() System {
	r := s.Rules()
	p := &s.Policy
	p.Settle, p.SearchLag, p.Misses = r.Settle(), r.SearchLag(), r.Misses()
	p.BreakerAfter, p.BreakerPause, p.BreakerLongest = p.Breaker()
	return s
}

func (l Limits) put(name, text string) {
	if text != "" {
		l[name] = text
	}
}

// Differ returns the limits in which b differs from a: as they are in a, and as they are in b. What is missing on one
// side is there with an empty text.
func (l Limits) Differ(b Limits) (was, is Limits) {
	was, is = Limits{}, Limits{}
	for _, f := range AllLimits {
		if l[f.Name] != b[f.Name] {
			was[f.Name], is[f.Name] = l[f.Name], b[f.Name]
		}
	}
	return was, is
}

// LimitError is one limit that cannot be as it was asked for.
type LimitError struct {
	Name string
	Code string // "unreadable", "below", "above", "empty"
	Bound
}

func (e *LimitError) Error() string { return "the limit " + e.Name + " is " + e.Code }

// LimitsRefused is why limits cannot be as they were asked for; nothing was changed.
type LimitsRefused []*LimitError

func (e LimitsRefused) Error() string {
	var all []error
	for _, one := range e {
		all = append(all, one)
	}
	return errors.Join(all...).Error()
}

// LimitsImpossible says, in the user's words, why limits that are each within their bounds cannot be together.
type LimitsImpossible string

func (e LimitsImpossible) Error() string { return string(e) }

// WithLimits returns the system with these limits in place of the present ones of the system or of the automation. What
// is as it was may stay as it is. It returns LimitsRefused or LimitsImpossible.
func (s System) WithLimits(automation string, l Limits) (System, error) {
	is := s
	is.Overrides = maps.Clone(s.Overrides)
	var own Override
	var refused LimitsRefused
	was := s.Limits(automation)
	for _, f := range AllLimits {
		if automation != "" && f.OfSystem {
			continue
		}
		var to any
		if automation == "" {
			to = f.in(&is)
		} else {
			to = f.own(&own)
		}
		switch text := strings.TrimSpace(l[f.Name]); {
		case text == "" && (automation != "" || f.Kind == MoneyLimit):
			setLimit(to, nil)
		case text == NoLimit && f.Kind == MoneyLimit:
			setLimit(to, nil)
			own.NoApproval = automation != ""
		case text == "":
			refused = append(refused, &LimitError{Name: f.Name, Code: "empty"})
		default:
			if value, err := f.read(text); err != nil {
				refused = append(refused, &LimitError{Name: f.Name, Code: "unreadable"})
			} else {
				setLimit(to, value)
			}
		}
	}
	if len(refused) > 0 {
		return s, refused
	}
	if automation != "" {
		if is.Overrides == nil {
			is.Overrides = map[string]Override{}
		}
		if is.Overrides[automation] = own; own == (Override{}) {
			delete(is.Overrides, automation)
		}
	}
	for _, f := range AllLimits {
		if l[f.Name] == "" || f.Kind == MoneyLimit || automation != "" && f.OfSystem || was[f.Name] == l[f.Name] {
			continue
		}
		if e := is.outOfBounds(f, automation); e != nil {
			refused = append(refused, e)
		}
	}
	if len(refused) > 0 {
		return s, refused
	}
	if err := is.Validate(); err != nil {
		return s, LimitsImpossible(err.Error())
	}
	return is, nil
}

func (s System) outOfBounds(f Limit, automation string) *LimitError {
	b := s.Bound(f.Name, automation)
	switch value := s.number(f, automation); {
	case math.IsNaN(value) || value < b.Min:
		return &LimitError{f.Name, "below", b}
	case value > b.Max:
		return &LimitError{f.Name, "above", b}
	}
	return nil
}

// number is the limit that holds for the automation.
func (s System) number(f Limit, automation string) float64 {
	s.Policy = s.RulesFor(automation).Policy
	switch v := f.in(&s).(type) {
	case *int:
		return float64(*v)
	case *time.Duration:
		return float64(*v)
	case *float64:
		return *v
	}
	return 0
}

// read is the value of a canonical text.
func (f Limit) read(text string) (any, error) {
	switch f.Kind {
	case CountLimit:
		return strconv.Atoi(text)
	case TimeLimit:
		return time.ParseDuration(text)
	case MoneyLimit:
		number, code, _ := strings.Cut(text, " ")
		a, err := currency.NewAmount(number, code)
		if err == nil && a.IsNegative() {
			err = fmt.Errorf("%s is negative", text)
		}
		return &a, err
	default:
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
			err = fmt.Errorf("%s is no number", text)
		}
		return n, err
	}
}

// setLimit sets a field of a system or, as a pointer, of an override; nil unsets it.
func setLimit(to, value any) {
	switch to := to.(type) {
	case *int:
		*to = value.(int)
	case *time.Duration:
		*to = value.(time.Duration)
	case *float64:
		*to = value.(float64)
	case **int:
		*to = pointer[int](value)
	case **time.Duration:
		*to = pointer[time.Duration](value)
	case **float64:
		*to = pointer[float64](value)
	case **currency.Amount:
		if *to = nil; value != nil {
			*to = value.(*currency.Amount)
		}
	}
}

func pointer[T any](value any) *T {
	if value == nil {
		return nil
	}
	v := value.(T)
	return &v
}

// textOfLimit is the canonical text of a field of a system, or of an override.
func textOfLimit(from any) string {
	switch v := from.(type) {
	case *int:
		return strconv.Itoa(*v)
	case *time.Duration:
		return v.String()
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case **currency.Amount:
		if *v == nil {
			return ""
		}
		return (*v).Number() + " " + (*v).CurrencyCode()
	case **int:
		if *v != nil {
			return textOfLimit(*v)
		}
	case **time.Duration:
		if *v != nil {
			return textOfLimit(*v)
		}
	case **float64:
		if *v != nil {
			return textOfLimit(*v)
		}
	}
	return ""
}
