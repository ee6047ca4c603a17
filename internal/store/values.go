package store

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// stamp reads a time in either database's form: a timestamptz, or microseconds since 1970.
type stamp struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s stamp) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*s.to = time.Time{}
	case int64:
		*s.to = time.UnixMicro(v).UTC()
	case time.Time:
		*s.to = v.UTC()
	default:
		return fmt.Errorf("a stored time has the wrong type %T", v)
	}
	return nil
}

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (s stamp) ScanTimestamptz(v pgtype.Timestamptz) error {
	*s.to = time.Time{}
	if v.Valid {
		*s.to = v.Time.UTC()
	}
	return nil
}

// linkTo reads an id; NULL is 0.
type linkTo struct{ to *int64 }

// Scan implements sql.Scanner.
func (l linkTo) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*l.to = 0
	case int64:
		*l.to = v
	default:
		return fmt.Errorf("a stored id has the wrong type %T", v)
	}
	return nil
}

// ScanInt64 implements pgtype.Int64Scanner.
func (l linkTo) ScanInt64(v pgtype.Int8) error {
	*l.to = v.Int64
	return nil
}

// listTo reads numbers from text: "3,7".
type listTo struct{ to *[]int }

// Scan implements sql.Scanner.
func (l listTo) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("a stored list has the wrong type %T", v)
	}
	var err error
	*l.to, err = splitInts(s)
	return err
}

// ScanText implements pgtype.TextScanner.
func (l listTo) ScanText(v pgtype.Text) error { return l.Scan(v.String) }

// micros is a time in SQLite's form; the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}
