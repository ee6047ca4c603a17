package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"onefold/internal/work"
)

// witness is a small file of one server, outside of PostgreSQL, that remembers the newest sends and decisions of people which
// this server committed. A database that does not know one of them forgot it: a copy of its disk was put back, a dump was
// loaded into the same database, or storage lost what it had confirmed. The identity of the database cannot tell that.
//
// It is written after each commit that opened a send, before anybody may act on it, or that holds a decision, and is not forced
// to the disk, like the mark of SQLite. A nil witness remembers nothing.
type witness struct {
	mu   sync.Mutex
	file *os.File
	seen testimony
}

// testimony is what the file holds.
type testimony struct {
	Installation string     `json:"installation"`
	Sends        []seenSend `json:"sends"`
	Acts         []seenAct  `json:"acts,omitempty"` // the version before this one passes them over
}

// seenSend names the first attempt of one commit.
type seenSend struct {
	Item    int64 `json:"item"`
	Number  int   `json:"number"`
	Started int64 `json:"started"` // microseconds since 1970
}

// seenAct names the first decision of one commit.
type seenAct struct {
	Item int64 `json:"item"`
	At   int64 `json:"at"` // microseconds since 1970
}

// keptSends is more than there are connections: commits that ended at once are written in any order, and a database that
// forgot only the last of them must be noticed.
const (
	keptSends = 64
	keptActs  = 32
)

// openWitness opens or creates the file; no path, no witness. A damaged file is as good as an empty one.
func openWitness(path string) (*witness, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, fmt.Errorf("the mark of the database cannot be opened: %w", err)
	}
	text, err := os.ReadFile(path) //nolint:gosec // as above
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the mark of the database cannot be read: %w", err), file.Close())
	}
	w := &witness{file: file}
	if json.Unmarshal(text, &w.seen) != nil {
		w.seen = testimony{}
	}
	return w, nil
}

// saw remembers a send that is committed.
func (w *witness) saw(s seenSend) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen.Sends = append(w.seen.Sends, s); len(w.seen.Sends) > keptSends {
		w.seen.Sends = w.seen.Sends[1:]
	}
	return w.put()
}

// sawAct remembers a decision that is committed.
func (w *witness) sawAct(a seenAct) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen.Acts = append(w.seen.Acts, a); len(w.seen.Acts) > keptActs {
		w.seen.Acts = w.seen.Acts[1:]
	}
	return w.put()
}

// restart forgets all: the database is another one, and that was dealt with.
func (w *witness) restart(installation string) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = testimony{Installation: installation}
	return w.put()
}

// new reports whether the file names no installation yet.
func (w *witness) new() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.Installation == ""
}

func (w *witness) put() error {
	text, err := json.Marshal(w.seen)
	if err != nil {
		return err
	}
	// Padded to one length, so that one write replaces the whole text.
	if _, err := w.file.WriteAt(fmt.Appendf(nil, "%-*s\n", keptSends*96+keptActs*64, text), 0); err != nil {
		return fmt.Errorf("the mark of the database cannot be written: %w", err)
	}
	return nil
}

func (w *witness) close() error {
	if w == nil {
		return nil
	}
	return w.file.Close()
}

// forgotten reports whether the database is another one than this server sent from, or does not know one of its newest
// sends or decisions. Where the history was shortened on purpose a send is taken for known; decisions are never removed.
func (w *witness) forgotten(ctx context.Context, c *pgx.Conn, installation string) (bool, error) {
	if w == nil {
		return false, nil
	}
	w.mu.Lock()
	seen := testimony{w.seen.Installation, slices.Clone(w.seen.Sends), slices.Clone(w.seen.Acts)}
	w.mu.Unlock()
	if seen.Installation == "" || seen.Installation != installation {
		return seen.Installation != "", nil
	}
	ids, numbers, started := make([]int64, len(seen.Sends)), make([]int32, len(seen.Sends)), make([]time.Time, len(seen.Sends))
	for i, s := range seen.Sends {
		ids[i], numbers[i], started[i] = s.Item, int32(s.Number), time.UnixMicro(s.Started) //nolint:gosec // a counter
	}
	decided, at := make([]int64, len(seen.Acts)), make([]time.Time, len(seen.Acts))
	for i, a := range seen.Acts {
		decided[i], at[i] = a.Item, time.UnixMicro(a.At)
	}
	var lost bool
	err := c.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM unnest($1::bigint[], $2::int[], $3::timestamptz[]) AS s (item_id, number, started_at)"+
		" WHERE NOT EXISTS (SELECT 1 FROM attempts a WHERE a.item_id = s.item_id AND a.number = s.number AND a.started_at = s.started_at)"+
		" AND NOT EXISTS (SELECT 1 FROM pruned_items p WHERE p.item_id = s.item_id))"+
		" OR EXISTS (SELECT 1 FROM unnest($4::bigint[], $5::timestamptz[]) AS s (item_id, at)"+
		" WHERE NOT EXISTS (SELECT 1 FROM acts a WHERE a.item_id = s.item_id AND a.at = s.at))", ids, numbers, started, decided, at).Scan(&lost)
	if err != nil {
		return false, fmt.Errorf("compare the database with its mark: %w", err)
	}
	return lost, nil
}

// remember tells the witness of what is committed; nil: none. The send may go: the witness is a second line of defence, and a full
// disk beside a healthy database must not stop it.
func (p *postgres) remember(send *work.Attempt, act *work.Act) {
	if p.witness == nil {
		return
	}
	var err error
	if send != nil {
		err = p.witness.saw(seenSend{send.ItemID, send.Number, send.StartedAt.UnixMicro()})
	}
	if act != nil {
		err = errors.Join(err, p.witness.sawAct(seenAct{act.ItemID, act.At.UnixMicro()}))
	}
	if err != nil {
		p.store.cfg.Log.Error("a database that is put back may not be noticed", "error", err)
	}
}

func firstSend(opened []*work.Attempt) *work.Attempt {
	for _, a := range opened {
		if a.Kind == work.Send {
			return a
		}
	}
	return nil
}
