package store

import "context"

// Setting is a setting of the connection that writes, for tests.
func Setting(ctx context.Context, s *Store, name string) (value string) {
	var err error
	switch db := s.db.(type) {
	case *postgres:
		err = db.pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	case *lite:
		err = db.writer.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)
	}
	if err != nil {
		return err.Error()
	}
	return value
}
