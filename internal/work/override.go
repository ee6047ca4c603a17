package work

import (
	"time"

	"github.com/bojanz/currency"
)

// Override is what one automation does differently from its system's policy. A nil field is inherited.
type Override struct {
	Sends          *int             `json:"sends,omitempty"`
	FirstDelay     *time.Duration   `json:"first_delay,omitempty"`
	Growth         *float64         `json:"growth,omitempty"`
	LongestDelay   *time.Duration   `json:"longest_delay,omitempty"`
	Jitter         *float64         `json:"jitter,omitempty"`
	RequestTimeout *time.Duration   `json:"request_timeout,omitempty"`
	Lookups        *int             `json:"lookups,omitempty"`
	Settle         *time.Duration   `json:"settle,omitempty"`
	SearchLag      *time.Duration   `json:"search_lag,omitempty"`
	Misses         *int             `json:"misses,omitempty"`
	SettleWithin   *time.Duration   `json:"settle_within,omitempty"`
	ApprovalLimit  *currency.Amount `json:"approval_limit,omitempty"`
	NoApproval     bool             `json:"no_approval,omitempty"` // nothing waits for approval, whatever the system's limit
}

// Apply returns the policy with the override's fields in it.
func (o Override) Apply(p Policy) Policy {
	set(&p.Sends, o.Sends)
	set(&p.FirstDelay, o.FirstDelay)
	set(&p.Growth, o.Growth)
	set(&p.LongestDelay, o.LongestDelay)
	set(&p.Jitter, o.Jitter)
	set(&p.RequestTimeout, o.RequestTimeout)
	set(&p.Lookups, o.Lookups)
	set(&p.Settle, o.Settle)
	set(&p.SearchLag, o.SearchLag)
	set(&p.Misses, o.Misses)
	set(&p.SettleWithin, o.SettleWithin)
	if o.ApprovalLimit != nil {
		p.ApprovalLimit = o.ApprovalLimit
	}
	if o.NoApproval {
		p.ApprovalLimit = nil
	}
	return p
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// RulesFor are the rules at this moment for the items of one automation.
func (s System) RulesFor(automation string) Rules {
	r := s.Rules()
	if o, ok := s.Overrides[automation]; ok {
		r.Policy = o.Apply(r.Policy)
	}
	return r
}
