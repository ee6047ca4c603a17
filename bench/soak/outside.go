package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/sandbox/server"
)

// What the books promise. Every fault keeps within it, or a second record would be the accounting system's fault.
const (
	searchLag = 1200 * time.Millisecond // as promised; a record is 300 ms late, with the fault "lag" a second
	linger    = 5 * time.Second         // as promised; the latest commit comes two seconds after the call was given up
)

// outside is the accounting system: a process of its own with its own durable file, and one set of books for each
// personality, named after it.
type outside struct {
	*process
	address string
	journal string
	plan    string // the file that another life reads
	sticky  []string
	seed    uint64
}

func startOutside(ctx context.Context, dir, binary string, sticky []string, seed uint64) (*outside, error) {
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	var books []server.Books
	for _, p := range sandbox.Personalities {
		books = append(books, server.Books{Name: string(p), Personality: p, SearchLag: 300 * time.Millisecond})
	}
	o := &outside{address: "http://" + listen, journal: filepath.Join(dir, "outside.journal"), plan: filepath.Join(dir, "plan.json"), sticky: sticky, seed: seed}
	booksFile := filepath.Join(dir, "books.json")
	if err := writeJSON(booksFile, books); err != nil {
		return nil, err
	}
	if err := writeJSON(o.plan, faults(o.sticky, o.seed)); err != nil {
		return nil, err
	}
	o.process = &process{name: "outside", log: filepath.Join(dir, "outside.log"), path: binary,
		args: []string{"sandbox", "--listen", listen, "--file", o.journal, "--books", booksFile, "--plan", o.plan}}
	if err := o.start(); err != nil {
		return nil, err
	}
	return o, o.answering(ctx, o.address+"/control/health")
}

// misbehave puts the faults on, with further rules before them. Each time with other dice: the sandbox counts anew.
func (o *outside) misbehave(ctx context.Context, first ...server.Rule) error {
	o.seed++
	p := faults(o.sticky, o.seed)
	p.Rules = append(first, p.Rules...)
	return o.control(ctx, "plan", p)
}

// behave lifts all faults, for another life too.
func (o *outside) behave(ctx context.Context) error {
	if err := writeJSON(o.plan, server.Plan{}); err != nil {
		return err
	}
	if err := o.control(ctx, "outage?seconds=0", nil); err != nil {
		return err
	}
	return o.control(ctx, "plan", server.Plan{Rules: []server.Rule{}})
}

func (o *outside) control(ctx context.Context, what string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, o.address+"/control/"+what, bytes.NewReader(text))
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		told, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		return fmt.Errorf("the accounting system refuses %s: %s: %s", what, res.Status, told)
	}
	return nil
}

func writeJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// Faults that are not thrown by dice. searchEmpty is: for each miss alone it would break what the books promise, so all
// searches are blind for a while, see trouble.
var (
	onlyReads = []server.Fault{server.SearchBrokenPage}
	inPhases  = []server.Fault{server.SearchEmpty}
	// Reads meet what can go wrong with any answer, not what is done to a record.
	ofReads = []server.Fault{server.DropBefore, server.ErrorBefore, server.Unavailable, server.GatewayPage, server.RateLimit, server.Login,
		server.PageBefore, server.EmptyBefore, server.WrongType, server.Garbage, server.Redirect301, server.Redirect302, server.Redirect303,
		server.Redirect307, server.Redirect308, server.Drip, server.DripHeaders, server.Endless, server.HugeGzip, server.CloseReused,
		server.ListAnswer, server.SearchError, server.SearchForbidden, server.SearchBrokenPage, server.OtherBooks}
)

const (
	seldom = 0.003 // the probability of every fault that is not in often
	onRead = 0.004
)

// often are the faults that real systems have most.
var often = map[server.Fault]float64{server.DropAfter: 0.05, server.CommitLate: 0.04, server.ErrorBefore: 0.02, server.ErrorAfter: 0.03,
	server.DropBefore: 0.02, server.RateLimit: 0.03, server.UnavailableAfter: 0.01, server.GatewayAfter: 0.01, server.PageAfter: 0.01,
	server.SearchError: 0.01, server.Reject: 0.01, server.Lag: 0.02}

// faults is how the accounting system misbehaves: with every fault that the sandbox knows, those of tomorrow too. What
// sticks is answered 500 for ever.
func faults(sticky []string, seed uint64) server.Plan {
	p := server.Plan{Seed: seed}
	for _, reference := range sticky {
		p.Rules = append(p.Rules, server.Rule{Fault: server.ErrorBefore, Reference: reference})
	}
	for _, f := range server.Faults {
		if slices.Contains(inPhases, f) {
			continue
		}
		if !slices.Contains(onlyReads, f) {
			r := server.Rule{Fault: f, Probability: seldom}
			if often[f] > 0 {
				r.Probability = often[f]
			}
			p.Rules = append(p.Rules, complete(r))
		}
		if slices.Contains(ofReads, f) {
			for _, kind := range []server.Kind{server.Find, server.Get} {
				p.Rules = append(p.Rules, complete(server.Rule{Fault: f, Kind: kind, Probability: onRead}))
			}
		}
	}
	// Half of the rest is slow within the time that a call has, so that something is always on its way.
	p.Rules = append(p.Rules, server.Rule{Fault: server.CommitLate, Probability: 0.5, DelayMS: 300})
	return p
}

func complete(r server.Rule) server.Rule {
	switch r.Fault {
	case server.CommitLate:
		r.DelayMS = 3000
	case server.Lag:
		r.DelayMS = 700
	case server.RateLimit:
		r.RetryAfter = "1"
		if r.Kind != "" {
			r.RetryAfter = "date+2"
		}
	case server.RejectRaw:
		r.Reason = "the customer is \u0007blocked\u202e"
	}
	return r
}
