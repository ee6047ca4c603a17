package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"onefold/internal/ledger/sandbox/server"
)

// key names what may happen at most once outside, and the item that asks for it.
type key struct{ system, reference, step string }

// effect is one thing that happened outside.
type effect struct {
	id string
	at time.Time
}

// journal is what really happened in the accounting system, read from its own file as it grows.
type journal struct {
	file    string
	offset  int64
	effects map[key][]effect
	asked   map[[2]string]string // by books and id: the reference as asked
	records int                  // ever created
	doubles int                  // keys with more than one effect
}

func newJournal(file string) *journal {
	return &journal{file: file, effects: map[key][]effect{}, asked: map[[2]string]string{}}
}

// read takes in the lines since the last time. A line that is not whole yet, or torn by a kill, is left for later.
func (j *journal) read() error {
	f, err := os.Open(j.file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(j.offset, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return nil
		}
		var e server.Effect
		if err := json.Unmarshal(text[:end], &e); err != nil {
			return fmt.Errorf("the accounting system's file is damaged: %w", err)
		}
		j.add(e)
		text = text[end+1:]
		j.offset += int64(end) + 1
	}
}

func (j *journal) add(e server.Effect) {
	name := [2]string{e.Books, e.ID}
	k := key{system: e.Books}
	switch e.Effect {
	case "created":
		j.records++
		j.asked[name] = e.Reference
		if e.Asked != "" {
			j.asked[name] = e.Asked
		}
		k.step = "create"
	case "posted":
		k.step = "post"
	default: // voided or deleted afterwards: a fault
		return
	}
	k.reference = j.asked[name]
	j.effects[k] = append(j.effects[k], effect{e.ID, e.At})
	if len(j.effects[k]) == 2 {
		j.doubles++
	}
}
