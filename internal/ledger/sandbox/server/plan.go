package server

import (
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
)

// Kind is a kind of request.
type Kind string

// The kinds of requests.
const (
	Create   Kind = "create"
	Post     Kind = "post"
	Find     Kind = "find"     // the search
	Get      Kind = "get"      // one record by its id
	Identity Kind = "identity" // whose books
	Moved    Kind = "moved"    // a redirect that was followed; counted only
)

// Fault is one way to misbehave.
type Fault string

// The faults. "After" means that the effect has happened by then.
const (
	DropBefore       Fault = "drop_before"        // the line breaks, nothing happened
	DropAfter        Fault = "drop_after"         // the line breaks after the effect: the response is lost
	CommitLate       Fault = "commit_late"        // waits, then carries it out, whoever still listens
	ErrorBefore      Fault = "error_before"       // 500, nothing happened
	ErrorAfter       Fault = "error_after"        // 500 after the effect
	Unavailable      Fault = "unavailable"        // 503, nothing happened
	UnavailableAfter Fault = "unavailable_after"  // 503 after the effect
	GatewayPage      Fault = "gateway_page"       // 502 with a web page, nothing happened
	GatewayAfter     Fault = "gateway_after"      // 504 after the effect
	RateLimit        Fault = "rate_limit"         // 429 with Rule.RetryAfter, nothing happened
	Login            Fault = "login"              // 401, nothing happened
	PageBefore       Fault = "page_before"        // 200 with a web page, nothing happened
	PageAfter        Fault = "page_after"         // 200 with a web page after the effect
	EmptyBefore      Fault = "empty_before"       // 200 with nothing, nothing happened
	EmptyAfter       Fault = "empty_after"        // 200 with nothing after the effect
	WrongType        Fault = "wrong_type"         // the right answer as text/plain
	Garbage          Fault = "garbage"            // half of the right answer
	Redirect301      Fault = "redirect_301"       // to a list, nothing happened
	Redirect302      Fault = "redirect_302"       //
	Redirect303      Fault = "redirect_303"       //
	Redirect307      Fault = "redirect_307"       //
	Redirect308      Fault = "redirect_308"       //
	Drip             Fault = "drip"               // the right answer, a byte at a time
	DripHeaders      Fault = "drip_headers"       // headers without end, a byte at a time
	Endless          Fault = "endless"            // an answer without end
	EndlessError     Fault = "endless_error"      // a 500 without end after the effect
	HugeGzip         Fault = "huge_gzip"          // a small answer that unpacks without end
	CloseReused      Fault = "close_reused"       // after the effect the line breaks if the connection was used before
	ListAnswer       Fault = "list_answer"        // 200 with a list, nothing happened
	ZeroID           Fault = "zero_id"            // success with an id of zeros, after the effect
	NullID           Fault = "null_id"            // success with a null id
	EmptyID          Fault = "empty_id"           // success with an empty id
	NumericID        Fault = "numeric_id"         // success with a number for an id
	Reject           Fault = "reject"             // 422 with Rule.Reason, nothing happened
	RejectFinal      Fault = "reject_final"       // 422 that no retry can cure
	RejectXML        Fault = "reject_xml"         // 400 as XML
	RejectBare       Fault = "reject_bare"        // 400 without body and type
	RejectCharset    Fault = "reject_charset"     // 400 as Application/JSON; charset=UTF-8
	RejectRaw        Fault = "reject_raw"         // 400 whose reason is Rule.Reason byte by byte, valid or not
	RejectPage       Fault = "reject_page"        // 400 as a web page, as a firewall in between gives it
	DuplicateError   Fault = "duplicate_error"    // 409 duplicate though nothing is there
	TrimReference    Fault = "trim_reference"     // the reference is stored without outer blanks
	UpperReference   Fault = "upper_reference"    // the reference is stored in capitals
	TotalTimes100    Fault = "total_times_100"    // a hundred times the total is stored
	TotalPlusCent    Fault = "total_plus_cent"    // the total is stored one smallest unit too high
	TotalPlusOne     Fault = "total_plus_one"     // the total is stored 1.00 too high
	OtherCustomer    Fault = "other_customer"     // stored for another customer
	Voided           Fault = "voided"             // void right after the effect
	Deleted          Fault = "deleted"            // deleted right after the effect; the search still shows it as live
	Lag              Fault = "lag"                // the record enters the search only after the delay
	SearchEmpty      Fault = "search_empty"       // the search sees nothing and says so
	SearchError      Fault = "search_error"       // 200 with an error code
	SearchForbidden  Fault = "search_forbidden"   // 403
	SearchBrokenPage Fault = "search_broken_page" // the first page is good, the next are 500
	OtherBooks       Fault = "other_books"        // another tenant answers: other identity, empty books; a write goes astray there
)

// Faults lists every fault, for the page.
var Faults = []Fault{DropBefore, DropAfter, CommitLate, ErrorBefore, ErrorAfter, Unavailable, UnavailableAfter, GatewayPage,
	GatewayAfter, RateLimit, Login, PageBefore, PageAfter, EmptyBefore, EmptyAfter, WrongType, Garbage, Redirect301, Redirect302,
	Redirect303, Redirect307, Redirect308, Drip, DripHeaders, Endless, EndlessError, HugeGzip, CloseReused, ListAnswer, ZeroID,
	NullID, EmptyID, NumericID, Reject, RejectFinal, RejectXML, RejectBare, RejectCharset, RejectRaw, RejectPage, DuplicateError, TrimReference,
	UpperReference, TotalTimes100, TotalPlusCent, TotalPlusOne, OtherCustomer, Voided, Deleted, Lag, SearchEmpty, SearchError,
	SearchForbidden, SearchBrokenPage, OtherBooks}

// Rule says which requests meet a fault. Empty fields match everything; the first rule that hits is taken.
type Rule struct {
	Fault       Fault   `json:"fault"`
	Kind        Kind    `json:"kind,omitempty"`        // empty: create and post
	Books       string  `json:"books,omitempty"`       // empty: all
	Reference   string  `json:"reference,omitempty"`   // empty: any
	Probability float64 `json:"probability,omitempty"` // 0: always
	Skip        int     `json:"skip,omitempty"`        // matching requests that are let through first
	Times       int     `json:"times,omitempty"`       // hits after which the rule is used up; 0: never
	EachTimes   int     `json:"each_times,omitempty"`  // the same, counted for each reference by itself
	DelayMS     int     `json:"delay_ms,omitempty"`    // of commit_late, drip and lag
	RetryAfter  string  `json:"retry_after,omitempty"` // of rate_limit, sent as it is; "date+90" becomes a date
	Reason      string  `json:"reason,omitempty"`      // of reject
}

// Plan is a list of rules. What hits depends on the seed, the reference and how often it was asked, not on the order in
// which requests arrive.
type Plan struct {
	Seed  uint64 `json:"seed"`
	Rules []Rule `json:"rules"`
}

func (p Plan) check() error {
	for i, r := range p.Rules {
		switch {
		case !slices.Contains(Faults, r.Fault):
			return fmt.Errorf("rule %d: there is no fault %q", i+1, r.Fault)
		case !slices.Contains([]Kind{"", Create, Post, Find, Get, Identity}, r.Kind):
			return fmt.Errorf("rule %d: there is no kind of request %q", i+1, r.Kind)
		case r.Probability < 0 || r.Probability > 1 || r.Skip < 0 || r.Times < 0 || r.EachTimes < 0 || r.DelayMS < 0 || r.DelayMS > 3_600_000:
			return fmt.Errorf("rule %d: a number is out of bounds", i+1)
		}
	}
	return nil
}

// chooser applies a plan.
type chooser struct {
	mu    sync.Mutex
	plan  Plan
	seen  map[string]int // by rule and, for the dice, reference
	hits  map[string]int
	total []int // hits of each rule
}

func newChooser(p Plan) *chooser {
	return &chooser{plan: p, seen: map[string]int{}, hits: map[string]int{}, total: make([]int, len(p.Rules))}
}

func (c *chooser) pick(kind Kind, books, reference string) (Rule, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.plan.Rules {
		if (r.Kind == "" && kind != Create && kind != Post) || (r.Kind != "" && r.Kind != kind) ||
			(r.Books != "" && r.Books != books) || (r.Reference != "" && r.Reference != reference) {
			continue
		}
		rule, one := fmt.Sprint(i), fmt.Sprintf("%d/%s/%s/%s", i, kind, books, reference)
		c.seen[rule]++
		c.seen[one]++
		if c.seen[rule] <= r.Skip || (r.Times > 0 && c.total[i] >= r.Times) || (r.EachTimes > 0 && c.hits[one] >= r.EachTimes) {
			continue
		}
		if r.Probability > 0 && dice(c.plan.Seed, one, c.seen[one]) >= r.Probability {
			continue
		}
		c.total[i]++
		c.hits[one]++
		return r, true
	}
	return Rule{}, false
}

// dice is a number in [0, 1) that depends on its arguments only.
func dice(seed uint64, what string, n int) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%d", seed, what, n) //nolint:errcheck // never fails
	x := h.Sum64()
	x ^= x >> 33 // fnv alone mixes the last bytes too little
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}
