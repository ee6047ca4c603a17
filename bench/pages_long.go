package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"onefold/internal/review"
)

// One item has a history as an outage of days leaves it: looks that were never answered, and notes among them.
const (
	longAttempts = 8_000
	longActs     = 250
)

// long is that item: an ordinary one of the middle.
func (w world) long() pageItem { return w.item(w.n/2 + 1) }

// long is the page of that item, from a part of its history on.
func (c pageCalls) long(name string, from review.Place) pageCall {
	return pageCall{name: name, run: func(ctx context.Context, _ int) (int, error) {
		d, err := c.service.Detail(ctx, c.by, int64(c.world.long().id), from)
		return len(d.Attempts), err
	}}
}

// fillLong writes the long history. Its first two attempts are there.
func (w world) fillLong(ctx context.Context, f filler) error {
	it := w.long()
	it.kind = ""
	at := func(i int) time.Time { return it.recorded.Add(time.Duration(i) * time.Minute) }
	for _, t := range w.tables(f) {
		if t.name != "attempts" {
			continue
		}
		err := f.rows(ctx, t.name, columnsOf(t.columns), longAttempts-2, func(i int) []any {
			row := t.row(it, 2)
			for j, column := range columnsOf(t.columns) {
				switch column {
				case "number":
					row[j] = i + 3
				case "started_at", "ended_at":
					row[j] = f.at(at(i))
				case "finding":
					row[j] = "could_not_tell"
				case "request", "response":
					row[j] = strings.Repeat("x", 2000)
				}
			}
			return row
		})
		if err != nil {
			return err
		}
	}
	return f.rows(ctx, "acts", columnsOf("item_id, at, actor_kind, actor_id, actor_name, what, note, from_status, to_status, detail"), longActs, func(i int) []any {
		return []any{it.id, f.at(at(i * longAttempts / longActs)), "person", "1", "Bench", "note", fmt.Sprintf("remark %d", i), it.status, it.status, ""}
	})
}

const longQuery = "SELECT count(*) FROM attempts WHERE item_id = "

// longPostgres adds the long history if it is missing: databases of before do not have it.
func (w world) longPostgres(ctx context.Context, pool *pgxpool.Pool) error {
	var n int
	if err := pool.QueryRow(ctx, fmt.Sprint(longQuery, w.long().id)).Scan(&n); err != nil || n >= longAttempts {
		return err
	}
	if err := w.fillLong(ctx, pgFiller{pool}); err != nil {
		return err
	}
	_, err := pool.Exec(ctx, fmt.Sprintf("UPDATE items SET attempts = %d WHERE id = %d", longAttempts, w.long().id))
	return err
}

func (w world) longSQLite(ctx context.Context, db *sql.DB) error {
	var n int
	if err := db.QueryRowContext(ctx, fmt.Sprint(longQuery, w.long().id)).Scan(&n); err != nil || n >= longAttempts {
		return err
	}
	if err := w.fillLong(ctx, sqliteFiller{db}); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("UPDATE items SET attempts = %d WHERE id = %d", longAttempts, w.long().id))
	return err
}

// columnsOf are the names of columns in a list.
func columnsOf(list string) []string {
	return strings.Split(strings.Join(strings.Fields(list), ""), ",")
}
