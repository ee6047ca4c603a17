package automation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"onefold/internal/work"
)

// SourceHolder stops everything that waits and came from a source.
type SourceHolder interface {
	HoldSource(ctx context.Context, by work.Actor, source, note string) (int, error)
}

// ImportRunner checks, records and stops imports in the background. Any number of servers may have one: each import is
// held by one of them at a time, and another goes on where a lost one was.
type ImportRunner struct {
	Imports
	Holder SourceHolder
	Node   string       // this server's name; unique among the servers
	Log    *slog.Logger // nil: slog.Default

	Done func(result string, rows int) // is told what came of rows; nil: nobody
}

const (
	importHold    = 2 * time.Minute // a server that has not finished a step by then is taken for lost
	importStep    = time.Minute     // longest time of one transaction of rows: less than it is held
	importTick    = time.Second
	uploadingTime = time.Hour
	readyTime     = 14 * 24 * time.Hour // a file that nobody begins is kept so long
)

// Run calls RunOnce until ctx ends; each second, or at once while there is something to do.
func (r ImportRunner) Run(ctx context.Context) error {
	log := r.Log
	if log == nil {
		log = slog.Default()
	}
	tick := time.NewTicker(importTick)
	defer tick.Stop()
	for {
		worked, err := r.RunOnce(ctx)
		if err != nil && ctx.Err() == nil {
			log.Error("an import could not go on", "error", err)
		}
		if worked && err == nil && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// RunOnce takes each open import that no other server holds one step on: checks it, or records some of its rows. It
// reports whether there was one.
func (r ImportRunner) RunOnce(ctx context.Context) (bool, error) {
	now, err := r.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	ids, err := r.Store.OpenImports(ctx, now.Add(-uploadingTime), now.Add(-readyTime))
	worked := false
	for _, id := range ids {
		did, stepErr := r.step(ctx, id)
		worked, err = worked || did, errors.Join(err, stepErr)
	}
	return worked, err
}

func (r ImportRunner) step(ctx context.Context, id int64) (bool, error) {
	w := &importWorker{Imports: r.Imports, holder: r.Holder, node: r.Node, done: r.Done}
	return w.step(ctx, id)
}

// What is checked while somebody waits for the page, in bytes; a workbook is packed.
const (
	smallFile = 512 << 10
	smallBook = 64 << 10
)

// CheckNow checks a small file at once, so that nobody has to wait for the background. A larger one, or one that a server
// is at already, is left to the background.
func (im Imports) CheckNow(ctx context.Context, i Import, node string) error {
	if i.State != ImportChecking || i.Size > smallFile {
		return nil
	}
	if first, err := im.Store.ImportChunk(ctx, i.ID, 0); err != nil || i.Size > smallBook && bytes.HasPrefix(first, []byte(bookMark)) {
		return err
	}
	w := &importWorker{Imports: im, node: node}
	_, err := w.step(ctx, i.ID)
	return err
}

// importWorker is one server at one import.
type importWorker struct {
	Imports
	holder SourceHolder
	node   string
	done   func(result string, rows int)
}

func (w *importWorker) intake() Intake { return Intake{Store: w.Store, Zone: w.Zone} }

// step holds the import and does the next thing.
func (w *importWorker) step(ctx context.Context, id int64) (bool, error) {
	i, held, err := w.Store.HoldImport(ctx, id, w.node, importHold)
	if err != nil || !held {
		return false, err
	}
	switch {
	case i.State == ImportChecking:
		err = w.check(ctx, i)
	case i.State == ImportRunning:
		err = w.record(ctx, i)
	case i.State == ImportHolding && w.holder != nil:
		err = w.hold(ctx, i)
	}
	if errors.Is(err, ErrImportLost) { // somebody stopped it, or another server has it
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("import %d: %w", id, err)
	}
	// On the way out, too: another server may go on at once.
	return true, errors.Join(err, w.Store.ReleaseImport(context.WithoutCancel(ctx), id, w.node))
}

// record records some of the rows that are to do.
func (w *importWorker) record(ctx context.Context, i Import) error {
	// What is recorded must be over before the hold is.
	ctx, cancel := context.WithTimeout(ctx, importStep)
	defer cancel()
	rows, err := w.Store.ImportRows(ctx, i.ID, ImportRowQuery{Outcome: RowTodo, Limit: maxIntake, Content: true})
	if err != nil {
		return err
	}
	items := make([]work.New, len(rows))
	for k, row := range rows {
		var stored storedRow
		if err := json.Unmarshal([]byte(row.Content), &stored); err != nil {
			return fmt.Errorf("the stored line %d is damaged: %w", row.Line, err)
		}
		items[k] = work.New{BusinessKey: stored.Key, Period: stored.Period, Invoice: stored.Invoice, SystemID: i.SystemID, Automation: i.Automation,
			Source: SourceOfImport(i.ID), By: i.BegunBy}
	}
	results, err := w.intake().Record(ctx, items)
	if err != nil {
		return err
	}
	sums, counts := i.Sums, i.Counts
	for k := range rows {
		row := &rows[k]
		r := results[k]
		// Of this import, but not new: it was recorded when a server was lost before it could write that down.
		if r.Result == IntakeKnown && r.Item.Source == SourceOfImport(i.ID) {
			r.Result = IntakeNew
		}
		if err := w.settle(ctx, row, r); err != nil {
			return err
		}
		if r.Result == IntakeNew {
			row.Outcome = RowNew
			sums = addSum(sums, items[k].Invoice.Total.Round())
		}
		counts.Todo--
		*counts.Of(row.Outcome)++
	}
	now, err := w.Store.Now(ctx)
	if err != nil {
		return err
	}
	_, err = w.Store.WorkImport(ctx, i.ID, w.node, importHold, ImportWork{Settle: rows, Change: func(at *Import) error {
		at.Sums, at.Counts = sums, counts
		if counts.Todo == 0 {
			at.DoneAt = now
			if at.State == ImportRunning { // and not stopped meanwhile
				at.State = ImportDone
			}
		}
		return nil
	}})
	if err == nil && w.done != nil {
		for i := range rows {
			w.done(string(rows[i].Outcome), 1)
		}
	}
	return err
}

// hold stops what came from the import, until nothing of it waits any more.
func (w *importWorker) hold(ctx context.Context, i Import) error {
	stopped, err := w.holder.HoldSource(ctx, i.HeldBy, SourceOfImport(i.ID), i.HeldNote)
	if err != nil {
		return err
	}
	now, err := w.Store.Now(ctx)
	if err != nil {
		return err
	}
	_, err = w.Store.WorkImport(ctx, i.ID, w.node, importHold, ImportWork{Change: func(at *Import) error {
		at.Stopped += stopped
		if stopped == 0 {
			at.State, at.DoneAt = ImportStopped, now
		}
		return nil
	}})
	return err
}
