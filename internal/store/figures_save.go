package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/review"
)

// SaveFigures implements review.FigureStore.
func (s *Store) SaveFigures(ctx context.Context, node string, hold time.Duration, at review.FigurePlace, b review.FigureBatch, figures []review.Figure) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		p := b.Place
		done := tx.Exec("UPDATE figures_place SET version = version + 1, started_at = ?, item_id = ?, number = ?, act_id = ?, counted_to = ?, held_until = ?"+
			" WHERE one = 1 AND version = ? AND held_by = ?", moment(p.At), p.Last.ItemID, p.Last.Number, p.ActID, moment(p.CountedTo), moment(now.Add(hold)),
			at.Version, tidy(node, maxShort))
		if done.Error != nil {
			return done.Error
		}
		if done.RowsAffected != 1 {
			return review.ErrFiguresLost
		}
		for _, a := range b.Waited {
			if err := tx.Exec("DELETE FROM figures_waiting WHERE item_id = ? AND number = ?", a.ItemID, a.Number).Error; err != nil {
				return err
			}
		}
		for part := range slices.Chunk(b.Waiting, 500) {
			in, args := "", []any(nil)
			for _, a := range part {
				in, args = in+", (?, ?)", append(args, a.ItemID, a.Number)
			}
			if err := tx.Exec("INSERT INTO figures_waiting (item_id, number) VALUES "+strings.TrimPrefix(in, ", "), args...).Error; err != nil {
				return err
			}
		}
		return addFigures(tx, figures)
	})
}

func addFigures(tx *gorm.DB, figures []review.Figure) error {
	for part := range slices.Chunk(figures, 500) {
		var in strings.Builder
		args := make([]any, 0, 8*len(part))
		for i, f := range part {
			if i > 0 {
				in.WriteString(", ")
			}
			in.WriteString("(?, ?, ?, ?, ?, ?, ?, ?)")
			args = append(args, f.CompanyID, string(f.Grain), moment(f.StartsAt), string(f.Measure), f.SystemID, f.Automation, f.Bucket, f.Count)
		}
		if err := tx.Exec("INSERT INTO figures (company_id, grain, starts_at, measure, system_id, automation, bucket, count) VALUES "+in.String()+
			" ON CONFLICT (company_id, grain, starts_at, measure, system_id, automation, bucket) DO UPDATE SET count = figures.count + excluded.count", args...).Error; err != nil {
			return err
		}
	}
	return nil
}

// DropFigures implements review.FigureStore.
func (s *Store) DropFigures(ctx context.Context, before time.Time) error {
	companies, err := s.ids(ctx, "SELECT DISTINCT company_id AS id FROM systems")
	if err != nil {
		return err
	}
	for _, id := range companies {
		hours := "company_id = ? AND grain = 'hour' AND starts_at < ?"
		err := s.db.write(ctx, func(tx *gorm.DB) error {
			return tx.Exec("DELETE FROM figures WHERE "+hours+" AND starts_at <= (SELECT min(starts_at) FROM figures WHERE "+hours+")", id, moment(before), id, moment(before)).Error
		})
		if err != nil {
			return err
		}
	}
	return nil
}
