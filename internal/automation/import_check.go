package automation

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"onefold/internal/work"
)

// maxImportRows is the most rows of a file on the page: what is kept of each in memory, to find keys that come twice,
// stays bounded.
const maxImportRows = 500_000

// importCheck reads a file and judges each row, as the import will, without recording anything.
type importCheck struct {
	*importWorker
	item   Import
	sheet  sheet
	seen   map[[16]byte]seenKey // keys of good rows by their hash
	digits map[[16]byte]seenKey // keys that are all digits, by the hash of their digits without leading zeros
	rows   []ImportRow          // judged or refused, not yet written
	asked  []work.New           // of the rows in rows that must be judged
	at     []int                // their places in rows
	n      int
	counts ImportCounts
	sums   []ImportSum
}

type seenKey struct {
	line int32
	same [8]byte // hash of spelling, content and month
}

// check reads the import's file from the beginning to its end. A file that cannot be imported as it is read comes out
// ready, with its problem.
func (w *importWorker) check(ctx context.Context, i Import) error {
	defer w.keep(ctx, i.ID)()
	up, err := spool(&chunkReader{ctx: ctx, worker: w, id: i.ID}, w.TempDir, i.Asked.Encoding)
	if err == nil {
		defer up.close()
	}
	c := &importCheck{importWorker: w, item: i, seen: map[[16]byte]seenKey{}, digits: map[[16]byte]seenKey{}}
	if err == nil {
		err = safely(func() error { return c.file(ctx, up) })
	}
	var fe *FileError
	if errors.As(err, &fe) {
		c.counts, c.sums = ImportCounts{}, nil
		return c.end(ctx, forImport(fe), true)
	}
	if err != nil {
		return err
	}
	return c.end(ctx, "", false)
}

// safely takes a panic, which a damaged workbook can cause in its reader, for a file that cannot be read.
func safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fileErrorf(0, "this file is damaged: save it again, or as \"CSV UTF-8\", and import that")
		}
	}()
	return f()
}

// keep holds the import on while its file is read, which may take long, until the returned function is called.
func (w *importWorker) keep(ctx context.Context, id int64) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(importHold / 4)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// If it fails, the next thing that is written finds out.
				_, _ = w.Store.WorkImport(ctx, id, w.node, importHold, ImportWork{Change: func(*Import) error { return nil }})
			}
		}
	}()
	return func() { cancel(); <-done }
}

// forImport puts a file's trouble in a sentence.
func forImport(fe *FileError) string {
	text := (&FileError{Line: fe.Line, Reason: strings.TrimSuffix(fe.Reason, ". Nothing was imported")}).Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func (c *importCheck) end(ctx context.Context, problem string, clear bool) error {
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	earlier, err := c.Store.EarlierImport(ctx, c.item.CompanyID, c.item.ID, c.item.Hash)
	if err != nil {
		return err
	}
	_, err = c.Store.WorkImport(ctx, c.item.ID, c.node, importHold, ImportWork{Clear: clear, Change: func(i *Import) error {
		if i.State != ImportChecking {
			return ErrImportLost
		}
		i.State, i.Problem, i.Found, i.Counts, i.Sums, i.CheckedAt, i.Earlier = ImportReady, problem, c.item.Found, c.counts, c.sums, now, earlier
		return nil
	}})
	return err
}

func (c *importCheck) file(ctx context.Context, up *upload) error {
	o, err := c.look(ctx, up)
	if err != nil {
		return err
	}
	if c.sheet, err = survey(ctx, up, o); err != nil {
		return err
	}
	if c.sheet.rows > maxImportRows {
		return fileErrorf(0, "the file has more than %d rows: split it", maxImportRows)
	}
	c.item.Found.Format, c.item.Found.Ignored = c.sheet.format, c.sheet.ignored
	c.item.Found.Columns = map[string]int{}
	for col, i := range c.sheet.columns {
		if i >= 0 {
			c.item.Found.Columns[column(col).name()] = i + 1
		}
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	err = up.records(c.sheet.format.Delimiter, func(rec record) error {
		if rec.heading || rec.blank() {
			return nil
		}
		c.row(rec)
		if len(c.rows) == maxIntake {
			return c.flush(ctx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.flush(ctx)
}

// look finds the heading and how the last file with such headings was read.
func (c *importCheck) look(ctx context.Context, up *upload) (ImportOptions, error) {
	asked, found := c.item.Asked, &c.item.Found
	*found = ImportFound{Excel: up.book != nil}
	o := ImportOptions{Encoding: asked.Encoding, Heading: asked.Heading, Sheet: asked.Sheet, Columns: asked.Columns, DateOrder: asked.DateOrder,
		Decimal: firstRune(asked.Decimal), Delimiter: firstRune(asked.Delimiter)}
	if up.book != nil {
		found.Sheets = up.book.file.GetSheetList()
	}
	delimiter, err := up.begin(o)
	if err != nil {
		return o, err
	}
	found.Format = ImportFormat{Encoding: up.name, Delimiter: delimiter, Heading: up.heading}
	if up.book != nil {
		found.Format.Sheet = up.book.sheet
	}
	err = up.records(delimiter, func(rec record) error {
		cells := make([]string, min(len(rec.fields), 60))
		for i := range cells {
			cells[i] = shown(rec.fields[i])
		}
		switch {
		case rec.heading:
			found.Headings = cells
		case !rec.blank():
			found.Samples = append(found.Samples, cells)
		}
		if len(found.Samples) == 5 {
			return errEnough
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	found.Columns = guessColumns(found.Headings)
	last, ok, err := c.Store.ImportShape(ctx, c.item.CompanyID, shapeOf(found.Headings))
	if err != nil {
		return o, err
	}
	o.LastDecimal, o.LastOrder = firstRune(last.Decimal), last.DateOrder
	switch {
	case asked.Columns != nil:
		found.Columns = asked.Columns
	case ok && last.Columns != nil:
		o.Columns, found.Columns, found.Remembered = last.Columns, last.Columns, true
	}
	o.Heading = up.heading
	return o, nil
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// begin writes how many rows there are, and takes away what an earlier check has left.
func (c *importCheck) begin(ctx context.Context) error {
	_, err := c.Store.WorkImport(ctx, c.item.ID, c.node, importHold, ImportWork{Clear: true, Change: func(i *Import) error {
		i.Rows, i.Read, i.Found = c.sheet.rows, 0, c.item.Found
		return nil
	}})
	return err
}

func (c *importCheck) row(rec record) {
	c.n++
	out := ImportRow{N: c.n, Line: rec.line, Key: shown(c.sheet.columns.of(rec, colKey)), Customer: shown(c.sheet.columns.of(rec, colCustomerName)),
		Currency: shown(strings.ToUpper(c.sheet.columns.of(rec, colCurrency))), Amount: shown(c.sheet.columns.of(rec, colAmount))}
	if out.Customer == "" {
		out.Customer = shown(c.sheet.columns.of(rec, colCustomerID))
	}
	n, err := c.sheet.row(rec)
	if err != nil {
		out.Outcome, out.Detail = RowRefused, err.Error()
		c.rows = append(c.rows, out)
		return
	}
	total := n.Invoice.Total.Round()
	out.Amount, out.Currency = total.Number(), total.CurrencyCode()
	out.Outcome = RowTodo
	key, same := c.hashes(n)
	if first, twice := c.seen[key]; twice {
		if first.same == same {
			out.Outcome, out.Detail = RowKnown, fmt.Sprintf("line %d", first.line)
		} else {
			out.Outcome, out.Detail = RowConflict, fmt.Sprintf("line %d of this file has this key with another content or in another spelling", first.line)
		}
		c.rows = append(c.rows, out)
		return
	}
	c.seen[key] = seenKey{int32(rec.line), same} //nolint:gosec // at most maxImportRows, and lines of a bounded file
	if line := c.otherZeros(n.BusinessKey, rec.line); line != 0 {
		out.Detail = fmt.Sprintf("differs from the key in line %d only by leading zeros", line)
	}
	n.SystemID, n.Automation, n.Source, n.By = c.item.SystemID, c.item.Automation, SourceOfImport(c.item.ID), c.item.By
	c.asked, c.at = append(c.asked, n), append(c.at, len(c.rows))
	c.rows = append(c.rows, out)
}

func (c *importCheck) hashes(n work.New) (key [16]byte, same [8]byte) {
	k := sha256.Sum256([]byte(work.FoldKey(n.BusinessKey)))
	s := sha256.Sum256([]byte(n.BusinessKey + "\x00" + n.Invoice.Fingerprint() + "\x00" + n.Period))
	copy(key[:], k[:])
	copy(same[:], s[:])
	return key, same
}

// otherZeros is the line of a key that is the same but for leading zeros, which spreadsheets like to lose; 0: none.
func (c *importCheck) otherZeros(key string, line int) int32 {
	if strings.Trim(key, "0123456789") != "" {
		return 0
	}
	bare, full := sha256.Sum256([]byte(strings.TrimLeft(key, "0"))), sha256.Sum256([]byte(key))
	other, ok := c.digits[[16]byte(bare[:16])]
	if ok && other.same != [8]byte(full[:8]) {
		return other.line
	}
	c.digits[[16]byte(bare[:16])] = seenKey{int32(line), [8]byte(full[:8])} //nolint:gosec // lines of a bounded file
	return 0
}

// flush judges the rows that wait and writes all of them.
func (c *importCheck) flush(ctx context.Context) error {
	if len(c.rows) == 0 {
		return nil
	}
	results, err := c.intake().Judge(ctx, c.asked)
	if err != nil {
		return err
	}
	for i, r := range results {
		row := &c.rows[c.at[i]]
		if err := c.settle(ctx, row, r); err != nil {
			return err
		}
		if row.Outcome != RowTodo {
			continue
		}
		content, err := json.Marshal(storedRow{c.asked[i].BusinessKey, c.asked[i].Period, c.asked[i].Invoice})
		if err != nil {
			return fmt.Errorf("keep line %d: %w", row.Line, err)
		}
		row.Content = string(content)
		c.sums = addSum(c.sums, c.asked[i].Invoice.Total.Round())
	}
	for _, row := range c.rows {
		*c.counts.Of(row.Outcome)++
	}
	_, err = c.Store.WorkImport(ctx, c.item.ID, c.node, importHold, ImportWork{Add: c.rows, Change: func(i *Import) error {
		i.Read = c.n
		return nil
	}})
	c.rows, c.asked, c.at = c.rows[:0], c.asked[:0], c.at[:0]
	return err
}

// storedRow is what is kept of a row that is to be recorded.
type storedRow struct {
	Key     string
	Period  string
	Invoice work.Invoice
}

// settle writes what intake says of a row into it.
func (w *importWorker) settle(ctx context.Context, row *ImportRow, r Recorded) error {
	row.ItemID = r.Item.ID
	switch r.Result {
	case IntakeNew:
		return nil
	case IntakeRefused, IntakeTaken, IntakeOff:
		row.Outcome, row.Detail, row.ItemID = RowRefused, r.Err.Error(), 0
		return nil
	case IntakeKnown:
		row.Outcome, row.Detail = RowKnown, string(r.Item.Status)
	default:
		row.Outcome, row.Detail = RowConflict, r.Err.Error()
	}
	if r.Item.Status != work.Closed && r.Item.Status != work.Resolved {
		return nil
	}
	acts, err := w.Store.Acts(ctx, r.Item.ID, 20)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(acts, func(a work.Act) bool { return a.To == r.Item.Status && a.From != r.Item.Status }); i >= 0 {
		row.Who = acts[i].By.Name
	}
	return nil
}

// chunkReader reads an upload out of the database.
type chunkReader struct {
	ctx    context.Context
	worker *importWorker
	id     int64
	n      int
	rest   []byte
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		piece, err := r.worker.Store.ImportChunk(r.ctx, r.id, r.n)
		if err != nil {
			return 0, err
		}
		if len(piece) == 0 {
			return 0, io.EOF
		}
		r.rest, r.n = piece, r.n+1
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
