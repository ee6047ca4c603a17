package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/telemetry"
)

// What a long history costs: the engine's rate in the database that a run with -only pages has left, against that in an
// empty one, and the time of whole pages while the engine runs beside them at full speed, in one process as on a server.
const (
	besideSystem = "beside"
	besideSlots  = 4_000
	besideBar    = 100 * time.Millisecond // what the 95th percentile of a page is held to
	rateBar      = 0.9                    // of the rate in an empty database
	leastRounds  = 40                     // so many times each page is asked for, or nothing is said
)

// besideResult is what was measured.
type besideResult struct {
	items       int // of the history
	worked      int // of each run
	empty, full []float64
	pages       []besidePage
	while       float64 // the engine's rate beside the pages
}

type besidePage struct {
	name, path string
	took       []time.Duration
}

func (b bench) beside(ctx context.Context, n, items, repeats int) (r besideResult, err error) {
	r.items, r.worked = n, items
	address, err := b.pagesURL()
	if err != nil {
		return r, err
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return r, err
	}
	config.MaxConns = 4
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return r, err
	}
	defer pool.Close()
	w := world{n, time.Now().UTC().Truncate(time.Hour)}
	if err := calm(ctx, pool, w); err != nil {
		return r, err
	}
	full := target{url: address, pool: pool, conns: b.conns}
	for round := range repeats {
		empty, drop, err := b.fresh(ctx, contender{})
		if err != nil {
			return r, err
		}
		rate, err := b.rate(ctx, empty, items)
		drop()
		if err != nil {
			return r, fmt.Errorf("empty: %w", err)
		}
		r.empty = append(r.empty, rate)
		if rate, err = b.rate(ctx, full, items); err != nil {
			return r, fmt.Errorf("full: %w", err)
		}
		r.full = append(r.full, rate)
		fmt.Printf("%d/%d empty %.0f items/s, full %.0f items/s\n", round+1, repeats, r.empty[round], r.full[round])
	}
	return r, b.pagesBeside(ctx, full, w, &r)
}

// calm puts off what is due in the filled database, so that only new work is worked: what is in hand, and what a run that was
// cut off has left. All that waits was filled in as due in years: each row that is changed leaves a hole in an old page, and the
// engine would write that page whole into the log for the one row that fits in. It counts the overview's figures as
// far as they go.
func calm(ctx context.Context, pool *pgxpool.Pool, w world) error {
	for _, statement := range []string{
		"SELECT setval(pg_get_serial_sequence('items', 'id'), (SELECT max(id) FROM items))",
		"UPDATE items SET due_at = now() + interval '10 years' WHERE due_at < now() + interval '1 year'",
		"UPDATE items SET lease_until = now() + interval '10 years' WHERE lease_until < now() + interval '1 year'",
	} {
		if _, err := pool.Exec(ctx, statement); err != nil {
			return err
		}
	}
	begun, err := count(ctx, pool, "SELECT count(*) FROM figures_place WHERE started_at IS NOT NULL")
	if err != nil || begun > 0 {
		return err
	}
	if err := w.figures(ctx, pgFiller{pool}); err != nil {
		return err
	}
	_, err = pool.Exec(ctx, "UPDATE figures_place SET started_at = now(), counted_to = now()")
	return err
}

// figures fills what the overview shows: every system, automation and measure in every hour, day and month that it can ask for.
func (w world) figures(ctx context.Context, f filler) error {
	systems, automations := []string{"books", "erp", "shop", "old-books"}, []string{"invoices", "renewals", "orders", "travel", "contracts"}
	plain := []review.Measure{"sends", "limited", "send:accepted", "send:rejected", "send:unknown", "send:not_sent", "find:found_matching", "find:not_found", "find:could_not_tell"}
	durations := []review.Measure{review.Confirmed, review.Answered}
	for _, how := range review.SettledWays {
		durations = append(durations, review.SettledBy(how))
	}
	const buckets = 30
	now := w.now.UTC()
	for _, g := range []struct {
		grain review.Grain
		n     int
		at    func(back int) time.Time
	}{
		{review.GrainHour, 48, func(back int) time.Time { return now.Add(-time.Duration(back) * time.Hour) }},
		{review.GrainDay, 60, func(back int) time.Time {
			return time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, time.UTC)
		}},
		{review.GrainMonth, 25, func(back int) time.Time {
			return time.Date(now.Year(), now.Month()-time.Month(back), 1, 0, 0, 0, 0, time.UTC)
		}},
		{review.GrainAll, 1, func(int) time.Time { return time.Unix(0, 0).UTC() }},
	} {
		var rows [][]any
		for back := range g.n {
			for _, system := range systems {
				for _, m := range plain {
					for i, a := range automations {
						rows = append(rows, []any{1, string(g.grain), f.at(g.at(back)), string(m), system, a, i % 2, 100 + i})
					}
				}
				for _, m := range durations {
					for bucket := range buckets {
						rows = append(rows, []any{1, string(g.grain), f.at(g.at(back)), string(m), system, "", 20 + bucket, 1 + bucket})
					}
				}
			}
		}
		err := f.rows(ctx, "figures", []string{"company_id", "grain", "starts_at", "measure", "system_id", "automation", "bucket", "count"}, len(rows),
			func(i int) []any { return rows[i] })
		if err != nil {
			return fmt.Errorf("figures: %w", err)
		}
	}
	return nil
}

// ready records work in a database and brings its statistics up to date.
func (b bench) ready(ctx context.Context, t target, items int) (*onefold, error) {
	e, err := openOnefold(ctx, t, besideSystem, 0, besideSlots)
	if err != nil {
		return nil, err
	}
	o := e.(*onefold)
	o.keys = "BESIDE-" + strconv.FormatInt(time.Now().UnixMilli(), 10) + "-"
	err = o.record(ctx, items)
	for _, statement := range []string{"VACUUM ANALYZE", "CHECKPOINT"} {
		if err == nil {
			_, err = t.pool.Exec(ctx, statement)
		}
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// rate is how many items a second the engine works.
func (b bench) rate(ctx context.Context, t target, items int) (float64, error) {
	o, err := b.ready(ctx, t, items)
	if err != nil {
		return 0, err
	}
	defer o.close()
	before, err := images(ctx, t.pool)
	if err != nil {
		return 0, err
	}
	defer watched(ctx, o.store)()
	took, err := o.work(ctx, items)
	if err != nil {
		return 0, err
	}
	after, err := images(ctx, t.pool)
	fmt.Printf("%d items in %s, %d full page images\n", items, took.Round(time.Millisecond), after-before)
	return float64(items) / took.Seconds(), err
}

// watched runs what each server looks at all the time beside its engine; the function ends it.
func watched(ctx context.Context, s *store.Store) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return automation.Watch{Store: s, Log: quiet}.Run(ctx) })
	g.Go(func() error {
		return telemetry.State{Store: s, CompanyID: 1, Metrics: telemetry.NewMetrics("bench", telemetry.ThisBuild())}.Run(ctx)
	})
	return func() {
		stop()
		_ = g.Wait() // both end with ctx, without an error
	}
}

// images is how many pages the server has written whole into its log since it began: each page that is changed for the first
// time after a checkpoint. They are what a wrong fill of old pages costs.
func images(ctx context.Context, pool *pgxpool.Pool) (int, error) {
	return count(ctx, pool, "SELECT wal_fpi FROM pg_stat_wal")
}

func (r besideResult) print(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	median := func(list []float64) float64 { return quantile(slices.Clone(list), 0.5) }
	empty, full := median(r.empty), median(r.full)
	fmt.Fprintf(t, "engine, empty database\t%.0f items/s\t%.0f\t\n", empty, r.empty)
	fmt.Fprintf(t, "engine, beside %d items\t%.0f items/s\t%.0f\t%.2f of it%s\n", r.items, full, r.full, full/empty, over(full/empty < rateBar))
	fmt.Fprintf(t, "engine, with pages asked for\t%.0f items/s\t\t\n", r.while)
	fmt.Fprintln(t, "\nPAGE BESIDE THE ENGINE\tTIMES\tP50 MS\tP95 MS\tWORST MS\t")
	for _, p := range r.pages {
		if len(p.took) < leastRounds {
			return fmt.Errorf("%s was asked for only %d times: give the engine more items", p.name, len(p.took))
		}
		slices.Sort(p.took)
		at := func(q float64) float64 { return float64(p.took[min(int(float64(len(p.took))*q), len(p.took)-1)]) / 1e6 }
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%.1f\t%s\n", p.name, len(p.took), at(0.5), at(0.95), at(1), over(at(0.95) > float64(besideBar)/1e6))
	}
	return t.Flush()
}

func over(is bool) string {
	if is {
		return "  over the bar"
	}
	return ""
}
