// Package resttest has small fakes of the accounting systems that the presets are for. They keep state and answer as their
// vendors' services do, as far as that is known.
package resttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// Options are what a fake is made with.
type Options struct {
	Secret    string           // the credential
	Now       func() time.Time // nil: a clock of its own
	SearchLag time.Duration    // how long a new record is missing from the search
	PageSize  int              // records on a page; 0: 100
}

// Record is a record as the fake keeps it.
type Record struct {
	ID, Number, Reference, Customer, Total, Currency string
	Asked                                            string // the reference that it was asked for under
	State                                            string // draft, posted, void, deleted
	Posts                                            int
	since                                            time.Time
}

// books is the state that all fakes have.
type books struct {
	o       Options
	cannot  []string            // faults that this vendor's service cannot have
	idless  func(b *books) bool // the next answer to a write tells no id
	empty   bool                // nor has it a body
	mu      sync.Mutex
	ahead   time.Duration
	fault   map[work.Kind]ledgertest.Fault
	records []*Record
	bodies  []string // of writing requests
}

func newBooks(o Options, cannot ...string) *books {
	if o.PageSize == 0 {
		o.PageSize = 100
	}
	if o.Now == nil {
		start := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
		o.Now = func() time.Time { return start }
	}
	return &books{o: o, cannot: cannot, fault: map[work.Kind]ledgertest.Fault{}}
}

// own are the faults that only the service itself can have, by kind of request.
var own = map[work.Kind][]string{
	work.Send: {"reject", "reject_charset", "reject_long", "reject_zero_byte", "reject_not_utf8", "duplicate_error", "zero_id", "null_id", "empty_id", "numeric_id",
		"total_times_100", "total_plus_one", "other_customer", "voided", "deleted", "trim_reference", "upper_reference"},
	work.Find: {"search_error", "search_empty", "search_broken_page", "other_books"},
}

// Misbehave implements ledgertest.Fake.
func (b *books) Misbehave(kind work.Kind, f ledgertest.Fault) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f == ledgertest.NoFault {
		clear(b.fault)
		return true
	}
	id := strings.HasSuffix(string(f), "_id")
	if !slices.Contains(own[kind], string(f)) || slices.Contains(b.cannot, string(kind)+" "+string(f)) || id && b.idless != nil && b.idless(b) {
		return false
	}
	b.fault[kind] = f
	return true
}

// Bodiless tells the line that the next answer to a write has no body that could be spoilt.
func (b *books) Bodiless() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.empty && b.idless(b)
}

// Effects implements ledgertest.Fake.
func (b *books) Effects(step, reference string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, r := range b.records {
		if r.Asked == reference && step == "create" {
			n++
		} else if r.Asked == reference {
			n += r.Posts
		}
	}
	return n
}

// Advance implements ledgertest.Fake.
func (b *books) Advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead += d
}

// Records are copies of what is kept.
func (b *books) Records() (list []Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.records {
		list = append(list, *r)
	}
	return list
}

// Bodies are the bodies of the writing requests that were carried out.
func (b *books) Bodies() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.bodies)
}

// openDraft says that what comes next is the posting of a draft.
func openDraft(b *books) bool {
	return len(b.records) > 0 && b.records[len(b.records)-1].State == "draft"
}

func (b *books) now() time.Time { return b.o.Now().Add(b.ahead) }

// add keeps a record as it was asked for, or as the fault says.
func (b *books) add(r Record) *Record {
	r.Asked, r.since = r.Reference, b.now()
	r.ID = fmt.Sprintf("rec%04d", len(b.records)+1)
	r.Number = fmt.Sprintf("2026-%04d", len(b.records)+1)
	switch b.fault[work.Send] {
	case "total_times_100":
		r.Total = strings.ReplaceAll(r.Total, ".", "") + ".00"
	case "total_plus_one":
		r.Total = plusOne(r.Total)
	case "other_customer":
		r.Customer = "C-of-somebody-else"
	case "voided":
		r.State = "void"
	case "deleted":
		r.State = "deleted"
	case "trim_reference":
		r.Reference = strings.TrimSpace(r.Reference)
	case "upper_reference":
		r.Reference = strings.ToUpper(r.Reference)
	}
	b.records = append(b.records, &r)
	return &r
}

func plusOne(total string) string {
	whole, part, _ := strings.Cut(total, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return "1.00"
	}
	return strconv.Itoa(n+1) + "." + (part + "00")[:2]
}

func (b *books) byID(id string) *Record {
	for _, r := range b.records {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// found are the records of a page. More says that there is another page.
func (b *books) found(reference string, page int, withDeleted bool) (hits []*Record, more bool) {
	if f := b.fault[work.Find]; f == "search_empty" || f == "other_books" {
		return nil, false
	}
	var all []*Record
	for _, r := range b.records {
		if fold(r.Reference) == fold(reference) && (withDeleted || r.State != "deleted") && !b.now().Before(r.since.Add(b.o.SearchLag)) {
			all = append(all, r)
		}
	}
	first := min((page-1)*b.o.PageSize, len(all))
	last := min(first+b.o.PageSize, len(all))
	return all[first:last], last < len(all) || b.fault[work.Find] == "search_broken_page"
}

func fold(s string) string { return strings.ToUpper(strings.TrimSpace(s)) }

// shownID is the id of a record in the answer to a write.
func (b *books) shownID(r *Record, writing bool) any {
	if writing {
		switch b.fault[work.Send] {
		case "zero_id":
			return "0"
		case "null_id":
			return nil
		case "empty_id":
			return ""
		case "numeric_id":
			return 4711
		}
	}
	return r.ID
}

// refusal is the reason of a refusal that the fault asks for.
func (b *books) refusal() (reason string, refused bool) {
	switch b.fault[work.Send] {
	case "reject", "reject_charset":
		return "the customer is blocked", true
	case "reject_long":
		return strings.Repeat("Größe ungültig 💶 ", 10_000), true
	case "reject_zero_byte":
		return "zero\x00byte", true
	case "reject_not_utf8":
		return notUTF8, true
	}
	return "", false
}

const notUTF8 = "ung-umlaut-ltig"

// answer writes JSON as the fault says.
func (b *books) answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if b.fault[work.Send] == "reject_charset" {
		w.Header().Set("Content-Type", "Application/JSON; charset=UTF-8")
	}
	w.WriteHeader(status)
	w.Write([]byte(strings.ReplaceAll(string(body), notUTF8, "ung\xfcltig"))) //nolint:errcheck,gosec // the client may be gone
}

// body reads a JSON body with numbers as they were written.
func (b *books) body(r *http.Request) map[string]any {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil
	}
	b.bodies = append(b.bodies, string(text))
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var v map[string]any
	if decoder.Decode(&v) != nil {
		return nil
	}
	return v
}

func str(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// rows are the objects of a list.
func rows(v any) (out []map[string]any) {
	list, _ := v.([]any)
	for _, one := range list {
		if m, ok := one.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// amount is an exact number for an answer.
func amount(s string) json.Number { return json.Number(s) }

func page(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil {
		return 1
	}
	return n
}
