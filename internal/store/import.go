package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/automation"
	"onefold/internal/work"
)

var _ automation.ImportStore = (*Store)(nil)

// importRow is an import in the database, but for who holds it.
type importRow struct {
	ID         int64 `gorm:"primaryKey"`
	CompanyID  int64
	SystemID   string
	Automation string
	Name       string
	Hash       string
	Size       int64
	State      string
	Version    int64
	MadeBy     string
	MadeAt     moment
	BeganBy    string
	BeganAt    moment
	DoneAt     moment
	CheckedAt  moment
	RowCount   int
	RowRead    int
	Promised   int
	Todo       int
	New        int
	Known      int
	Conflict   int
	Refused    int
	Body       string
}

func (importRow) TableName() string { return "imports" }

func newImportRow(i automation.Import) (importRow, error) {
	body, err := storedJSON(i.ImportBody)
	if err != nil {
		return importRow{}, err
	}
	by, err := storedActor(i.By)
	if err != nil {
		return importRow{}, err
	}
	begun, err := storedActor(i.BegunBy)
	return importRow{ID: i.ID, CompanyID: i.CompanyID, SystemID: i.SystemID, Automation: i.Automation, Name: tidy(i.Name, maxShort), Hash: i.Hash, Size: i.Size,
		State: string(i.State), Version: i.Version, MadeBy: by, MadeAt: moment(i.At), BeganBy: begun, BeganAt: moment(i.BegunAt), DoneAt: moment(i.DoneAt),
		CheckedAt: moment(i.CheckedAt), RowCount: i.Rows, RowRead: i.Read, Promised: i.Promised, Todo: i.Counts.Todo, New: i.Counts.New, Known: i.Counts.Known,
		Conflict: i.Counts.Conflict, Refused: i.Counts.Refused, Body: body}, err
}

func storedActor(a work.Actor) (string, error) {
	if a.Kind == "" {
		return "", nil
	}
	return storedJSON(a)
}

func (r importRow) item() (automation.Import, error) {
	i := automation.Import{ID: r.ID, CompanyID: r.CompanyID, SystemID: r.SystemID, Automation: r.Automation, Name: r.Name, Hash: r.Hash, Size: r.Size,
		State: automation.ImportState(r.State), Version: r.Version, At: time.Time(r.MadeAt), BegunAt: time.Time(r.BeganAt), DoneAt: time.Time(r.DoneAt),
		CheckedAt: time.Time(r.CheckedAt), Rows: r.RowCount, Read: r.RowRead, Promised: r.Promised,
		Counts: automation.ImportCounts{Todo: r.Todo, New: r.New, Known: r.Known, Conflict: r.Conflict, Refused: r.Refused}}
	err := json.Unmarshal([]byte(r.Body), &i.ImportBody)
	for _, a := range []struct {
		text string
		to   *work.Actor
	}{{r.MadeBy, &i.By}, {r.BeganBy, &i.BegunBy}} {
		if a.text != "" {
			err = errors.Join(err, json.Unmarshal([]byte(a.text), a.to))
		}
	}
	if err != nil {
		return i, fmt.Errorf("the stored import %d is damaged: %w", r.ID, err)
	}
	return i, nil
}

type importChunkRow struct {
	ImportID int64 `gorm:"primaryKey;autoIncrement:false"`
	N        int   `gorm:"primaryKey;autoIncrement:false"`
	Content  []byte
}

func (importChunkRow) TableName() string { return "import_chunks" }

// AddImport implements automation.ImportStore.
func (s *Store) AddImport(ctx context.Context, i automation.Import) (automation.Import, error) {
	i.Version = 1
	row, err := newImportRow(i)
	if err != nil {
		return i, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error { return tx.Create(&row).Error })
	i.ID = row.ID
	return i, err
}

// AddImportChunk implements automation.ImportStore.
func (s *Store) AddImportChunk(ctx context.Context, id int64, n int, content []byte) error {
	return s.db.write(ctx, func(tx *gorm.DB) error { return tx.Create(&importChunkRow{id, n, content}).Error })
}

// ImportChunk implements automation.ImportStore.
func (s *Store) ImportChunk(ctx context.Context, id int64, n int) ([]byte, error) {
	var row importChunkRow
	err := s.db.read(ctx).Where("import_id = ? AND n = ?", id, n).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the file of import %d: %w", id, err)
	}
	return row.Content, nil
}

// lockImport returns the import under lock.
func lockImport(tx *gorm.DB, where string, args ...any) (automation.Import, error) {
	var row importRow
	err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where(where, args...).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return automation.Import{}, automation.ErrImportUnknown
	}
	if err != nil {
		return automation.Import{}, err
	}
	return row.item()
}

// saveImport writes an import that is under lock, and takes away what it needs no more.
func saveImport(tx *gorm.DB, i *automation.Import) error {
	i.Version++
	row, err := newImportRow(*i)
	if err != nil {
		return err
	}
	if err := tx.Model(&row).Select("*").Omit("id").Updates(&row).Error; err != nil {
		return err
	}
	if i.State == automation.ImportUploading || i.State == automation.ImportChecking || i.State == automation.ImportReady {
		return nil
	}
	if err := tx.Where("import_id = ?", i.ID).Delete(&importChunkRow{}).Error; err != nil || i.State != automation.ImportRemoved {
		return err
	}
	return tx.Where("import_id = ?", i.ID).Delete(&importLineRow{}).Error
}

// UploadedImport implements automation.ImportStore.
func (s *Store) UploadedImport(ctx context.Context, id int64, hash string, size int64) (other int64, err error) {
	for try := 1; ; try++ {
		other, err = s.uploadedImport(ctx, id, hash, size)
		var c *conflict
		if errors.As(err, &c) && try < tries { // the same file, sent at the same moment
			continue
		}
		return other, err
	}
}

func (s *Store) uploadedImport(ctx context.Context, id int64, hash string, size int64) (other int64, err error) {
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		i, err := lockImport(tx, "id = ? AND state = 'uploading'", id)
		if err != nil {
			return err
		}
		var rows []importRow
		if err := tx.Where("company_id = ? AND hash = ? AND state IN ('checking', 'ready', 'importing')", i.CompanyID, hash).Limit(1).Find(&rows).Error; err != nil {
			return err
		}
		i.Hash, i.Size, i.State = hash, size, automation.ImportChecking
		if len(rows) == 1 {
			other, i.State = rows[0].ID, automation.ImportRemoved
		}
		return saveImport(tx, &i)
	})
	return other, err
}

// Import implements automation.ImportStore.
func (s *Store) Import(ctx context.Context, companyID, id int64) (automation.Import, error) {
	list, err := s.imports(s.db.read(ctx).Where("company_id = ? AND id = ?", companyID, id))
	if err == nil && len(list) == 0 {
		return automation.Import{}, automation.ErrImportUnknown
	}
	if err != nil {
		return automation.Import{}, err
	}
	return list[0], nil
}

// Imports implements automation.ImportStore.
func (s *Store) Imports(ctx context.Context, companyID, before int64, limit int) ([]automation.Import, error) {
	q := s.db.read(ctx).Where("company_id = ? AND state NOT IN ('removed', 'uploading')", companyID)
	if before > 0 {
		q = q.Where("id < ?", before)
	}
	return s.imports(q.Order("id DESC").Limit(limit))
}

func (s *Store) imports(q *gorm.DB) ([]automation.Import, error) {
	var rows []importRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the imports: %w", err)
	}
	list := make([]automation.Import, len(rows))
	for k, row := range rows {
		var err error
		if list[k], err = row.item(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// EarlierImport implements automation.ImportStore.
func (s *Store) EarlierImport(ctx context.Context, companyID, id int64, hash string) (int64, error) {
	var earlier int64
	_, err := s.maybeRow(ctx, "SELECT id FROM imports WHERE company_id = ?1 AND hash = ?2 AND id < ?3 AND state IN ('done', 'holding', 'stopped') ORDER BY id DESC LIMIT 1",
		[]any{companyID, hash, id}, &earlier)
	return earlier, err
}

// ChangeImport implements automation.ImportStore.
func (s *Store) ChangeImport(ctx context.Context, companyID, id int64, change func(*automation.Import) error) (i automation.Import, err error) {
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		if i, err = lockImport(tx, "id = ? AND company_id = ?", id, companyID); err != nil {
			return err
		}
		if err := change(&i); err != nil {
			return err
		}
		return saveImport(tx, &i)
	})
	return i, err
}

type importShapeRow struct {
	CompanyID int64  `gorm:"primaryKey;autoIncrement:false"`
	Shape     string `gorm:"primaryKey"`
	Body      string
}

func (importShapeRow) TableName() string { return "import_shapes" }

// ImportShape implements automation.ImportStore.
func (s *Store) ImportShape(ctx context.Context, companyID int64, shape string) (settings automation.ImportSettings, found bool, err error) {
	var row importShapeRow
	err = s.db.read(ctx).Where("company_id = ? AND shape = ?", companyID, shape).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return settings, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(row.Body), &settings)
	}
	return settings, err == nil, err
}

// SaveImportShape implements automation.ImportStore.
func (s *Store) SaveImportShape(ctx context.Context, companyID int64, shape string, settings automation.ImportSettings) error {
	body, err := storedJSON(settings)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&importShapeRow{companyID, shape, body}).Error
	})
}

// TakenReferences implements automation.ReferenceStore.
func (s *Store) TakenReferences(ctx context.Context, systemID, step string, references []string) (taken []string, err error) {
	const slice = 500
	for start := 0; start < len(references); start += slice {
		args, places, wanted := []any{systemID, step}, []string(nil), map[string]bool{}
		for _, ref := range references[start:min(start+slice, len(references))] {
			wanted[ref] = true
			args = append(args, lowerASCII(ref))
			places = append(places, "?"+strconv.Itoa(len(args)))
		}
		found, err := s.texts(ctx, "SELECT reference FROM item_keys WHERE lower(reference) IN ("+strings.Join(places, ", ")+") AND system_id = ?1 AND step = ?2", args...)
		if err != nil {
			return nil, fmt.Errorf("look for references: %w", err)
		}
		for _, ref := range found {
			if wanted[ref] {
				taken = append(taken, ref)
			}
		}
	}
	return taken, nil
}
