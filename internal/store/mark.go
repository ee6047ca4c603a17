package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// mark is a small file beside a SQLite database that remembers how far the database had come. An older database file that
// is put back is then behind its mark.
//
// It is written after each commit that opened a send or holds a person's decision, before anybody may act on it, and is not
// forced to the disk: it is there to notice another file in place of ours, and then the system has not crashed. After a power
// cut the mark may be older than the database, which does no harm.
type mark struct {
	mu   sync.Mutex
	file *os.File
	id   string
	last int64
}

type marked struct {
	Installation string `json:"installation"`
	Generation   int64  `json:"generation"`
}

// openMark opens or creates the file; found is false if there was none.
func openMark(path, installation string) (m *mark, was marked, found bool, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the database
	if err != nil {
		return nil, was, false, fmt.Errorf("the side mark of the database cannot be opened: %w", err)
	}
	text, err := os.ReadFile(path) //nolint:gosec // as above
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, was, false, errors.Join(fmt.Errorf("the side mark of the database cannot be read: %w", err), file.Close())
	}
	// A damaged mark is as good as none: then the database looks first.
	found = json.Unmarshal(text, &was) == nil && was.Installation != ""
	return &mark{file: file, id: installation, last: was.Generation}, was, found, nil
}

// write moves the mark on; it never goes back while it is open.
func (m *mark) write(generation int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if generation <= m.last {
		return nil
	}
	m.last = generation
	return m.put()
}

// restart sets the mark to where the database is.
func (m *mark) restart(generation int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = generation
	return m.put()
}

func (m *mark) put() error {
	// Padded to one length, so that one write replaces the whole text.
	text := fmt.Appendf(nil, "{\"installation\": %q, \"generation\": %20d}\n", m.id, m.last)
	if _, err := m.file.WriteAt(text, 0); err != nil {
		return fmt.Errorf("the side mark of the database cannot be written: %w", err)
	}
	return nil
}

func (m *mark) close() error { return m.file.Close() }
