package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/auth"
)

// tokenRow is an API token in the database.
type tokenRow struct {
	ID           int64 `gorm:"primaryKey"`
	CompanyID    int64
	Name         string
	Prefix       string
	TokenHash    string
	Scopes       string
	PerMinute    int
	CreatedBy    string
	CreatedAt    moment `gorm:"autoCreateTime:false"`
	ExpiresAt    moment
	LastUsedAt   moment
	LastUsedFrom string
	RevokedAt    moment
	RevokedBy    string
}

func (tokenRow) TableName() string { return "api_tokens" }

func (r tokenRow) token() auth.Token {
	t := auth.Token{ID: r.ID, CompanyID: r.CompanyID, Name: r.Name, Prefix: r.Prefix, Hash: r.TokenHash, PerMinute: r.PerMinute, CreatedBy: r.CreatedBy,
		CreatedAt: time.Time(r.CreatedAt), ExpiresAt: time.Time(r.ExpiresAt), LastUsedAt: time.Time(r.LastUsedAt), LastUsedFrom: r.LastUsedFrom,
		RevokedAt: time.Time(r.RevokedAt), RevokedBy: r.RevokedBy}
	for _, scope := range strings.Split(r.Scopes, ",") {
		t.Scopes = append(t.Scopes, auth.Scope(scope))
	}
	return t
}

// AddToken implements auth.Tokens.
func (s *Store) AddToken(ctx context.Context, t auth.Token, e auth.Entry) (auth.Token, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return t, err
	}
	row := tokenRow{CompanyID: t.CompanyID, Name: tidy(t.Name, maxShort), Prefix: t.Prefix, TokenHash: t.Hash, Scopes: auth.ScopesText(t.Scopes),
		PerMinute: t.PerMinute, CreatedBy: tidy(t.CreatedBy, maxShort), CreatedAt: moment(t.CreatedAt), ExpiresAt: moment(t.ExpiresAt)}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("add the token: %w", err)
		}
		e.Object = row.token().Object()
		return appendEntry(tx, e, now)
	})
	return row.token(), err
}

// TokenByHash implements auth.Tokens.
func (s *Store) TokenByHash(ctx context.Context, hash string) (auth.Token, error) {
	var row tokenRow
	err := found(s.db.read(ctx).Where("token_hash = ?", hash).Take(&row).Error)
	return row.token(), err
}

// Tokens implements auth.Tokens.
func (s *Store) Tokens(ctx context.Context, companyID int64) ([]auth.Token, error) {
	var rows []tokenRow
	if err := s.db.read(ctx).Where("company_id = ?", companyID).Order("id DESC").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	list := make([]auth.Token, len(rows))
	for i, r := range rows {
		list[i] = r.token()
	}
	return list, nil
}

// RevokeToken implements auth.Tokens.
func (s *Store) RevokeToken(ctx context.Context, id int64, at time.Time, by string, e auth.Entry) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		var row tokenRow
		if err := found(tx.Where("id = ? AND revoked_at IS NULL", id).Take(&row).Error); err != nil {
			return err
		}
		done := tx.Exec("UPDATE api_tokens SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL", moment(at), tidy(by, maxShort), id)
		if done.Error == nil && done.RowsAffected == 0 {
			return auth.ErrNotFound
		}
		if done.Error != nil {
			return done.Error
		}
		e.Object = row.token().Object()
		return appendEntry(tx, e, now)
	})
}

// TokenUsed implements auth.Tokens.
func (s *Store) TokenUsed(ctx context.Context, id int64, at time.Time, from string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE api_tokens SET last_used_at = ?, last_used_from = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at <= ?)",
			moment(at), tidy(from, maxShort), id, moment(at.Add(-time.Minute))).Error
	})
}
