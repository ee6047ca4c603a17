package automation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// Import is one file that somebody brought in: uploaded, checked, shown, and then recorded row by row in the background.
type Import struct {
	ID         int64
	CompanyID  int64
	SystemID   string
	Automation string
	Name       string // of the file
	Hash       string // of its content; empty until all of it is here
	Size       int64  // bytes
	State      ImportState
	Version    int64
	By         work.Actor // who uploaded it
	At         time.Time
	BegunBy    work.Actor // who pressed the button
	BegunAt    time.Time
	DoneAt     time.Time
	CheckedAt  time.Time
	Rows       int // data rows, without empty ones; 0: not known yet
	Read       int // of these, checked so far
	Promised   int // how many invoices the button named
	Counts     ImportCounts
	ImportBody
}

// ImportCounts are how many rows came out how. They add up to the rows that were checked.
type ImportCounts struct{ Todo, New, Known, Conflict, Refused int }

// ImportBody is what is kept of an import beside its columns.
type ImportBody struct {
	Asked    ImportSettings // as somebody chose; what is empty is found out
	Found    ImportFound
	Problem  string      // why the file cannot be imported as it is read; empty: it can
	Sums     []ImportSum // of the rows to import, and once begun of those imported
	HeldBy   work.Actor  // who stopped everything of it
	HeldNote string
	Stopped  int // how many invoices were stopped
	Earlier  int64
}

// ImportSettings say how a file is to be read. What is empty is found out.
type ImportSettings struct {
	Encoding  string
	Delimiter string // one character
	Decimal   string // "." or ","
	DateOrder DateOrder
	Heading   int // the line of the heading
	Sheet     string
	Columns   map[string]int // place of each column, from 1, by its name; nil: by the headings
}

// ImportFound is how a file was read.
type ImportFound struct {
	Format     ImportFormat
	Excel      bool
	Sheets     []string // of a workbook
	Headings   []string
	Samples    [][]string     // the first rows
	Columns    map[string]int // that were taken, or the best guess
	Ignored    []string       // headings that are not used
	Remembered bool           // the settings are those of the last file with such headings
}

// ImportSum adds up rows of one currency.
type ImportSum struct {
	Currency string
	Rows     int
	Amount   currency.Amount
}

// ImportState says where an import stands.
type ImportState string

const (
	ImportUploading ImportState = "uploading"
	ImportChecking  ImportState = "checking"
	ImportReady     ImportState = "ready" // shown, nothing recorded; with a Problem it cannot begin
	ImportRunning   ImportState = "importing"
	ImportDone      ImportState = "done"
	ImportHolding   ImportState = "holding" // it was the wrong file: what came from it is being stopped
	ImportStopped   ImportState = "stopped"
	ImportRemoved   ImportState = "removed"
)

// Busy reports whether a server is at it.
func (s ImportState) Busy() bool {
	return s == ImportChecking || s == ImportRunning || s == ImportHolding
}

// ImportOutcome is what came of a row.
type ImportOutcome string

const (
	RowTodo     ImportOutcome = "todo"     // will be recorded
	RowNew      ImportOutcome = "new"      // was recorded by this import
	RowKnown    ImportOutcome = "known"    // is on record
	RowConflict ImportOutcome = "conflict" // is on record with another content
	RowRefused  ImportOutcome = "refused"  // cannot be issued
)

// ImportOutcomes are all outcomes, in the order of pages.
var ImportOutcomes = []ImportOutcome{RowTodo, RowNew, RowKnown, RowConflict, RowRefused}

// Of is the count of an outcome.
func (c *ImportCounts) Of(o ImportOutcome) *int {
	switch o {
	case RowTodo:
		return &c.Todo
	case RowNew:
		return &c.New
	case RowKnown:
		return &c.Known
	case RowConflict:
		return &c.Conflict
	default:
		return &c.Refused
	}
}

// ImportRow is one row of a file.
type ImportRow struct {
	N        int // from 1
	Line     int // of the file
	Outcome  ImportOutcome
	Key      string
	Customer string
	Currency string
	Amount   string
	Detail   string // why not, in words; of a known row the status of the invoice, or "line 7"; else what looks odd
	Who      string // of a known row: who resolved or closed it
	ItemID   int64  // of a known or conflicting row, else 0
	Content  string // what is to be recorded, as JSON; empty once it is
}

var (
	// ErrImportForbidden says that whoever asks may not bring invoices in.
	ErrImportForbidden = errors.New("imports need the operator or admin role")
	// ErrImportUnknown says that there is no such import.
	ErrImportUnknown = errors.New("there is no such import")
	// ErrImportChanged says that the import is not as it was seen.
	ErrImportChanged = errors.New("the import has changed")
	// ErrImportLost says that another server has taken the work on.
	ErrImportLost = errors.New("another server works on this import")
)

// ImportStore is what imports need from the database.
type ImportStore interface {
	IntakeStore
	Now(ctx context.Context) (time.Time, error)
	Acts(ctx context.Context, itemID int64, limit int) ([]work.Act, error)
	// TakenReferences returns those of the references that items of the system's step carry.
	TakenReferences(ctx context.Context, systemID, step string, references []string) ([]string, error)

	AddImport(ctx context.Context, im Import) (Import, error)
	AddImportChunk(ctx context.Context, id int64, n int, content []byte) error
	// ImportChunk returns a piece of the file; nil if there is none.
	ImportChunk(ctx context.Context, id int64, n int) ([]byte, error)
	// UploadedImport lets the check begin. If the same file is under way, this one is removed and the other's id returned.
	UploadedImport(ctx context.Context, id int64, hash string, size int64) (int64, error)
	Import(ctx context.Context, companyID, id int64) (Import, error) // ErrImportUnknown
	// Imports returns those that are shown, newest first, with ids below before; 0: from the newest.
	Imports(ctx context.Context, companyID, before int64, limit int) ([]Import, error)
	// EarlierImport returns the id of the last import before this one that recorded the same file; 0: none.
	EarlierImport(ctx context.Context, companyID, id int64, hash string) (int64, error)
	ImportRows(ctx context.Context, id int64, q ImportRowQuery) ([]ImportRow, error)
	// ChangeImport changes an import under lock; if change returns an error nothing is written. A removed one loses its
	// file and its rows, one that is checked or running its file.
	ChangeImport(ctx context.Context, companyID, id int64, change func(*Import) error) (Import, error)

	// OpenImports returns the ids of imports that a server must work on, and removes those that were abandoned: uploads
	// begun before the first time and files shown and not begun since the second.
	OpenImports(ctx context.Context, uploading, ready time.Time) ([]int64, error)
	// HoldImport takes an open import for a while, by the database's clock.
	HoldImport(ctx context.Context, id int64, node string, hold time.Duration) (im Import, held bool, err error)
	ReleaseImport(ctx context.Context, id int64, node string) error
	// WorkImport writes one step of the work in one transaction and holds the import on; ErrImportLost if it is not held.
	WorkImport(ctx context.Context, id int64, node string, hold time.Duration, w ImportWork) (Import, error)

	// ImportShape returns the settings that were used for the shape; found is false if there are none.
	ImportShape(ctx context.Context, companyID int64, shape string) (s ImportSettings, found bool, err error)
	SaveImportShape(ctx context.Context, companyID int64, shape string, s ImportSettings) error
}

// ImportRowQuery chooses rows of an import, in order.
type ImportRowQuery struct {
	Outcome ImportOutcome // empty: all
	After   int           // the number of the last row seen
	Limit   int
	Content bool // with what is to be recorded
}

// ImportWork is one step of the work on an import.
type ImportWork struct {
	Clear  bool        // delete the rows first
	Add    []ImportRow // rows that were checked
	Settle []ImportRow // rows that were to do, with what became of them
	Change func(*Import) error
}

// Imports brings files in for people. Uploads are kept in the database, so that any server may go on with them.
type Imports struct {
	Store     ImportStore
	CompanyID int64
	Zone      *time.Location // the firm's; nil: UTC
	TempDir   string         // for the file while it is read; empty: the system's
}

func mayImport(by work.Actor) error {
	if !by.Can(work.Operator, work.Admin) {
		return ErrImportForbidden
	}
	return nil
}

const chunk = 1 << 20

// Upload keeps a file to be checked. A *FileError says why it is not taken. If the same file is under way already, that
// import is returned and isNew is false.
func (im Imports) Upload(ctx context.Context, by work.Actor, system, automation, name string, r io.Reader) (_ Import, isNew bool, err error) {
	if err := mayImport(by); err != nil {
		return Import{}, false, err
	}
	sys, err := im.Store.System(ctx, system)
	if err != nil || sys.CompanyID != im.CompanyID {
		return Import{}, false, fileErrorf(0, "choose the accounting system")
	}
	if err := (Intake{Store: im.Store, Zone: im.Zone}).mayImport(ctx, system, automation); err != nil {
		return Import{}, false, err
	}
	now, err := im.Store.Now(ctx)
	if err != nil {
		return Import{}, false, err
	}
	added, err := im.Store.AddImport(ctx, Import{CompanyID: im.CompanyID, SystemID: system, Automation: automation, Name: name, State: ImportUploading, By: by, At: now})
	if err != nil {
		return Import{}, false, err
	}
	id := added.ID
	defer func() {
		if err != nil {
			_, rerr := im.Store.ChangeImport(context.WithoutCancel(ctx), im.CompanyID, id, func(i *Import) error { i.State = ImportRemoved; return nil })
			err = errors.Join(err, rerr)
		}
	}()
	hash, size := sha256.New(), int64(0)
	for n, piece := 0, make([]byte, chunk); ; n++ {
		got, err := io.ReadFull(r, piece)
		if got > 0 {
			hash.Write(piece[:got])
			if size += int64(got); size > maxUpload {
				return Import{}, false, fileErrorf(0, "the file is larger than %d MB: split it", maxUpload>>20)
			}
			if err := im.Store.AddImportChunk(ctx, id, n, piece[:got]); err != nil {
				return Import{}, false, err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return Import{}, false, fmt.Errorf("read the upload: %w", err)
		}
	}
	if size == 0 {
		return Import{}, false, fileErrorf(0, "the file is empty")
	}
	other, err := im.Store.UploadedImport(ctx, id, hex.EncodeToString(hash.Sum(nil)), size)
	if err != nil {
		return Import{}, false, err
	}
	if other != 0 {
		id = other // and nothing is left to be removed
	}
	shown, err := im.Store.Import(ctx, im.CompanyID, id)
	return shown, other == 0, err
}

// Import returns one import; ErrImportUnknown.
func (im Imports) Import(ctx context.Context, by work.Actor, id int64) (Import, error) {
	if err := mayImport(by); err != nil {
		return Import{}, err
	}
	i, err := im.Store.Import(ctx, im.CompanyID, id)
	if err == nil && (i.State == ImportRemoved || i.State == ImportUploading) {
		err = ErrImportUnknown
	}
	return i, err
}

// List returns imports, newest first, with ids below before; 0: from the newest.
func (im Imports) List(ctx context.Context, by work.Actor, before int64, limit int) ([]Import, error) {
	if err := mayImport(by); err != nil {
		return nil, err
	}
	return im.Store.Imports(ctx, im.CompanyID, before, limit)
}

// Rows returns rows of an import in the order of the file.
func (im Imports) Rows(ctx context.Context, by work.Actor, id int64, q ImportRowQuery) ([]ImportRow, error) {
	if _, err := im.Import(ctx, by, id); err != nil {
		return nil, err
	}
	q.Content = false
	return im.Store.ImportRows(ctx, id, q)
}

// change changes an import that is as it was seen.
func (im Imports) change(ctx context.Context, by work.Actor, id, version int64, from []ImportState, f func(i *Import, now time.Time) error) (Import, error) {
	if err := mayImport(by); err != nil {
		return Import{}, err
	}
	now, err := im.Store.Now(ctx)
	if err != nil {
		return Import{}, err
	}
	return im.Store.ChangeImport(ctx, im.CompanyID, id, func(i *Import) error {
		if version != 0 && i.Version != version || !slices.Contains(from, i.State) {
			return ErrImportChanged
		}
		return f(i, now)
	})
}

// Read has the file read again, as the settings say. Version 0 is any: to check again as before.
func (im Imports) Read(ctx context.Context, by work.Actor, id, version int64, s ImportSettings) (Import, error) {
	return im.change(ctx, by, id, version, []ImportState{ImportReady}, func(i *Import, _ time.Time) error {
		i.Asked, i.State, i.Read, i.Rows, i.Counts, i.Problem, i.Sums = s, ImportChecking, 0, 0, ImportCounts{}, "", nil
		return nil
	})
}

// MayBegin returns *Unproven if an admin must agree before the import may begin.
func (im Imports) MayBegin(ctx context.Context, i Import) error {
	return Intake{Store: im.Store, Zone: im.Zone}.mayBeginImport(ctx, i.SystemID, i.Automation)
}

// Start begins to record the rows that are new, and remembers how the file was read for others with the same headings.
// It changes nothing and returns *Unproven if an admin must agree first.
func (im Imports) Start(ctx context.Context, by work.Actor, id, version int64) (Import, error) {
	seen, err := im.Import(ctx, by, id)
	if err != nil {
		return seen, err
	}
	if seen.State == ImportReady && seen.Problem == "" && seen.Counts.Todo > 0 {
		if err := im.MayBegin(ctx, seen); err != nil {
			return seen, err
		}
	}
	i, err := im.change(ctx, by, id, version, []ImportState{ImportReady}, func(i *Import, now time.Time) error {
		if i.Problem != "" || i.Counts.Todo == 0 {
			return ErrImportChanged
		}
		// What is added up from here on is what was recorded.
		i.State, i.BegunBy, i.BegunAt, i.Promised, i.Sums = ImportRunning, by, now, i.Counts.Todo, nil
		return nil
	})
	if err != nil {
		return i, err
	}
	chosen, shape := i.Asked, shapeOf(i.Found.Headings)
	if chosen.Columns == nil && chosen.Decimal == "" && chosen.DateOrder == "" {
		return i, nil
	}
	last, _, err := im.Store.ImportShape(ctx, im.CompanyID, shape)
	if err != nil {
		return i, err
	}
	if chosen.Columns != nil {
		last.Columns = chosen.Columns
	}
	last.Decimal, last.DateOrder = cmp.Or(chosen.Decimal, last.Decimal), cmp.Or(chosen.DateOrder, last.DateOrder)
	return i, im.Store.SaveImportShape(ctx, im.CompanyID, shape, ImportSettings{Columns: last.Columns, Decimal: last.Decimal, DateOrder: last.DateOrder})
}

// Hold says that it was the wrong file: what was not recorded is not, and everything of it that waits is stopped.
// It may be said again: what was on its way the first time may wait by now.
func (im Imports) Hold(ctx context.Context, by work.Actor, id int64, note string) (Import, error) {
	note = strings.TrimSpace(note)
	if note == "" {
		return Import{}, &work.Refusal{Code: work.RefusedNote}
	}
	return im.change(ctx, by, id, 0, []ImportState{ImportRunning, ImportDone, ImportStopped}, func(i *Import, _ time.Time) error {
		i.State, i.HeldBy, i.HeldNote = ImportHolding, by, note
		return nil
	})
}

// Remove takes away a file of which nothing was recorded.
func (im Imports) Remove(ctx context.Context, by work.Actor, id, version int64) error {
	_, err := im.change(ctx, by, id, version, []ImportState{ImportReady}, func(i *Import, _ time.Time) error {
		i.State = ImportRemoved
		return nil
	})
	return err
}

// SourceOfImport is the source that is recorded with the invoices of an import.
func SourceOfImport(id int64) string { return "import:" + strconv.FormatInt(id, 10) }

// shapeOf names files with the same headings.
func shapeOf(headings []string) string {
	h := sha256.New()
	for _, one := range headings {
		fmt.Fprintf(h, "%q\n", foldHeading(one))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// addSum adds an amount to the sums, which stay in order of currency.
func addSum(sums []ImportSum, amount currency.Amount) []ImportSum {
	code := amount.CurrencyCode()
	at, found := slices.BinarySearchFunc(sums, code, func(s ImportSum, code string) int { return strings.Compare(s.Currency, code) })
	if !found {
		zero, _ := currency.NewAmountFromInt64(0, code)
		sums = slices.Insert(sums, at, ImportSum{Currency: code, Amount: zero})
	}
	sums[at].Rows++
	sums[at].Amount, _ = sums[at].Amount.Add(amount) // the same currency: cannot fail
	return sums
}
