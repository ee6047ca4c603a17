package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/review"
	"onefold/internal/work"
)

var _ review.ReportStore = (*Store)(nil)

// reportRow is a report in the database, without its file.
type reportRow struct {
	ID        int64 `gorm:"primaryKey"`
	CompanyID int64
	SystemID  string
	Name      string
	State     string
	Version   int64
	MadeBy    string
	MadeAt    moment
	Body      string
	AppliedBy string
	AppliedAt moment
	DoneAt    moment
}

func (reportRow) TableName() string { return "reports" }

func (row reportRow) report() (review.Report, error) {
	r := review.Report{ID: row.ID, CompanyID: row.CompanyID, SystemID: row.SystemID, Name: row.Name, State: review.ReportState(row.State),
		Version: row.Version, By: row.MadeBy, At: time.Time(row.MadeAt), AppliedAt: time.Time(row.AppliedAt), DoneAt: time.Time(row.DoneAt)}
	err := json.Unmarshal([]byte(row.Body), &r.ReportBody)
	if row.AppliedBy != "" {
		err = errors.Join(err, json.Unmarshal([]byte(row.AppliedBy), &r.AppliedBy))
	}
	if err != nil {
		return r, fmt.Errorf("the stored report %d is damaged: %w", row.ID, err)
	}
	return r, nil
}

type reportFileRow struct {
	ReportID int64 `gorm:"primaryKey;autoIncrement:false"`
	Content  []byte
}

func (reportFileRow) TableName() string { return "report_files" }

type reportLineRow struct {
	ReportID int64 `gorm:"primaryKey;autoIncrement:false"`
	Number   int   `gorm:"primaryKey;autoIncrement:false"`
	Kind     string
	Applies  bool
	Body     string
	Result   string
}

func (reportLineRow) TableName() string { return "report_lines" }

// AddReport implements review.ReportStore.
func (s *Store) AddReport(ctx context.Context, r review.Report, content []byte) (review.Report, error) {
	body, err := storedJSON(r.ReportBody)
	if err != nil {
		return r, err
	}
	row := reportRow{CompanyID: r.CompanyID, SystemID: r.SystemID, Name: tidy(r.Name, maxShort), State: string(r.State), Version: r.Version,
		MadeBy: tidy(r.By, maxShort), MadeAt: moment(r.At), Body: body}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return tx.Create(&reportFileRow{row.ID, content}).Error
	})
	r.ID = row.ID
	return r, err
}

// storedJSON is a value as text that every database can store.
func storedJSON(v any) (string, error) {
	text, err := json.Marshal(v) // it escapes NUL and mends what is no UTF-8
	return string(text), err
}

// Report implements review.ReportStore.
func (s *Store) Report(ctx context.Context, companyID, id int64) (review.Report, error) {
	var row reportRow
	err := s.db.read(ctx).Where("id = ? AND company_id = ? AND state <> ?", id, companyID, string(review.ReportRemoved)).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return review.Report{}, review.ErrNotFound
	}
	if err != nil {
		return review.Report{}, fmt.Errorf("read the report: %w", err)
	}
	return row.report()
}

// Reports implements review.ReportStore.
func (s *Store) Reports(ctx context.Context, companyID int64, systemID string, limit int) ([]review.Report, error) {
	q := s.db.read(ctx).Where("company_id = ? AND state <> ?", companyID, string(review.ReportRemoved))
	if systemID != "" {
		q = q.Where("system_id = ?", systemID)
	}
	return reportsOf(q.Order("id DESC").Limit(limit))
}

// ReportsToApply implements review.ReportStore.
func (s *Store) ReportsToApply(ctx context.Context) ([]review.Report, error) {
	return reportsOf(s.db.read(ctx).Where("state = 'applying'").Order("id"))
}

func reportsOf(q *gorm.DB) ([]review.Report, error) {
	var rows []reportRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the reports: %w", err)
	}
	list := make([]review.Report, len(rows))
	for i, row := range rows {
		var err error
		if list[i], err = row.report(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ReportFile implements review.ReportStore.
func (s *Store) ReportFile(ctx context.Context, companyID, id int64) ([]byte, error) {
	if _, err := s.Report(ctx, companyID, id); err != nil {
		return nil, err
	}
	var row reportFileRow
	if err := s.db.read(ctx).Where("report_id = ?", id).Take(&row).Error; err != nil {
		return nil, fmt.Errorf("read the file of report %d: %w", id, err)
	}
	return row.Content, nil
}

// lockReport returns the row under lock if it is as it was seen.
func lockReport(tx *gorm.DB, companyID, id, version int64, state review.ReportState) (reportRow, error) {
	var row reportRow
	err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).
		Where("id = ? AND company_id = ? AND version = ? AND state = ?", id, companyID, version, string(state)).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = review.ErrReportChanged
	}
	return row, err
}

// SaveReport implements review.ReportStore.
func (s *Store) SaveReport(ctx context.Context, r review.Report, lines []review.ReportLine) error {
	body, err := storedJSON(r.ReportBody)
	if err != nil {
		return err
	}
	rows := make([]reportLineRow, len(lines))
	for i, l := range lines {
		text, err := storedJSON(l.LineBody)
		if err != nil {
			return err
		}
		rows[i] = reportLineRow{r.ID, l.Number, string(l.Kind), l.Applies, text, ""}
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		row, err := lockReport(tx, r.CompanyID, r.ID, r.Version, review.ReportOpen)
		if err != nil {
			return err
		}
		row.Body, row.Version = body, row.Version+1
		if err := tx.Select("body", "version").Updates(&row).Error; err != nil {
			return err
		}
		if err := tx.Where("report_id = ?", r.ID).Delete(&reportLineRow{}).Error; err != nil || len(rows) == 0 {
			return err
		}
		return tx.CreateInBatches(rows, 500).Error
	})
}

// MoveReport implements review.ReportStore.
func (s *Store) MoveReport(ctx context.Context, companyID, id, version int64, from, to review.ReportState, by work.Actor) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	actor, err := storedJSON(by)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		row, err := lockReport(tx, companyID, id, version, from)
		if err != nil {
			return err
		}
		row.State, row.Version = string(to), row.Version+1
		switch to {
		case review.ReportApplying:
			row.AppliedBy, row.AppliedAt = actor, moment(now)
		case review.ReportApplied:
			row.DoneAt = moment(now)
		case review.ReportRemoved, review.ReportOpen:
			err = errors.Join(tx.Where("report_id = ?", id).Delete(&reportLineRow{}).Error, tx.Where("report_id = ?", id).Delete(&reportFileRow{}).Error)
		}
		if err != nil {
			return err
		}
		return tx.Select("state", "version", "applied_by", "applied_at", "done_at").Updates(&row).Error
	})
}

// ReportLines implements review.ReportStore.
func (s *Store) ReportLines(ctx context.Context, reportID int64, kind review.LineKind, after, limit int) ([]review.ReportLine, error) {
	q := s.db.read(ctx).Where("report_id = ? AND number > ?", reportID, after)
	if kind != "" {
		q = q.Where("kind = ?", string(kind))
	}
	return linesOf(q.Order("number").Limit(limit))
}

// LinesToApply implements review.ReportStore.
func (s *Store) LinesToApply(ctx context.Context, reportID int64, limit int) ([]review.ReportLine, error) {
	return linesOf(s.db.read(ctx).Where("report_id = ? AND applies = ? AND result = ''", reportID, true).Order("number").Limit(limit))
}

func linesOf(q *gorm.DB) ([]review.ReportLine, error) {
	var rows []reportLineRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the lines of a report: %w", err)
	}
	list := make([]review.ReportLine, len(rows))
	for i, row := range rows {
		list[i] = review.ReportLine{Number: row.Number, Kind: review.LineKind(row.Kind), Applies: row.Applies, Result: row.Result}
		if err := json.Unmarshal([]byte(row.Body), &list[i].LineBody); err != nil {
			return nil, fmt.Errorf("line %d of report %d is damaged: %w", row.Number, row.ReportID, err)
		}
	}
	return list, nil
}

// SetLineResults implements review.ReportStore.
func (s *Store) SetLineResults(ctx context.Context, reportID int64, results map[int]string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		for number, result := range results {
			err := tx.Exec("UPDATE report_lines SET result = ? WHERE report_id = ? AND number = ?", result, reportID, number).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ReportResults implements review.ReportStore.
func (s *Store) ReportResults(ctx context.Context, reportID int64) (counts map[string]int, err error) {
	var rows []struct {
		Result string
		N      int
	}
	err = s.db.read(ctx).Table("report_lines").Select("result, count(*) AS n").Where("report_id = ? AND applies = ?", reportID, true).Group("result").Find(&rows).Error
	counts = map[string]int{}
	for _, r := range rows {
		counts[r.Result] = r.N
	}
	return counts, err
}
