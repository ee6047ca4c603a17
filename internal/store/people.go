package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/auth"
)

var _ auth.Store = (*Store)(nil)

// userRow is a person in the database.
type userRow struct {
	ID                int64 `gorm:"primaryKey"`
	CompanyID         int64
	Login             string
	FoldedLogin       string
	Name              string
	Email             string
	Roles             string
	PasswordHash      string
	PasswordChangedAt moment
	MustChange        bool
	DisabledAt        moment
	TOTPSecret        string `gorm:"column:totp_secret"`
	TOTPPending       string `gorm:"column:totp_pending"`
	TOTPStep          int64  `gorm:"column:totp_step"`
	OIDCIssuer        string `gorm:"column:oidc_issuer"`
	OIDCSubject       string `gorm:"column:oidc_subject"`
	CreatedAt         moment `gorm:"autoCreateTime:false"`
	LastSignInAt      moment
}

func (userRow) TableName() string { return "users" }

func newUserRow(u auth.User) userRow {
	return userRow{ID: u.ID, CompanyID: u.CompanyID, Login: tidy(u.Login, maxShort), FoldedLogin: auth.FoldLogin(u.Login), Name: tidy(u.Name, maxShort),
		Email: tidy(u.Email, maxShort), Roles: auth.RolesText(u.Roles), PasswordHash: u.PasswordHash, PasswordChangedAt: moment(u.PasswordChangedAt), MustChange: u.MustChange,
		DisabledAt: moment(u.DisabledAt), TOTPSecret: u.TOTPSecret, TOTPPending: u.TOTPPending, TOTPStep: u.TOTPStep, OIDCIssuer: u.OIDCIssuer,
		OIDCSubject: u.OIDCSubject, CreatedAt: moment(u.CreatedAt), LastSignInAt: moment(u.LastSignInAt)}
}

func (r userRow) user() auth.User {
	roles, _ := auth.ParseRoles(r.Roles) // a role of a newer version gives no right here
	return auth.User{ID: r.ID, CompanyID: r.CompanyID, Login: r.Login, Name: r.Name, Email: r.Email, Roles: roles, PasswordHash: r.PasswordHash,
		PasswordChangedAt: time.Time(r.PasswordChangedAt), MustChange: r.MustChange, DisabledAt: time.Time(r.DisabledAt), TOTPSecret: r.TOTPSecret,
		TOTPPending: r.TOTPPending, TOTPStep: r.TOTPStep, OIDCIssuer: r.OIDCIssuer, OIDCSubject: r.OIDCSubject,
		CreatedAt: time.Time(r.CreatedAt), LastSignInAt: time.Time(r.LastSignInAt)}
}

// AddUser implements auth.People.
func (s *Store) AddUser(ctx context.Context, u auth.User, first bool, c auth.Change) (auth.User, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return u, err
	}
	row := newUserRow(u)
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		if err := lockPeople(tx); err != nil {
			return err
		}
		var n int64
		if err := tx.Model(&userRow{}).Limit(1).Count(&n).Error; err != nil {
			return fmt.Errorf("count the persons: %w", err)
		}
		if first && n > 0 {
			return auth.ErrSetUpDone
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		if c.NewLink != nil {
			c.NewLink.UserID = row.ID
		}
		if c.Entry.Object == "" {
			c.Entry.Object = row.user().Object()
		}
		return carryOut(tx, row.ID, c, now)
	})
	return row.user(), loginTaken(err)
}

// lockPeople lets one transaction at a time add a first person or take an admin's rights.
func lockPeople(tx *gorm.DB) error {
	var one int
	err := tx.Table("installation").Clauses(clause.Locking{Strength: "UPDATE"}).Select("one").Take(&one).Error
	if err != nil {
		return fmt.Errorf("read the installation: %w", err)
	}
	return nil
}

// loginTaken says it in the words of auth: users_login and users_oidc are the only unique names of a person.
func loginTaken(err error) error {
	var taken *conflict
	if errors.As(err, &taken) {
		return auth.ErrLoginTaken
	}
	return err
}

// ChangeUser implements auth.People.
func (s *Store) ChangeUser(ctx context.Context, id int64, change func(*auth.User) (auth.Change, error)) (auth.User, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return auth.User{}, err
	}
	var is auth.User
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		var row userRow
		if err := found(tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id).Take(&row).Error); err != nil {
			return err
		}
		was := row.user()
		is = was
		c, err := change(&is)
		if err != nil {
			return err
		}
		row = newUserRow(is)
		if err := tx.Select("*").Omit("id", "created_at", "last_sign_in_at").Updates(&row).Error; err != nil {
			return err
		}
		if was.CanAdminister() && !is.CanAdminister() {
			if err := someAdmin(tx, is.CompanyID); err != nil {
				return err
			}
		}
		return carryOut(tx, id, c, now)
	})
	return is, loginTaken(err)
}

// someAdmin returns ErrLastAdmin if nobody can administer any more. Of two admins who take the rights from each other at
// the same time, the second one waits here and sees what the first did.
func someAdmin(tx *gorm.DB, companyID int64) error {
	if err := lockPeople(tx); err != nil {
		return err
	}
	var rows []userRow
	if err := tx.Where("company_id = ? AND disabled_at IS NULL", companyID).Find(&rows).Error; err != nil {
		return fmt.Errorf("read the persons: %w", err)
	}
	for _, r := range rows {
		if r.user().CanAdminister() {
			return nil
		}
	}
	return auth.ErrLastAdmin
}

// carryOut does what a change asks for besides the person's own row.
func carryOut(tx *gorm.DB, userID int64, c auth.Change, now time.Time) error {
	if c.UseLink != "" {
		done := tx.Exec("UPDATE password_links SET used_at = ? WHERE token_hash = ? AND user_id = ? AND used_at IS NULL AND expires_at > ?",
			moment(now), c.UseLink, userID, moment(now))
		if done.Error != nil || done.RowsAffected != 1 {
			return errors.Join(done.Error, auth.ErrLinkGone)
		}
	}
	if c.SpendCode != "" {
		done := tx.Exec("UPDATE recovery_codes SET used_at = ? WHERE user_id = ? AND code_hash = ? AND used_at IS NULL", moment(now), userID, c.SpendCode)
		if done.Error != nil || done.RowsAffected != 1 {
			return errors.Join(done.Error, auth.ErrWrongCode)
		}
	}
	var errs []error
	if l := c.NewLink; l != nil {
		errs = append(errs,
			tx.Exec("UPDATE password_links SET used_at = ? WHERE user_id = ? AND used_at IS NULL", moment(now), userID).Error,
			tx.Exec("INSERT INTO password_links (token_hash, user_id, kind, created_by, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
				l.TokenHash, userID, string(l.Kind), tidy(l.CreatedBy, maxShort), moment(l.CreatedAt), moment(l.ExpiresAt)).Error)
	}
	if c.NewCodes != nil {
		errs = append(errs, tx.Exec("DELETE FROM recovery_codes WHERE user_id = ?", userID).Error)
		for _, hash := range c.NewCodes {
			errs = append(errs, tx.Exec("INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)", userID, hash).Error)
		}
	}
	if c.EndSessions {
		_, err := endSessions(tx, userID, c.KeepSession, now)
		errs = append(errs, err)
	}
	if c.Rotate {
		errs = append(errs, tx.Exec("UPDATE sessions SET rotate = ? WHERE user_id = ? AND ended_at IS NULL", true, userID).Error)
	}
	if c.Entry.What != "" {
		errs = append(errs, appendEntry(tx, c.Entry, now))
	}
	return errors.Join(errs...)
}

// SpendStep implements auth.People.
func (s *Store) SpendStep(ctx context.Context, userID, step int64) (fresh bool, err error) {
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE users SET totp_step = ? WHERE id = ? AND totp_step < ?", step, userID, step)
		fresh = done.RowsAffected == 1
		return done.Error
	})
	return fresh, err
}

// SignedIn implements auth.People.
func (s *Store) SignedIn(ctx context.Context, userID int64, at time.Time, e auth.Entry) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return errors.Join(
			tx.Exec("UPDATE users SET last_sign_in_at = ? WHERE id = ?", moment(at), userID).Error,
			tx.Exec("INSERT INTO known_addresses (user_id, address, seen_at) VALUES (?, ?, ?) ON CONFLICT (user_id, address) DO UPDATE SET seen_at = excluded.seen_at",
				userID, tidy(e.From.Address, maxShort), moment(at)).Error,
			appendEntry(tx, e, now))
	})
}

// found turns gorm's "no row" into auth's, and nothing else.
func found(err error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return auth.ErrNotFound
	}
	return err
}

func (s *Store) userWhere(ctx context.Context, where string, args ...any) (auth.User, error) {
	var row userRow
	if err := found(s.db.read(ctx).Where(where, args...).Take(&row).Error); err != nil {
		return auth.User{}, err
	}
	return row.user(), nil
}

// User implements auth.People.
func (s *Store) User(ctx context.Context, id int64) (auth.User, error) {
	return s.userWhere(ctx, "id = ?", id)
}

// UserByLogin implements auth.People.
func (s *Store) UserByLogin(ctx context.Context, companyID int64, folded string) (auth.User, error) {
	if strings.ContainsRune(folded, 0) {
		return auth.User{}, auth.ErrNotFound
	}
	return s.userWhere(ctx, "company_id = ? AND folded_login = ?", companyID, folded)
}

// UserBySubject implements auth.People.
func (s *Store) UserBySubject(ctx context.Context, companyID int64, issuer, subject string) (auth.User, error) {
	return s.userWhere(ctx, "company_id = ? AND oidc_issuer = ? AND oidc_subject = ? AND oidc_subject <> ''", companyID, issuer, subject)
}

// Users implements auth.People.
func (s *Store) Users(ctx context.Context, companyID int64) ([]auth.User, error) {
	var rows []userRow
	if err := s.db.read(ctx).Where("company_id = ?", companyID).Order("folded_login").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the persons: %w", err)
	}
	list := make([]auth.User, len(rows))
	for i, r := range rows {
		list[i] = r.user()
	}
	return list, nil
}

// AnyUser implements auth.People.
func (s *Store) AnyUser(ctx context.Context) (there bool, err error) {
	err = s.row(ctx, "SELECT EXISTS (SELECT 1 FROM users)", nil, &there)
	return there, err
}

// Link implements auth.People.
func (s *Store) Link(ctx context.Context, tokenHash string) (l auth.Link, err error) {
	var kind string
	there, err := s.maybeRow(ctx, "SELECT token_hash, user_id, kind, created_by, created_at, expires_at, used_at FROM password_links WHERE token_hash = ?1",
		[]any{tokenHash}, &l.TokenHash, &l.UserID, &kind, &l.CreatedBy, stamp{&l.CreatedAt}, stamp{&l.ExpiresAt}, stamp{&l.UsedAt})
	l.Kind = auth.LinkKind(kind)
	if err == nil && !there {
		err = auth.ErrNotFound
	}
	return l, err
}

// CodesLeft implements auth.People.
func (s *Store) CodesLeft(ctx context.Context, userID int64) (n int, err error) {
	err = s.row(ctx, "SELECT count(*) FROM recovery_codes WHERE user_id = ?1 AND used_at IS NULL", []any{userID}, &n)
	return n, err
}

// KnownAddress implements auth.People.
func (s *Store) KnownAddress(ctx context.Context, userID int64, address string) (known bool, err error) {
	err = s.row(ctx, "SELECT EXISTS (SELECT 1 FROM known_addresses WHERE user_id = ?1 AND address = ?2)", []any{userID, tidy(address, maxShort)}, &known)
	return known, err
}

// SignInSettings implements auth.People.
func (s *Store) SignInSettings(ctx context.Context, companyID int64) (set auth.SignInSettings, err error) {
	_, err = s.maybeRow(ctx, "SELECT require_second_step FROM sign_in_settings WHERE company_id = ?1", []any{companyID}, &set.RequireSecondStep)
	return set, err
}

// SetSignInSettings implements auth.People.
func (s *Store) SetSignInSettings(ctx context.Context, companyID int64, set auth.SignInSettings, e auth.Entry) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return errors.Join(tx.Exec("INSERT INTO sign_in_settings (company_id, require_second_step) VALUES (?, ?)"+
			" ON CONFLICT (company_id) DO UPDATE SET require_second_step = excluded.require_second_step", companyID, set.RequireSecondStep).Error,
			appendEntry(tx, e, now))
	})
}
