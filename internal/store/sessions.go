package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"onefold/internal/auth"
)

// sessionRow is a session in the database.
type sessionRow struct {
	ID           int64 `gorm:"primaryKey"`
	IDHash       string
	PreviousHash string
	RotatedAt    moment
	Rotate       bool
	UserID       int64
	Method       string
	Passed       bool
	WrongCodes   int
	CreatedAt    moment `gorm:"autoCreateTime:false"`
	SeenAt       moment
	IdleUntil    moment
	ExpiresAt    moment
	EndedAt      moment
	Address      string
	UserAgent    string
	CSRFSecret   string `gorm:"column:csrf_secret"`
}

func (sessionRow) TableName() string { return "sessions" }

func (r sessionRow) session() auth.Session {
	return auth.Session{ID: r.ID, IDHash: r.IDHash, PreviousHash: r.PreviousHash, RotatedAt: time.Time(r.RotatedAt), Rotate: r.Rotate,
		UserID: r.UserID, Method: auth.Method(r.Method), Passed: r.Passed, WrongCodes: r.WrongCodes, CreatedAt: time.Time(r.CreatedAt),
		SeenAt: time.Time(r.SeenAt), IdleUntil: time.Time(r.IdleUntil), ExpiresAt: time.Time(r.ExpiresAt), EndedAt: time.Time(r.EndedAt),
		Address: r.Address, UserAgent: r.UserAgent, CSRFSecret: r.CSRFSecret}
}

// AddSession implements auth.Sessions.
func (s *Store) AddSession(ctx context.Context, n auth.Session) (auth.Session, error) {
	row := sessionRow{IDHash: n.IDHash, UserID: n.UserID, Method: string(n.Method), Passed: n.Passed, CreatedAt: moment(n.CreatedAt), SeenAt: moment(n.SeenAt),
		IdleUntil: moment(n.IdleUntil), ExpiresAt: moment(n.ExpiresAt), Address: tidy(n.Address, maxShort), UserAgent: tidy(n.UserAgent, maxShort),
		CSRFSecret: n.CSRFSecret}
	err := s.db.write(ctx, func(tx *gorm.DB) error { return tx.Create(&row).Error })
	if err != nil {
		return n, fmt.Errorf("add the session: %w", err)
	}
	return row.session(), nil
}

// SessionByHash implements auth.Sessions.
func (s *Store) SessionByHash(ctx context.Context, hash string) (auth.Session, auth.User, error) {
	var row sessionRow
	err := found(s.db.read(ctx).Where("id_hash = ?", hash).Take(&row).Error)
	if errors.Is(err, auth.ErrNotFound) {
		err = found(s.db.read(ctx).Where("previous_hash = ? AND previous_hash <> ''", hash).Take(&row).Error)
	}
	if err != nil {
		return auth.Session{}, auth.User{}, err
	}
	u, err := s.User(ctx, row.UserID)
	return row.session(), u, err
}

// TouchSession implements auth.Sessions.
func (s *Store) TouchSession(ctx context.Context, id int64, seen, idleUntil time.Time) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE sessions SET seen_at = ?, idle_until = ? WHERE id = ? AND ended_at IS NULL AND seen_at < ?",
			moment(seen), moment(idleUntil), id, moment(seen)).Error
	})
}

// RotateSession implements auth.Sessions.
func (s *Store) RotateSession(ctx context.Context, id int64, from, to string, at time.Time, passed bool) (ok bool, err error) {
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE sessions SET previous_hash = id_hash, id_hash = ?, rotated_at = ?, rotate = ?, passed = (passed OR ?)"+
			" WHERE id = ? AND id_hash = ? AND ended_at IS NULL", to, moment(at), false, passed, id, from)
		ok = done.RowsAffected == 1
		return done.Error
	})
	return ok, err
}

// CountWrongCode implements auth.Sessions.
func (s *Store) CountWrongCode(ctx context.Context, id int64) (n int, err error) {
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Raw("UPDATE sessions SET wrong_codes = wrong_codes + 1 WHERE id = ? RETURNING wrong_codes", id).Scan(&n).Error
	})
	return n, err
}

// SessionsOf implements auth.Sessions.
func (s *Store) SessionsOf(ctx context.Context, userID int64, now time.Time) ([]auth.Session, error) {
	var rows []sessionRow
	err := s.db.read(ctx).Where("user_id = ? AND ended_at IS NULL AND idle_until > ? AND expires_at > ?", userID, moment(now), moment(now)).
		Order("seen_at DESC, id DESC").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the sessions: %w", err)
	}
	list := make([]auth.Session, len(rows))
	for i, r := range rows {
		list[i] = r.session()
	}
	return list, nil
}

// EndSession implements auth.Sessions.
func (s *Store) EndSession(ctx context.Context, userID, id int64, at time.Time, e auth.Entry) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE sessions SET ended_at = ? WHERE id = ? AND user_id = ? AND ended_at IS NULL", moment(at), id, userID)
		if done.Error != nil {
			return done.Error
		}
		if done.RowsAffected == 0 {
			return auth.ErrNotFound
		}
		return appendEntry(tx, e, now)
	})
}

// EndSessions implements auth.Sessions.
func (s *Store) EndSessions(ctx context.Context, userID, keep int64, at time.Time, e auth.Entry) (n int, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		if n, err = endSessions(tx, userID, keep, at); err != nil {
			return err
		}
		return appendEntry(tx, e, now)
	})
	return n, err
}

func endSessions(tx *gorm.DB, userID, keep int64, at time.Time) (int, error) {
	done := tx.Exec("UPDATE sessions SET ended_at = ? WHERE user_id = ? AND id <> ? AND ended_at IS NULL", moment(at), userID, keep)
	return int(done.RowsAffected), done.Error
}

// SaveForm implements auth.Sessions.
func (s *Store) SaveForm(ctx context.Context, f auth.SavedForm) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO saved_forms (id_hash, user_id, path, fields, saved_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
			f.IDHash, f.UserID, tidy(f.Path, maxShort), f.Fields, moment(f.SavedAt), moment(f.ExpiresAt)).Error
	})
}

// TakeForm implements auth.Sessions.
func (s *Store) TakeForm(ctx context.Context, idHash string, userID int64, now time.Time) (auth.SavedForm, error) {
	var row struct {
		IDHash, Path, Fields string
		UserID               int64
		SavedAt, ExpiresAt   moment
	}
	err := s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Raw("DELETE FROM saved_forms WHERE id_hash = ? AND user_id = ? AND expires_at > ?"+
			" RETURNING id_hash, user_id, path, fields, saved_at, expires_at", idHash, userID, moment(now)).Scan(&row)
		if done.Error == nil && row.IDHash == "" {
			return auth.ErrNotFound
		}
		return done.Error
	})
	return auth.SavedForm{IDHash: row.IDHash, UserID: row.UserID, Path: row.Path, Fields: row.Fields, SavedAt: time.Time(row.SavedAt),
		ExpiresAt: time.Time(row.ExpiresAt)}, err
}

// SweepSignIns implements auth.Sessions.
func (s *Store) SweepSignIns(ctx context.Context, before time.Time) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		at := moment(before)
		return errors.Join(
			tx.Exec("DELETE FROM sessions WHERE ended_at < ? OR idle_until < ? OR expires_at < ?", at, at, at).Error,
			tx.Exec("DELETE FROM saved_forms WHERE expires_at < ?", at).Error,
			tx.Exec("DELETE FROM login_trips WHERE expires_at < ?", at).Error,
			tx.Exec("DELETE FROM password_links WHERE used_at < ? OR expires_at < ?", at, at).Error,
			tx.Exec("DELETE FROM known_addresses WHERE seen_at < ?", moment(before.AddDate(0, -3, 0))).Error)
	})
}
