package soak

import (
	"context"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// databaseName is the database of the soak. The next soak replaces it.
const databaseName = "onefold_soak"

// database reads the tables as they are, past the store: what is judged must not also be the judge.
type database struct {
	url   string        // as a server is told
	admin string        // of another database on the same server
	pool  *pgxpool.Pool // one connection, which the disturbances spare
}

func newDatabase(ctx context.Context, admin string) (*database, error) {
	d := &database{admin: admin}
	if err := d.exec(ctx, "DROP DATABASE IF EXISTS "+databaseName+" WITH (FORCE)", "CREATE DATABASE "+databaseName); err != nil {
		return nil, err
	}
	u, err := url.Parse(admin)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + databaseName
	d.url = u.String()
	config, err := pgxpool.ParseConfig(d.url)
	if err != nil {
		return nil, err
	}
	config.MinConns, config.MaxConns = 1, 1
	config.MaxConnLifetime, config.MaxConnIdleTime = 24*time.Hour, 24*time.Hour
	config.ConnConfig.RuntimeParams["application_name"] = "soak"
	d.pool, err = pgxpool.NewWithConfig(ctx, config)
	return d, err
}

func (d *database) exec(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, d.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

const cutAll = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + databaseName + "' AND application_name LIKE 'onefold%'"

// cut ends the servers' sessions.
func (d *database) cut(ctx context.Context) error { return d.exec(ctx, cutAll) }

// away ends the servers' sessions and takes no new ones for a while.
func (d *database) away(ctx context.Context, t time.Duration) error {
	if err := d.exec(ctx, "ALTER DATABASE "+databaseName+" ALLOW_CONNECTIONS false", cutAll); err != nil {
		return err
	}
	pause(ctx, t)
	return d.exec(context.WithoutCancel(ctx), "ALTER DATABASE "+databaseName+" ALLOW_CONNECTIONS true")
}

// connections counts the servers' sessions, by server.
func (d *database) connections(ctx context.Context) (map[string]int, error) {
	return d.counts(ctx, `SELECT substr(application_name, 9), count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name LIKE 'onefold %' GROUP BY 1`)
}

// statuses counts the items by status.
func (d *database) statuses(ctx context.Context) (map[string]int, error) {
	return d.counts(ctx, "SELECT status, count(*) FROM items GROUP BY 1")
}

// moving counts the items for which something is still to be done without a person.
func (d *database) moving(ctx context.Context) (n int, err error) {
	return n, d.pool.QueryRow(ctx, "SELECT count(*) FROM items WHERE "+moves).Scan(&n)
}

const moves = "(due_at IS NOT NULL OR open_attempt > 0 OR last_look = 'owed' OR status IN ('queued', 'in_progress', 'pending', 'failed'))"

func (d *database) counts(ctx context.Context, query string) (map[string]int, error) {
	rows, err := d.pool.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	var what string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&what, &n}, func() error {
		found[what] = n
		return nil
	})
	return found, err
}

// item is what is judged of an item.
type item struct {
	ID             int64
	System         string
	Reference      string
	Step           string
	Status, Reason string
	External       string
	Moves          bool
	Sends          int
	Evidence       string
}

func (d *database) items(ctx context.Context) ([]item, error) {
	rows, err := d.pool.Query(ctx, `SELECT i.id, k.system_id, k.reference, k.step, i.status, i.reason, i.external_id, `+moves+`, i.sends, i.evidence
		FROM items i JOIN item_keys k ON k.item_id = i.id ORDER BY i.id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[item])
}

// history tells the attempts of an item in one line each.
func (d *database) history(ctx context.Context, id int64) ([]string, error) {
	rows, err := d.pool.Query(ctx, `SELECT concat_ws(' ', number, kind, node, to_char(started_at, 'HH24:MI:SS.MS'), to_char(ended_at, 'HH24:MI:SS.MS'), outcome,
		finding, CASE WHEN late_for > 0 THEN 'late for ' || late_for END, left(error, 100)) FROM attempts WHERE item_id = $1 ORDER BY number`, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
