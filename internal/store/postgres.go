package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	gormpg "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// postgres is the backend on PostgreSQL. Any number of servers may share one database.
type postgres struct {
	store *Store
	pool  *pgxpool.Pool
	std   *sql.DB
	orm   *gorm.DB

	identity     atomic.Pointer[identity] // the database that we know; nil until takeIdentity
	installation atomic.Pointer[string]   // its installation, as long
	witness      *witness
	warned       atomic.Bool
}

func openPostgres(ctx context.Context, s *Store) (*postgres, error) {
	cfg, err := pgxpool.ParseConfig(s.cfg.URL)
	if err != nil { // the error may quote the address with its password
		return nil, errors.New("the database's address cannot be read: write postgres://user:password@host:port/name")
	}
	p := &postgres{store: s}
	if p.witness, err = openWitness(s.cfg.Mark); err != nil {
		return nil, err
	}
	cfg.MaxConns = 16
	if s.cfg.MaxConns > 0 {
		cfg.MaxConns = int32(max(s.cfg.MaxConns, 3)) //nolint:gosec // a handful
	}
	cc := cfg.ConnConfig
	if cc.ConnectTimeout == 0 {
		cc.ConnectTimeout = 5 * time.Second
	}
	cc.DialFunc = databaseDialer(cc.ConnectTimeout).DialContext
	for name, value := range map[string]string{
		"application_name":              strings.TrimSpace("onefold " + s.cfg.Node),
		"timezone":                      "UTC",
		"default_transaction_isolation": "read committed",
		"jit":                           "off",    // compiling a plan costs more than any of our queries
		"parallel_setup_cost":           "100000", // starting workers takes tens of milliseconds: what the planner thinks of as 1000
		// The plan of a page's list costs up to twenty milliseconds, as much as the list, and its statements name their indexes:
		// it is made once for a connection, and anew after the tables' statistics.
		"plan_cache_mode": "force_generic_plan",
		// A server that stands still inside a transaction (a paused machine) must not keep its locks from the others.
		"idle_in_transaction_session_timeout": "5000",
	} {
		cc.RuntimeParams[name] = value
	}
	cfg.AfterConnect = p.greet
	if p.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, p.explain(err)
	}
	if err := p.pool.Ping(ctx); err != nil {
		err = p.explain(err)
		p.pool.Close()
		return nil, err
	}
	p.std = stdlib.OpenDBFromPool(p.pool)
	p.orm, err = gorm.Open(pgDialector{gormpg.Dialector{Config: &gormpg.Config{Conn: p.std}}}, gormConfig())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the database: %w", err), p.close())
	}
	return p, nil
}

func gormConfig() *gorm.Config {
	return &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true, DisableAutomaticPing: true, TranslateError: true}
}

// greet makes sure of every new connection: the server behind it may have changed since the last one.
func (p *postgres) greet(ctx context.Context, c *pgx.Conn) error {
	var commit, fsync, pages string
	var replica bool
	err := c.QueryRow(ctx, "SELECT current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery()").
		Scan(&commit, &fsync, &pages, &replica)
	switch {
	case err != nil:
		return fmt.Errorf("read the database's settings: %w", away(err))
	case replica:
		return &unreachable{text: "the database is a read-only replica: connect to the primary server"}
	case fsync != "on" || pages != "on":
		return fmt.Errorf("%w: fsync is %s and full_page_writes is %s, both must be on", ErrNotDurable, fsync, pages)
	case commit != "on" && commit != "remote_apply":
		if !p.warned.Swap(true) {
			p.store.cfg.Log.Warn("the database's synchronous_commit is too weak, it is switched on for our connections", "was", commit)
		}
		if _, err := c.Exec(ctx, "SET synchronous_commit = on"); err != nil {
			return fmt.Errorf("%w: synchronous_commit is %s and cannot be switched on: %w", ErrNotDurable, commit, err)
		}
	}
	return p.recognise(ctx, c)
}

// explain makes one sentence, without the password, of an error that says that the server cannot be reached.
func (p *postgres) explain(err error) error {
	var ce *pgconn.ConnectError
	if !errors.As(err, &ce) {
		return pgError(err)
	}
	cause := "it does not answer"
	var pe *pgconn.PgError
	var ne *net.OpError
	switch {
	case errors.As(err, &pe):
		cause = pe.Message
	case errors.As(err, &ne):
		cause = ne.Err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		cause = "it does not answer in time"
	}
	return &unreachable{fmt.Sprintf("cannot reach the database %q at %s:%d: %s", ce.Config.Database, ce.Config.Host, ce.Config.Port, cause), err}
}

func (p *postgres) now(ctx context.Context) (t time.Time, err error) {
	err = p.pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(stamp{&t})
	return t, p.explain(err)
}

func (p *postgres) at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

func (p *postgres) items() string { return pgItems }

func (p *postgres) query(ctx context.Context, text string, args ...any) (closableRows, error) {
	r, err := p.pool.Query(ctx, pgText(text), args...)
	if err != nil {
		return nil, p.explain(err)
	}
	return pgRows{r}, nil
}

func (p *postgres) text(text string) string { return pgText(text) }

// pgText turns ?1 into $1. No text of ours holds a question mark of another kind.
func pgText(text string) string { return strings.ReplaceAll(text, "?", "$") }

type pgRows struct{ pgx.Rows }

func (r pgRows) Err() error { return pgError(r.Rows.Err()) }

func (r pgRows) Close() error {
	r.Rows.Close()
	return pgError(r.Rows.Err())
}

func (p *postgres) read(ctx context.Context) *gorm.DB { return p.orm.WithContext(ctx) }

func (p *postgres) write(ctx context.Context, f func(tx *gorm.DB) error) error {
	return p.explain(p.orm.WithContext(ctx).Transaction(f))
}

func (p *postgres) ready(ctx context.Context) error {
	if err := p.pool.Ping(ctx); err != nil {
		return p.explain(err)
	}
	return nil
}

func (p *postgres) close() error {
	var err error
	if p.std != nil {
		err = p.std.Close()
	}
	p.pool.Close()
	return errors.Join(err, p.witness.close())
}
