package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"onefold/internal/automation"
)

const openText = "SELECT i.system_id, i.status, count(*), min(i.changed_at) FROM items i WHERE i.company_id = ?1" +
	" AND i.status IN ('pending', 'queued', 'failed') AND " + openRows + " GROUP BY 1, 2" +
	" UNION ALL SELECT i.system_id, 'in_progress', count(*), min(i.open_since) FROM items i WHERE i.company_id = ?1 AND " + callRows + " GROUP BY 1" +
	" UNION ALL SELECT i.system_id, 'review', count(*), min(coalesce(n.noticed_at, i.changed_at)) FROM items i LEFT JOIN notice_items n ON n.item_id = i.id" +
	" WHERE i.company_id = ?1 AND i.status = 'review' AND " + openRows + " GROUP BY 1"

// OpenItems counts the open items of a company by system and status. It reads the index of what is open, and of the history nothing.
func (s *Store) OpenItems(ctx context.Context, companyID int64) (list []automation.OpenItems, err error) {
	r, err := s.db.query(ctx, openText, companyID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var o automation.OpenItems
		if err := r.Scan(&o.SystemID, (*string)(&o.Status), &o.Count, stamp{&o.Oldest}); err != nil {
			return nil, fmt.Errorf("count open items: %w", err)
		}
		list = append(list, o)
	}
	return list, r.Err()
}

// Connections is how the connections to the database are used at the moment.
type Connections struct {
	Limit, InUse, Idle int
	Waits              int64 // since the start: how often nobody was free
	Waited             time.Duration
}

// Connections returns that, without asking the database.
func (s *Store) Connections() Connections { return s.db.connections() }

func (p *postgres) connections() Connections {
	st := p.pool.Stat()
	return Connections{Limit: int(st.MaxConns()), InUse: int(st.AcquiredConns()), Idle: int(st.IdleConns()), Waits: st.EmptyAcquireCount(), Waited: st.EmptyAcquireWaitTime()}
}

func (l *lite) connections() (c Connections) {
	for _, db := range []*sql.DB{l.reads, l.writes, l.extra} {
		st := db.Stats()
		c.Limit += st.MaxOpenConnections
		c.InUse += st.InUse
		c.Idle += st.Idle
		c.Waits += st.WaitCount
		c.Waited += st.WaitDuration
	}
	return c
}

// Current returns an error in the operator's words unless the database answers and its schema fits this program.
func (s *Store) Current(ctx context.Context) error {
	if err := s.Ready(ctx); err != nil {
		return err
	}
	var version, needs int64
	if err := s.row(ctx, "SELECT (SELECT max(version_id) FROM goose_db_version), (SELECT version FROM schema_needs)", nil, &version, &needs); err != nil {
		return fmt.Errorf("the schema's version cannot be read: %w", err)
	}
	switch {
	case needs > newestMigration:
		return fmt.Errorf("%w: its schema needs a program that knows number %d, this one knows up to %d", ErrNewerSchema, needs, newestMigration)
	case version < newestMigration:
		return fmt.Errorf("%w: its schema is number %d, this version needs %d", ErrNotMigrated, version, newestMigration)
	}
	return nil
}
