package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	otherDatabase     = "the database is not the one we knew: a restored backup or a promoted replica"
	forgetfulDatabase = "the database does not know what this server sent: an older copy of it was put back"
)

// identity is what tells a database from its copies.
type identity struct{ database, table string }

// readIdentity names the database behind the connection: the cluster, its timeline (a replica that is promoted and a
// restore to a point in time begin a new one at once, before the control file tells), the database in it, and the table that
// holds the installation: a dump that is loaded over the same database makes it anew. A copy of the disk that is put back
// under the same cluster, or rows that are loaded into the tables as they are, can be told only by the [witness].
func readIdentity(ctx context.Context, c *pgx.Conn) (is identity, err error) {
	var cluster, timeline, database string
	err = c.QueryRow(ctx, "SELECT oid::text, 'installation'::regclass::oid::text FROM pg_database WHERE datname = current_database()").Scan(&database, &is.table)
	if err != nil {
		return is, fmt.Errorf("read the database's identity: %w", err)
	}
	err = c.QueryRow(ctx, "SELECT (SELECT system_identifier::text FROM pg_control_system()), substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)").
		Scan(&cluster, &timeline)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == "42501" { // insufficient_privilege: some hosts keep these to themselves
		cluster, timeline, err = "?", "?", nil
	}
	if err != nil {
		return is, fmt.Errorf("read the database's identity: %w", err)
	}
	is.database = cluster + "/" + timeline + "/" + database
	return is, nil
}

func (p *postgres) takeIdentity(ctx context.Context, _ *Store) error {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return p.explain(err)
	}
	defer conn.Release()
	identity, err := readIdentity(ctx, conn.Conn())
	if err != nil {
		return err
	}
	return p.adopt(ctx, conn.Conn(), identity)
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
	var installation string
	if err := tx.QueryRow(ctx, "SELECT id, database_system, database_table FROM installation FOR UPDATE").Scan(&installation, &known.database, &known.table); err != nil {
		return fmt.Errorf("take the database's identity: %w", err)
	}
	lost, err := p.witness.forgotten(ctx, c, installation)
	if err != nil {
		return err
	}
	why := ""
	switch {
	case known.database != "" && known.database != is.database, known.table != "" && known.table != is.table:
		why = otherDatabase
	case lost:
		why = forgetfulDatabase
	}
	if known != is || why != "" {
		err = exec("UPDATE installation SET database_system = ?1, database_table = ?2, generation = generation + 1", is.database, is.table)
		if err == nil && why != "" {
			err = lookFirstEverywhere(exec, now, why)
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

func (p *postgres) clock(ctx context.Context, c *pgx.Conn) (now any, err error) {
	if p.store.cfg.Clock != nil {
		return p.store.cfg.Clock().UTC(), nil
	}
	if err := c.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
		return nil, fmt.Errorf("read the database's clock: %w", err)
	}
	return now, nil
}

func newInstallationID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
