package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/review"
)

// viewRow is a saved list in the database.
type viewRow struct {
	ID        int64 `gorm:"primaryKey"`
	CompanyID int64
	Owner     string
	Name      string
	Address   string
	Shared    bool
}

func (viewRow) TableName() string { return "saved_views" }

// Views implements review.Store.
func (s *Store) Views(ctx context.Context, companyID int64, owner string) ([]review.View, error) {
	var rows []viewRow
	err := s.db.read(ctx).Where("company_id = ? AND (owner = ? OR shared)", companyID, owner).Order("name, id").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the saved views: %w", err)
	}
	views := make([]review.View, len(rows))
	for i, r := range rows {
		views[i] = review.View{ID: r.ID, Name: r.Name, Address: r.Address, Owner: r.Owner, Shared: r.Shared}
	}
	return views, nil
}

// SaveView implements review.Store.
func (s *Store) SaveView(ctx context.Context, companyID int64, v review.View) error {
	row := viewRow{CompanyID: companyID, Owner: tidy(v.Owner, maxShort), Name: tidy(v.Name, maxShort), Address: tidy(v.Address, maxLong), Shared: v.Shared}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "company_id"}, {Name: "owner"}, {Name: "name"}},
			DoUpdates: clause.AssignmentColumns([]string{"address", "shared"})}).Create(&row).Error
		if err != nil {
			return fmt.Errorf("save the view: %w", err)
		}
		return nil
	})
}

// DeleteView implements review.Store.
func (s *Store) DeleteView(ctx context.Context, companyID, id int64, owner string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Where("company_id = ? AND id = ? AND (? = '' OR owner = ?)", companyID, id, owner, owner).Delete(&viewRow{})
		if done.Error == nil && done.RowsAffected == 0 {
			return review.ErrNotFound
		}
		return done.Error
	})
}
