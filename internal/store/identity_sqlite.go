package store

import (
	"context"
	"fmt"
)

const otherFile = "the database file is not the one we knew: an older file was put back, or its side mark is gone"

// takeIdentity compares the file with its side mark. If the file is behind it, or another one, nothing is sent before it
// was looked for.
func (l *lite) takeIdentity(ctx context.Context, s *Store) (err error) {
	if err := l.enter(ctx); err != nil {
		return err
	}
	d := &sqliteDoor{lite: l, open: true}
	defer d.rollback()
	if _, err := d.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return l.explain(err)
	}
	exec := func(text string, args ...any) error {
		_, err := d.exec(ctx, text, args...)
		return err
	}
	now := machineNow()
	if s.cfg.Clock != nil {
		now = s.cfg.Clock()
	}
	made, err := d.exec(ctx, "INSERT INTO installation (one, id, created_at) VALUES (1, ?1, ?2) ON CONFLICT (one) DO NOTHING", newInstallationID(), micros(now))
	if err != nil {
		return l.explain(err)
	}
	var id string
	var generation int64
	q, err := d.stmt(ctx, "SELECT id, generation FROM installation")
	if err != nil {
		return l.explain(err)
	}
	if err := q.QueryRowContext(ctx).Scan(&id, &generation); err != nil {
		return l.explain(err)
	}
	m, was, found, err := openMark(l.path+".mark", id)
	if err != nil {
		return err
	}
	l.mark = m
	if generation < was.Generation || found && was.Installation != id || !found && made == 0 {
		if err := (everywhere{theStore, otherFile, now, l.at}).begin(exec); err != nil {
			return l.explain(err)
		}
		s.cfg.Log.Warn(otherFile + ": nothing is sent before it was looked for")
		generation = max(generation, was.Generation) // so that the mark never goes back
		if err := exec("UPDATE installation SET generation = ?1", generation); err != nil {
			return l.explain(err)
		}
	}
	// Under the lock: another process that sends must not be overtaken.
	if err := l.mark.restart(generation); err != nil {
		return err
	}
	if err := d.commit(ctx); err != nil {
		return fmt.Errorf("take the database's identity: %w", err)
	}
	return nil
}
