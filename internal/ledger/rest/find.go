package rest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Bounds of one search.
const (
	mostPages   = 1000
	mostRecords = 10_000
)

// look is one lookup. It tells a try-out what was asked and read, if there is one.
type look struct {
	*Client
	tried *watched // nil: nobody watches
	books string   // that answered first
	known bool
	asks  bool // it is just being asked whose books these are
}

// stopped ends a lookup that was not carried out to its end.
type stopped struct{ found ledger.Found }

func (*stopped) Error() string { return "the lookup stopped" }

func stop(x work.Exchange, why string) error {
	x.Error = why + ", could not check"
	return &stopped{ledger.Found{Exchange: x}}
}

// Find implements ledger.System: it walks all pages of the search and reads each hit by its id where the definition says
// how.
func (s *Client) Find(ctx context.Context, q ledger.Query) ledger.Found {
	l := &look{Client: s}
	return l.find(ctx, q)
}

func (l *look) find(ctx context.Context, q ledger.Query) ledger.Found {
	found, err := l.walk(ctx, q)
	var early *stopped
	if errors.As(err, &early) {
		early.found.Exchange.Identity = orText(early.found.Exchange.Identity, found.Exchange.Identity)
		return early.found
	}
	return found
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (l *look) walk(ctx context.Context, q ledger.Query) (found ledger.Found, err error) {
	step, ok := l.def.step(q.Step)
	if l.def.search == nil || !ok {
		return found, stop(found.Exchange, "this accounting system cannot be searched")
	}
	if l.def.identity.login && (l.tried == nil || !l.known) {
		if err := l.whose(ctx); err != nil {
			return found, err
		}
	}
	raws, found, err := l.search(ctx, q)
	if err != nil {
		return found, err
	}
	if step.later && ledger.UsableID(q.PreviousRecordID) {
		raws = append(raws, hit{id: q.PreviousRecordID, known: true}) // may not be in the search yet
	}
	seen := map[string]bool{}
	for _, h := range raws {
		if seen[h.id] {
			continue
		}
		seen[h.id] = true
		r, raw, err := l.hit(ctx, h, &found)
		if err != nil {
			return found, err
		}
		if r.State != work.StateVoid {
			done, err := l.finished(step, l.about.of(raw))
			l.saw(step.done, done, err)
			if err != nil {
				return found, stop(found.Exchange, "a record could not be judged"+pointed(err))
			}
			if !done && !step.later { // neither done nor absent
				return found, stop(found.Exchange, "the record is there, but not as this step should leave it")
			}
			if !done {
				continue
			}
		}
		found.Records = append(found.Records, r)
	}
	found.Searched = true
	return found, nil
}

// hit is one row of a search.
type hit struct {
	id    string
	raw   any
	known bool // it was not in the search: its id was known
}

// hit reads one record: by its id where the definition says how, else as the search shows it.
func (l *look) hit(ctx context.Context, h hit, found *ledger.Found) (work.Record, any, error) {
	raw := h.raw
	if l.def.read != nil {
		one, there, x, err := l.read(ctx, h.id)
		if err != nil {
			return work.Record{}, nil, err
		}
		found.Exchange = x
		if !there && h.known { // confirmed once and now unknown: the books are not the ones that we know
			return work.Record{}, nil, stop(x, "the record of the step before is not there")
		}
		if !there {
			return work.Record{ID: h.id, State: work.StateVoid}, nil, nil // in the search, but deleted
		}
		raw = one
	}
	l.sawRecord(l.about.of(raw))
	r, err := l.def.record.of(l.about.of(raw))
	l.blames(err)
	switch {
	case err != nil:
		return r, raw, stop(found.Exchange, "a record could not be read"+pointed(err))
	case r.ID != h.id:
		return r, raw, stop(found.Exchange, "the accounting system answered about another record")
	}
	return r, raw, nil
}

// search returns all hits.
func (l *look) search(ctx context.Context, q ledger.Query) (hits []hit, found ledger.Found, err error) {
	s := l.def.search
	d := l.about.with(map[string]any{"reference": q.Reference, "previous": q.PreviousRecordID, "page": s.first, "customer": nil, "since": nil})
	if q.Customer != "" {
		d = d.with(map[string]any{"customer": q.Customer})
	}
	if !q.Since.IsZero() {
		d = d.with(map[string]any{"since": q.Since.UTC().Format(time.RFC3339)})
	}
	call, err := s.request.call(d)
	if err != nil {
		return nil, found, stop(found.Exchange, "the search could not be made"+pointed(err))
	}
	pages := map[string]bool{}
	for range mostPages {
		reply, answer, err := l.ask(ctx, call, s.shape, d)
		if err != nil {
			return nil, found, err
		}
		found.Exchange = reply.Exchange
		if hits, err = l.page(reply, answer, hits); err != nil {
			return nil, found, err
		}
		next, page, last, err := l.next(call, answer)
		switch {
		case err != nil:
			return nil, found, stop(found.Exchange, "the search does not say how it goes on"+pointed(err))
		case last:
			return hits, found, nil
		case pages[page] || len(hits) > mostRecords:
			return nil, found, stop(found.Exchange, "the search does not come to an end")
		}
		pages[page] = true
		if s.link != nil {
			call = next
			continue
		}
		d = d.with(map[string]any{"page": answer.input.(map[string]any)["page"]})
		if call, err = s.request.call(d); err != nil {
			return nil, found, stop(found.Exchange, "the search could not go on"+pointed(err))
		}
	}
	return nil, found, stop(found.Exchange, "the search does not come to an end")
}

// page adds the hits of one page.
func (l *look) page(reply ledger.Reply, answer document, hits []hit) ([]hit, error) {
	s := l.def.search
	done, err := s.done.truth(answer)
	l.saw(s.done, done, err)
	if err != nil || !done || reply.Status >= 300 {
		return nil, stop(reply.Exchange, "the accounting system did not carry out the search")
	}
	v, err := s.records.value(answer)
	l.saw(s.records, v, err)
	list, ok := v.([]any)
	if err != nil || !ok {
		return nil, stop(reply.Exchange, "the search shows no list of records"+pointed(orError(err, s.records.wrong("it must be a list"))))
	}
	for _, raw := range list {
		id, err := l.def.record.id.value(l.about.of(raw))
		text, ok := id.(string)
		if err != nil || !ok || !ledger.UsableID(text) {
			return nil, stop(reply.Exchange, "the search shows a record without a usable id")
		}
		hits = append(hits, hit{id: text, raw: raw})
	}
	return hits, nil
}

func orError(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

// read reads one record by its id. There is false if the system says that it does not exist.
func (l *look) read(ctx context.Context, id string) (raw any, there bool, x work.Exchange, err error) {
	if l.tried != nil {
		l.tried.purpose = "read"
	}
	r := l.def.read
	d := l.about.with(map[string]any{"id": id})
	call, err := r.request.call(d)
	if err != nil {
		return nil, false, x, stop(x, "the record could not be asked for"+pointed(err))
	}
	reply, d, err := l.ask(ctx, call, r.shape, d)
	if err != nil {
		return nil, false, x, err
	}
	if r.gone != nil && reply.Status >= 400 {
		gone, err := r.gone.truth(d)
		l.saw(r.gone, gone, err)
		if err == nil && gone {
			return nil, false, reply.Exchange, nil
		}
	}
	if reply.Status >= 300 {
		return nil, false, x, stop(reply.Exchange, fmt.Sprintf("a record of the search could not be read (%d)", reply.Status))
	}
	raw, err = r.record.value(d)
	l.saw(r.record, raw, err)
	if err != nil {
		return nil, false, x, stop(reply.Exchange, "a record could not be read"+pointed(err))
	}
	return raw, true, reply.Exchange, nil
}
