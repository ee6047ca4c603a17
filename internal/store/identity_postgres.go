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

const otherDatabase = "the database is not the one we knew: a restored backup or a promoted replica"

// readIdentity names the database behind the connection: the cluster, its timeline (a replica that is promoted and a
// restore to a point in time begin a new one at once, before the control file tells) and the database in it. A copy of
// the disk that is put back under the same cluster cannot be told apart; whoever does that must start look-first by hand.
func readIdentity(ctx context.Context, c *pgx.Conn) (string, error) {
	var cluster, timeline, database string
	err := c.QueryRow(ctx, "SELECT oid::text FROM pg_database WHERE datname = current_database()").Scan(&database)
	if err != nil {
		return "", fmt.Errorf("read the database's identity: %w", err)
	}
	err = c.QueryRow(ctx, "SELECT (SELECT system_identifier::text FROM pg_control_system()), substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)").
		Scan(&cluster, &timeline)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == "42501" { // insufficient_privilege: some hosts keep these to themselves
		cluster, timeline, err = "?", "?", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the database's identity: %w", err)
	}
	return cluster + "/" + timeline + "/" + database, nil
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

// adopt stores the identity. If another one was stored, nothing is sent before it was looked for.
func (p *postgres) adopt(ctx context.Context, c *pgx.Conn, identity string) error {
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
	var known string
	if err := tx.QueryRow(ctx, "SELECT database_system FROM installation FOR UPDATE").Scan(&known); err != nil {
		return fmt.Errorf("take the database's identity: %w", err)
	}
	if known != identity {
		err = exec("UPDATE installation SET database_system = ?1, generation = generation + 1", identity)
		if err == nil && known != "" {
			err = lookFirstEverywhere(exec, now, otherDatabase)
			p.store.cfg.Log.Warn(otherDatabase + ": nothing is sent before it was looked for")
		}
		if err != nil {
			return fmt.Errorf("take the database's identity: %w", err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("take the database's identity: %w", err)
	}
	p.identity.Store(&identity)
	return nil
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
