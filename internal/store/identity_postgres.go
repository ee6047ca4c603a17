package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	otherDatabase     = "the database is not the one we knew: a restored backup or a promoted replica"
	forgetfulDatabase = "the database does not know what this server sent: an older copy of it was put back"
)

func (p *postgres) takeIdentity(ctx context.Context, _ *Store) error {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return p.explain(err)
	}
	defer conn.Release()
	is, err := readIdentity(ctx, conn.Conn())
	if err != nil {
		return err
	}
	if is.cluster == hidden || !is.tellsTimeline() {
		p.store.cfg.Log.Warn("this PostgreSQL hides which server it is (pg_control_system, pg_walfile_name): a promoted replica may not be noticed." +
			" After a restore, or a failover while no server ran, run onefold look-first before the first server starts")
	}
	return p.adopt(ctx, conn.Conn(), is)
}

// recognise compares the database behind a new connection with the one that we know.
func (p *postgres) recognise(ctx context.Context, c *pgx.Conn) error {
	known := p.identity.Load()
	if known == nil {
		return nil
	}
	is, err := readIdentity(ctx, c)
	if err != nil {
		return err
	}
	if is == *known {
		lost, err := p.witness.forgotten(ctx, c, *p.installation.Load())
		if err != nil || !lost {
			return err
		}
	}
	return p.adopt(ctx, c, is)
}

// adopt stores the identity. If another one was stored, or the database forgot what this server sent, nothing is sent before
// it was looked for.
func (p *postgres) adopt(ctx context.Context, c *pgx.Conn, is identity) error {
	now, err := p.clock(ctx, c)
	if err != nil {
		return err
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		return fmt.Errorf("take the database's identity: %w", err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after the commit it does nothing
	exec := func(text string, args ...any) error {
		_, err := tx.Exec(ctx, pgText(text), args...)
		return err
	}
	if err := exec("INSERT INTO installation (one, id, created_at) VALUES (1, ?1, ?2) ON CONFLICT (one) DO NOTHING", newInstallationID(), now); err != nil {
		return fmt.Errorf("take the database's identity: %w", err)
	}
	var known identity
	var installation, database string
	if err := tx.QueryRow(ctx, "SELECT id, database_system, database_table FROM installation FOR UPDATE").Scan(&installation, &database, &known.table); err != nil {
		return fmt.Errorf("take the database's identity: %w", err)
	}
	known.parse(database)
	lost, err := p.witness.forgotten(ctx, c, installation)
	if err != nil {
		return err
	}
	why := ""
	switch {
	case is.differs(known):
		why = otherDatabase
	case lost:
		why = forgetfulDatabase
	}
	if known != is || why != "" {
		err = exec("UPDATE installation SET database_system = ?1, database_table = ?2, generation = generation + 1", is.text(), is.table)
		if err == nil && why != "" {
			err = everywhere{theStore, why, now, p.at}.begin(exec)
			p.store.cfg.Log.Warn(why + ": nothing is sent before it was looked for")
		}
		if err != nil {
			return fmt.Errorf("take the database's identity: %w", err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("take the database's identity: %w", err)
	}
	p.installation.Store(&installation)
	p.identity.Store(&is)
	if why == "" && !p.witness.new() {
		return nil
	}
	return p.witness.restart(installation)
}

func (p *postgres) clock(ctx context.Context, c *pgx.Conn) (now time.Time, err error) {
	if p.store.cfg.Clock != nil {
		return p.store.cfg.Clock().UTC(), nil
	}
	if err := c.QueryRow(ctx, "SELECT clock_timestamp()").Scan(stamp{&now}); err != nil {
		return now, fmt.Errorf("read the database's clock: %w", err)
	}
	return now, nil
}

func newInstallationID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
