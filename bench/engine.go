package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bojanz/currency"
	"golang.org/x/sync/errgroup"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/store"
	"onefold/internal/work"
)

// engineCases are Onefold itself, from recorded to confirmed, with full attempt rows: on both databases against an
// accounting system in this process that answers at once, and on PostgreSQL against one that takes its time.
func engineCases() []contender {
	const latency, slots = 100 * time.Millisecond, 64
	return []contender{
		engineCase("engine", 150_000, false, 0, 4_000),
		engineCase("engine-sqlite", 60_000, true, 0, 4_000),
		engineCase("engine-slow", 6_400, false, latency, slots),
		engineCase("engine-slow-sqlite", 6_400, true, latency, slots),
	}
}

func engineCase(name string, items int, sqlite bool, latency time.Duration, slots int) contender {
	c := contender{name: name, engine: "Onefold", items: items, sqlite: sqlite, note: fmt.Sprintf("%d slots", slots),
		open: func(ctx context.Context, t target) (engine, error) {
			return openOnefold(ctx, t, "books", latency, slots)
		}}
	if latency > 0 {
		c.ideal = float64(slots) / latency.Seconds()
		c.note += fmt.Sprintf(", each call takes %s", latency)
	}
	return c
}

type onefold struct {
	store    *store.Store
	system   string
	keys     string // what the business keys begin with
	books    *books
	recorded int
	before   int // the last item that was there before
	count    func(ctx context.Context, query string) (int, error)
	shut     func()
}

func openOnefold(ctx context.Context, t target, system string, latency time.Duration, slots int) (engine, error) {
	st, err := store.Open(ctx, store.Config{URL: t.url, Node: "bench", MaxConns: t.conns})
	if err != nil {
		return nil, err
	}
	b := &books{latency: latency}
	err = st.DeclareSystem(ctx, work.System{ID: system, CompanyID: 1, Name: "Books", Adapter: "bench", Policy: work.DefaultPolicy(),
		Capabilities: b.Capabilities(), Steps: b.Steps(), MaxInFlight: slots})
	o := &onefold{store: st, system: system, keys: "INV-2026-11-", books: b, shut: func() {}}
	if t.pool != nil {
		o.count = func(ctx context.Context, query string) (int, error) { return count(ctx, t.pool, query) }
		return o, err
	}
	db, openErr := sql.Open("sqlite", t.url) // a second reader beside the store
	o.shut = func() { db.Close() }
	o.count = func(ctx context.Context, query string) (n int, err error) {
		return n, db.QueryRowContext(ctx, query).Scan(&n)
	}
	return o, errors.Join(err, openErr)
}

func (o *onefold) record(ctx context.Context, n int) error {
	total, err := currency.NewAmount("129.00", "EUR")
	if err != nil {
		return err
	}
	invoice := work.Invoice{CustomerID: "C-1042", CustomerName: "Bench & Sons Ltd", Total: total,
		Lines: []work.Line{{Description: "Subscription, November 2026", Quantity: "1", UnitPrice: "129.00"}}}
	intake := automation.Intake{Store: o.store}
	if o.recorded == 0 {
		if o.before, err = o.count(ctx, "SELECT coalesce(max(id), 0) FROM items"); err != nil {
			return err
		}
		// The books were never proven.
		if err := o.store.AllowUnproven(ctx, 1, "invoices", []string{o.system}, work.Actor{Kind: work.Console, ID: "bench", Name: "bench"}); err != nil {
			return err
		}
	}
	by := work.Actor{Kind: work.Automation, ID: "bench", Name: "bench"}
	for at := 0; at < n; at += 5_000 {
		batch := make([]work.New, min(5_000, n-at))
		for i := range batch {
			o.recorded++
			batch[i] = work.New{CompanyID: 1, Automation: "invoices", BusinessKey: o.keys + strconv.Itoa(o.recorded),
				SystemID: o.system, Steps: o.books.Steps(), Invoice: invoice, Source: "bench", By: by}
		}
		results, err := intake.Record(ctx, batch)
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Result != automation.IntakeNew {
				return fmt.Errorf("not recorded (%s): %w", r.Result, r.Err)
			}
		}
	}
	return nil
}

func (o *onefold) work(ctx context.Context, n int) (time.Duration, error) {
	before, err := o.done(ctx)
	if err != nil {
		return 0, err
	}
	o.books.sends.Store(0)
	e := automation.NewEngine(automation.Config{Store: o.store, Node: "bench", Log: quiet,
		Connect: func(work.System) (ledger.System, error) { return o.books, nil }})
	running, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	start := time.Now()
	g.Go(func() error { return e.Run(running) })
	err = o.await(ctx, n)
	took := time.Since(start)
	stop()
	err = errors.Join(err, g.Wait())
	if after, countErr := o.done(ctx); countErr != nil || after != before+n {
		err = errors.Join(err, countErr, fmt.Errorf("%d items are confirmed, want %d", after-before, n))
	}
	return took, err
}

// await waits until nothing is open any more. It asks the database only once everything was sent.
func (o *onefold) await(ctx context.Context, sends int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if o.books.sends.Load() < int64(sends) {
			continue
		}
		open, err := o.store.InFlight(ctx)
		if err != nil {
			return err
		}
		// What an earlier run has left behind was put off for years.
		if due, err := o.store.NextDue(ctx, o.system); err != nil || open[o.system] > 0 || !due.IsZero() && time.Until(due) < time.Hour {
			if err != nil {
				return err
			}
			continue
		}
		return nil
	}
}

func (o *onefold) done(ctx context.Context) (int, error) {
	return o.count(ctx, "SELECT count(*) FROM items i WHERE i.id > "+strconv.Itoa(o.before)+" AND i.system_id = '"+o.system+"' AND i.status = 'confirmed'"+
		" AND (SELECT 1 FROM attempts a WHERE a.item_id = i.id AND a.outcome = 'accepted' LIMIT 1) = 1")
}

func (o *onefold) close() {
	o.shut()
	o.store.Close()
}

// books is an accounting system in this process that accepts everything.
type books struct {
	latency time.Duration
	sends   atomic.Int64
}

func (b *books) Capabilities() work.Capabilities {
	return work.Capabilities{HonoursKeys: true, Searchable: true, UniqueReferences: true, Misses: 1}
}

func (b *books) Steps() []string { return []string{"create"} }

func (b *books) Identity(context.Context) (string, error) { return "bench", nil }

func (b *books) Send(ctx context.Context, req ledger.Request) work.Answer {
	if b.latency > 0 {
		select {
		case <-time.After(b.latency):
		case <-ctx.Done():
			return work.Answer{Outcome: work.Unknown}
		}
	}
	b.sends.Add(1)
	return work.Answer{Outcome: work.Accepted,
		Record: work.Record{ID: "ext-" + req.Reference, Number: "2026-" + req.Reference, Reference: req.Reference,
			Customer: req.Invoice.CustomerID, Total: req.Invoice.Total},
		Exchange: work.Exchange{HTTPStatus: 201, Identity: "bench", Request: `{"reference":"` + req.Reference + `"}`,
			Response: `{"id":"ext-` + req.Reference + `","status":"AUTHORISED"}`}}
}

func (b *books) Find(context.Context, ledger.Query) ledger.Found { return ledger.Found{Searched: true} }
