package server

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger/misbehave"
	"onefold/internal/ledger/sandbox"
)

// Server is the sandbox accounting system. It is an http.Handler and safe for concurrent use.
type Server struct {
	opts    Options
	handler http.Handler
	names   []string // in order

	mu      sync.Mutex
	books   map[string]*books
	journal *journal
	ids     int
	counts  map[countKey]int
	log     []Request
	outage  time.Time // refuses everything until then
	chooser *chooser
	broken  error // the journal could not be written: nothing more is accepted

	atWork  int
	resting *sync.Cond // signalled when atWork becomes 0
}

type countKey struct {
	books string
	kind  Kind
}

// New opens the journal and takes up where it ended.
func New(o Options) (*Server, error) {
	if len(o.Books) == 0 {
		o.Books = DefaultBooks()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := o.Plan.check(); err != nil {
		return nil, err
	}
	s := &Server{opts: o, books: map[string]*books{}, counts: map[countKey]int{}, chooser: newChooser(o.Plan)}
	s.resting = sync.NewCond(&s.mu)
	for _, b := range o.Books {
		b, err := b.complete()
		if err != nil {
			return nil, err
		}
		if s.books[b.Name] != nil {
			return nil, fmt.Errorf("two sets of books are named %q", b.Name)
		}
		s.books[b.Name] = newBooks(b)
		s.names = append(s.names, b.Name)
		astray := b
		astray.Name += otherSuffix
		astray.Identity = "books-of-somebody-else"
		s.books[b.Name].other = newBooks(astray)
	}
	j, effects, err := openJournal(o.File, !o.NoSync)
	if err != nil {
		return nil, err
	}
	s.journal = j
	for _, e := range effects {
		if b := s.find(e.Books); b != nil { // books that are no longer configured stay in the journal
			b.apply(e)
		}
		if e.Effect == "created" {
			s.ids++
		}
	}
	s.handler = s.routes()
	return s, nil
}

// otherSuffix marks the books of the other tenant; no configured name can hold it.
const otherSuffix = "~other"

func (s *Server) find(name string) *books {
	if own, other := strings.CutSuffix(name, otherSuffix); other {
		if b := s.books[own]; b != nil {
			return b.other
		}
		return nil
	}
	return s.books[name]
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	misbehave.Used(r)
	s.mu.Lock()
	s.atWork++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		if s.atWork--; s.atWork == 0 {
			s.resting.Broadcast()
		}
		s.mu.Unlock()
	}()
	s.handler.ServeHTTP(w, r)
}

// Wait returns when no request is being worked on; for tests that wait for a late commit.
func (s *Server) Wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.atWork > 0 {
		s.resting.Wait()
	}
}

// Close closes the journal. Requests after it are refused.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = fmt.Errorf("the sandbox is closed")
	}
	return s.journal.close()
}

// SetPlan replaces the fault plan and its counters.
func (s *Server) SetPlan(p Plan) error {
	if err := p.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chooser = newChooser(p)
	return nil
}

// Plan returns the fault plan.
func (s *Server) Plan() Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chooser.plan
}

// Outage refuses every request of the API with 503 for so long; zero or less ends it.
func (s *Server) Outage(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = time.Time{}
	if d > 0 {
		s.outage = s.opts.Now().Add(d)
	}
}

// OutageUntil is when the outage ends; zero if there is none.
func (s *Server) OutageUntil() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Now().Before(s.outage) {
		return s.outage
	}
	return time.Time{}
}

// Requests counts the requests of a kind that reached the books, faulty ones included.
func (s *Server) Requests(bookName string, kind Kind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[countKey{bookName, kind}]
}

// Request is a writing request that reached the books.
type Request struct {
	Books string
	Kind  Kind
	Key   string
}

const longestLog = 2000

// Log lists the last writing requests in the order of arrival, faulty ones included.
func (s *Server) Log() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// arrived counts a request. The lock is held.
func (s *Server) arrived(books string, kind Kind, key string) {
	s.counts[countKey{books, kind}]++
	if kind != Create && kind != Post {
		return
	}
	if len(s.log) >= longestLog {
		s.log = append(s.log[:0], s.log[longestLog/2:]...)
	}
	s.log = append(s.log, Request{books, kind, key})
}

// Records returns what the books hold, oldest first; with a reference only the records asked for under it, to the letter.
// It sees everything: no lag, no faults, void and deleted records too.
func (s *Server) Records(bookName, reference string) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Record
	b := s.find(bookName)
	if b == nil {
		return nil
	}
	for _, r := range b.records {
		if reference == "" || r.asked == reference {
			out = append(out, *r)
		}
	}
	return out
}

// Posts is how often a posting of the record took effect.
func (s *Server) Posts(bookName, id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.find(bookName); b != nil && b.byID[id] != nil {
		return b.byID[id].posts
	}
	return 0
}

// Books lists the configured books in order.
func (s *Server) Books() []Books {
	var out []Books
	for _, name := range s.names {
		out = append(out, s.books[name].Books)
	}
	return out
}

// Connect is the adapter's configuration for books at the address of this server.
func (s *Server) Connect(address, bookName string) sandbox.Config {
	b := s.books[bookName]
	if b == nil {
		return sandbox.Config{BaseURL: address + "/" + bookName, Token: s.opts.Token}
	}
	return sandbox.Config{BaseURL: address + "/" + bookName, Token: s.opts.Token, Personality: b.Personality,
		KeyLifetime: b.KeyLifetime, SearchLag: b.SearchLag, SingleStep: b.SingleStep}
}

// commit writes the effect to the journal and then makes it true. The lock is held.
func (s *Server) commit(b *books, e Effect) (*Record, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	if err := s.journal.append(e); err != nil {
		s.broken = fmt.Errorf("the journal cannot be written: %w", err)
		return nil, s.broken
	}
	return b.apply(e), nil
}
