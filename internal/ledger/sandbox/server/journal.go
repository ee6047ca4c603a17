package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Effect is one line of the journal: one thing that really happened in the books.
type Effect struct {
	Effect       string    `json:"effect"` // created, posted, voided or deleted
	Books        string    `json:"books"`
	ID           string    `json:"id"`
	Number       string    `json:"number,omitempty"`
	Reference    string    `json:"reference"`       // as stored
	Asked        string    `json:"asked,omitempty"` // as asked, if the books changed it
	Key          string    `json:"key,omitempty"`
	CustomerID   string    `json:"customer,omitempty"`
	CustomerName string    `json:"customer_name,omitempty"`
	Currency     string    `json:"currency,omitempty"`
	Total        string    `json:"total,omitempty"`
	Posted       bool      `json:"posted,omitempty"` // of created: posted at once
	Hash         string    `json:"hash,omitempty"`   // of the request
	LagMS        int64     `json:"lag_ms,omitempty"`
	At           time.Time `json:"at"`
}

// journal is an append-only file of effects. With an empty name nothing is kept.
type journal struct {
	file *os.File
	sync bool
}

// openJournal reads the effects so far. A torn last line, as a killed process leaves it, is cut off: its effect was
// never answered.
func openJournal(name string, sync bool) (*journal, []Effect, error) {
	if name == "" {
		return &journal{}, nil, nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the file is the operator's choice
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	effects, good, err := readEffects(f)
	if err == nil {
		err = f.Truncate(good)
	}
	if err == nil {
		_, err = f.Seek(good, io.SeekStart)
	}
	if err != nil {
		f.Close() //nolint:errcheck,gosec // the first error is the one to report
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	return &journal{file: f, sync: sync}, effects, nil
}

// readEffects returns the effects and the length of the part that holds whole lines.
func readEffects(r io.Reader) (effects []Effect, good int64, err error) {
	in := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return effects, good, nil // what is left has no line end: torn
		}
		if err != nil {
			return nil, 0, err
		}
		var e Effect
		if err := json.Unmarshal(bytes.TrimSpace(text), &e); err != nil {
			return nil, 0, fmt.Errorf("line %d is damaged: %w", line, err)
		}
		effects = append(effects, e)
		good += int64(len(text))
	}
}

func (j *journal) append(e Effect) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if j.sync {
		return j.file.Sync()
	}
	return nil
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
