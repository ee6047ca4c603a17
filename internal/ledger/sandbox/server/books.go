package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"onefold/internal/ledger/sandbox"
)

// Record is one invoice in the books.
type Record struct {
	ID           string    `json:"id"`
	Number       string    `json:"number,omitempty"`
	Reference    string    `json:"reference"`
	CustomerID   string    `json:"customer_id"`
	CustomerName string    `json:"customer_name,omitempty"`
	Total        string    `json:"total"`
	Currency     string    `json:"currency"`
	State        string    `json:"state"` // draft, posted or void
	CreatedAt    time.Time `json:"created_at"`

	asked     string // the reference as asked
	visibleAt time.Time
	deleted   bool
	posts     int
}

// books is one set of books. The server's lock guards it.
type books struct {
	Books
	records []*Record
	byID    map[string]*Record
	byRef   map[string][]*Record // by folded reference
	keys    map[string]*keyed
	numbers int
	other   *books // another tenant's, for OtherBooks
}

// keyed is what is remembered under an idempotency key.
type keyed struct {
	hash    string
	since   time.Time
	running bool
	record  Record // as answered
}

func newBooks(b Books) *books {
	return &books{Books: b, byID: map[string]*Record{}, byRef: map[string][]*Record{}, keys: map[string]*keyed{}}
}

// fold is the sandbox's own rule for references: like many systems it searches without regard to case and outer blanks.
func fold(reference string) string { return strings.ToLower(strings.TrimSpace(reference)) }

// asked is an answered refusal: nothing happened.
type refusal struct {
	status int
	Code   string `json:"error"`
	Reason string `json:"reason,omitempty"`
	ID     string `json:"id,omitempty"`
	Final  bool   `json:"final,omitempty"`
}

func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// apply makes an effect true in memory; it is also how the journal is read back.
func (b *books) apply(e Effect) *Record {
	switch e.Effect {
	case "created":
		r := &Record{ID: e.ID, Reference: e.Reference, CustomerID: e.CustomerID, CustomerName: e.CustomerName, Total: e.Total,
			Currency: e.Currency, State: "draft", CreatedAt: e.At, asked: e.Reference}
		if e.Asked != "" {
			r.asked = e.Asked
		}
		r.visibleAt = e.At.Add(b.SearchLag + time.Duration(e.LagMS)*time.Millisecond)
		b.records = append(b.records, r)
		b.byID[r.ID] = r
		b.byRef[fold(r.Reference)] = append(b.byRef[fold(r.Reference)], r)
		if e.Posted {
			b.post(r, e.Number)
		}
		b.remember(e, *r)
		return r
	case "posted":
		if r := b.byID[e.ID]; r != nil {
			b.post(r, e.Number)
			b.remember(e, *r)
			return r
		}
	case "voided":
		if r := b.byID[e.ID]; r != nil {
			r.State = "void"
			return r
		}
	case "deleted":
		if r := b.byID[e.ID]; r != nil {
			r.deleted = true
			return r
		}
	}
	return nil
}

func (b *books) post(r *Record, number string) {
	b.numbers++
	r.State = "posted"
	r.posts++
	if r.Number == "" {
		r.Number = number
	}
}

func (b *books) nextNumber() string {
	return fmt.Sprintf("%s-%05d", strings.ToUpper(b.Name), b.numbers+1)
}

// remember keeps the answer for the key, counted from its first use.
func (b *books) remember(e Effect, r Record) {
	if b.Personality == sandbox.Keys && e.Key != "" {
		b.keys[e.Key] = &keyed{hash: e.Hash, since: e.At, record: r}
	}
}

// begin checks what the personality knows about a key. Either it answers from memory (replay or refused), or the caller
// may go on and must call end.
func (b *books) begin(key, hash string, now time.Time) (replay *Record, refused *refusal) {
	if b.Personality != sandbox.Keys || key == "" {
		return nil, nil
	}
	k := b.keys[key]
	if k != nil && !k.running && b.KeyLifetime > 0 && now.Sub(k.since) >= b.KeyLifetime {
		k = nil // forgotten
	}
	switch {
	case k == nil:
		b.keys[key] = &keyed{hash: hash, since: now, running: true}
		return nil, nil
	case k.hash != hash:
		return nil, &refusal{status: 422, Code: "key_reused", Reason: "this idempotency key was used with another request", Final: true}
	case k.running:
		return nil, &refusal{status: 409, Code: "in_progress", Reason: "a request with this idempotency key is still running"}
	}
	r := k.record
	return &r, nil
}

// end forgets a key whose request had no effect.
func (b *books) end(key string) {
	if k := b.keys[key]; k != nil && k.running {
		delete(b.keys, key)
	}
}

// search returns a page of the records with the reference, void ones included, and the next page or 0.
func (b *books) search(reference string, page int, now time.Time) ([]Record, int) {
	var hits []Record
	for _, r := range b.byRef[fold(reference)] {
		if !now.Before(r.visibleAt) {
			hits = append(hits, *r)
		}
	}
	return slice(hits, page, b.PageSize)
}

func slice(hits []Record, page, size int) ([]Record, int) {
	from := min((page-1)*size, len(hits))
	to := min(from+size, len(hits))
	next := 0
	if to < len(hits) {
		next = page + 1
	}
	return append([]Record{}, hits[from:to]...), next
}
