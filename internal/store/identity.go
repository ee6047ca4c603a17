package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// identity is what tells a PostgreSQL database from its copies: the cluster, its timeline (a replica that is promoted and a
// restore to a point in time begin a new one at once, before the control file tells), the database in it, and the table that
// holds the installation: a dump that is loaded over the same database makes it anew. A copy of the disk that is put back
// under the same cluster, or rows that are loaded into the tables as they are, can be told only by the [witness].
//
// Some hosts keep the cluster or the timeline to themselves. In place of the timeline stands then until which commit this
// PostgreSQL had followed another one before it was promoted. It tells so until it is restarted: that is no sign of a promotion,
// and no sign against one. When it was started tells nothing: each restart would stop all sends.
type identity struct{ cluster, timeline, database, table string }

const (
	hidden   = "?"
	promoted = "promoted " // and the time of the last commit that it followed
)

func readIdentity(ctx context.Context, c *pgx.Conn) (is identity, err error) {
	const cluster = "(SELECT system_identifier::text FROM pg_control_system())"
	const timeline = "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)"
	err = c.QueryRow(ctx, "SELECT oid::text, 'installation'::regclass::oid::text FROM pg_database WHERE datname = current_database()").Scan(&is.database, &is.table)
	if err == nil {
		err = c.QueryRow(ctx, "SELECT "+cluster+", "+timeline).Scan(&is.cluster, &is.timeline)
	}
	if !isHidden(err) {
		if err != nil {
			err = fmt.Errorf("read the database's identity: %w", err)
		}
		return is, err
	}
	if is.cluster, err = unlessHidden(ctx, c, cluster); err != nil {
		return is, err
	}
	if is.timeline, err = unlessHidden(ctx, c, timeline); err == nil && is.timeline == hidden {
		is.timeline, err = unlessHidden(ctx, c, "coalesce('"+promoted+"' || (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000000)::bigint, '"+hidden+"')")
	}
	return is, err
}

func unlessHidden(ctx context.Context, c *pgx.Conn, expression string) (text string, err error) {
	err = c.QueryRow(ctx, "SELECT "+expression).Scan(&text)
	if isHidden(err) {
		return hidden, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the database's identity: %w", err)
	}
	return text, nil
}

// isHidden tells hosts that keep something to themselves.
func isHidden(err error) bool {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		return false
	}
	switch pe.Code {
	case "42501", "0A000", "55000": // insufficient_privilege, feature_not_supported, object_not_in_prerequisite_state
		return true
	}
	return false
}

// text is how the database keeps it, beside the table.
func (is identity) text() string { return is.cluster + "/" + is.timeline + "/" + is.database }

func (is *identity) parse(text string) {
	if parts := strings.Split(text, "/"); len(parts) == 3 {
		is.cluster, is.timeline, is.database = parts[0], parts[1], parts[2]
		return
	}
	is.database = text // of nobody whom we know
}

// tellsTimeline reports whether the timeline itself is known.
func (is identity) tellsTimeline() bool {
	return is.timeline != hidden && !strings.HasPrefix(is.timeline, promoted)
}

// differs reports whether the database is another one than the one that we knew; nothing differs from nothing.
func (is identity) differs(known identity) bool {
	if known.database == "" {
		return known.table != "" && known.table != is.table
	}
	if is.cluster != known.cluster || is.database != known.database || known.table != "" && is.table != known.table {
		return true
	}
	switch {
	case known.tellsTimeline():
		return is.timeline != known.timeline
	case is.tellsTimeline(), is.timeline == hidden: // now we know more, or a promoted one was restarted
		return false
	}
	return is.timeline != known.timeline
}
