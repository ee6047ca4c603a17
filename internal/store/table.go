package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// kind says how a column is held in both databases.
type kind int

const (
	textKind kind = iota // never NULL
	intKind              // never NULL
	bigKind              // never NULL
	linkKind             // an id; 0 is NULL
	timeKind             // the zero time is NULL
	boolKind             // never NULL
	listKind             // numbers as text: "3,7"
)

var pgTypes = [...]string{textKind: "text", intKind: "int", bigKind: "bigint", linkKind: "bigint", timeKind: "timestamptz", boolKind: "bool", listKind: "text"}

// column maps one column of a table to a field of R. Exactly one accessor is set.
type column[R any] struct {
	name   string
	kind   kind
	cast   string // PostgreSQL's type if text must be cast to it
	limit  int    // of text, in bytes; 0: maxShort
	text   func(*R) *string
	number func(*R) *int
	big    func(*R) *int64
	moment func(*R) *time.Time
	flag   func(*R) *bool
	list   func(*R) *[]int
}

func textColumn[R any](name string, f func(*R) *string) column[R] {
	return column[R]{name: name, kind: textKind, text: f}
}
func longColumn[R any](name string, f func(*R) *string) column[R] {
	return column[R]{name: name, kind: textKind, text: f, limit: maxLong}
}
func intColumn[R any](name string, f func(*R) *int) column[R] {
	return column[R]{name: name, kind: intKind, number: f}
}
func bigColumn[R any](name string, f func(*R) *int64) column[R] {
	return column[R]{name: name, kind: bigKind, big: f}
}
func timeColumn[R any](name string, f func(*R) *time.Time) column[R] {
	return column[R]{name: name, kind: timeKind, moment: f}
}

func (c *column[R]) textOf(r *R) string {
	if c.kind == listKind {
		return joinInts(*c.list(r))
	}
	limit := c.limit
	if limit == 0 {
		limit = maxShort
	}
	return tidy(*c.text(r), limit)
}

// array is the column of all rows as one parameter for unnest.
func (c *column[R]) array(rows []*R) any {
	switch c.kind {
	case intKind:
		list := make(pgtype.FlatArray[int32], len(rows))
		for i, r := range rows {
			list[i] = int32(*c.number(r)) //nolint:gosec // counters
		}
		return list
	case bigKind:
		list := make(pgtype.FlatArray[int64], len(rows))
		for i, r := range rows {
			list[i] = *c.big(r)
		}
		return list
	case linkKind:
		list := make(pgtype.FlatArray[pgtype.Int8], len(rows))
		for i, r := range rows {
			list[i] = pgtype.Int8{Int64: *c.big(r), Valid: *c.big(r) != 0}
		}
		return list
	case timeKind:
		list := make(pgtype.FlatArray[pgtype.Timestamptz], len(rows))
		for i, r := range rows {
			t := *c.moment(r)
			list[i] = pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}
		}
		return list
	case boolKind:
		list := make(pgtype.FlatArray[bool], len(rows))
		for i, r := range rows {
			list[i] = *c.flag(r)
		}
		return list
	default:
		list := make(pgtype.FlatArray[string], len(rows))
		for i, r := range rows {
			list[i] = c.textOf(r)
		}
		return list
	}
}

// value is the column of one row as a parameter for SQLite.
func (c *column[R]) value(r *R) any {
	switch c.kind {
	case intKind:
		return int64(*c.number(r))
	case bigKind:
		return *c.big(r)
	case linkKind:
		if *c.big(r) == 0 {
			return nil
		}
		return *c.big(r)
	case timeKind:
		return micros(*c.moment(r))
	case boolKind:
		return *c.flag(r)
	default:
		return c.textOf(r)
	}
}

// dest is where the column of r is read to.
func (c *column[R]) dest(r *R) any {
	switch c.kind {
	case intKind:
		return c.number(r)
	case bigKind:
		return c.big(r)
	case linkKind:
		return linkTo{c.big(r)}
	case timeKind:
		return stamp{c.moment(r)}
	case boolKind:
		return c.flag(r)
	case listKind:
		return listTo{c.list(r)}
	default:
		return c.text(r)
	}
}

// table is a table, or some columns of one, that rows of type R are written to.
type table[R any] struct {
	name    string
	columns []column[R]
}

// unnest is "unnest($1::text[], ...) AS u (a, ...)" with the first parameter's number.
func unnest[R any](columns []column[R], first int) string {
	var b strings.Builder
	b.WriteString("unnest(")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(first+i) + "::" + pgTypes[c.kind] + "[]")
	}
	b.WriteString(") AS u (" + names(columns, "") + ")")
	return b.String()
}

func names[R any](columns []column[R], prefix string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = prefix + c.name
		if c.cast != "" && prefix != "" {
			list[i] += "::" + c.cast
		}
	}
	return strings.Join(list, ", ")
}

// insertMany inserts any number of rows by one statement on PostgreSQL.
func (t table[R]) insertMany() string {
	return "INSERT INTO " + t.name + " (" + names(t.columns, "") + ") SELECT " + names(t.columns, "u.") + " FROM " + unnest(t.columns, 1)
}

// insertOne inserts one row on SQLite.
func (t table[R]) insertOne() string {
	return "INSERT INTO " + t.name + " (" + names(t.columns, "") + ") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
}

func (t table[R]) arrays(rows []*R) []any {
	args := make([]any, len(t.columns))
	for i := range t.columns {
		args[i] = t.columns[i].array(rows)
	}
	return args
}

func (t table[R]) values(r *R) []any {
	args := make([]any, len(t.columns))
	for i := range t.columns {
		args[i] = t.columns[i].value(r)
	}
	return args
}

func (t table[R]) dests(r *R) []any {
	dests := make([]any, len(t.columns))
	for i := range t.columns {
		dests[i] = t.columns[i].dest(r)
	}
	return dests
}
