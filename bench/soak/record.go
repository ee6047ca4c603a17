package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

const (
	perSecond   = 6   // documents of two steps
	stickyEvery = 250 // every so many documents the accounting system answers 500 for ever
)

// Books that can be searched get most documents: those that cannot are left to people whenever an answer is lost.
var shares = []string{"search", "unique", "search", "unique", "keys", "search", "unique", "search", "blind", "keys"}

var automations = []string{"monthly", "orders"}

// document is one thing to record, in the API's form. It is always the same for the same number.
type document struct {
	System     string         `json:"system"`
	Automation string         `json:"automation"`
	Key        string         `json:"key"`
	Invoice    map[string]any `json:"invoice"`
}

func newDocument(n int) document {
	d := document{System: shares[n%len(shares)], Automation: automations[n/len(shares)%2], Key: fmt.Sprintf("SOAK-%06d", n)}
	switch n % 25 {
	case 7:
		d.Key = fmt.Sprintf("SOAK %06d Müller & Söhne / 株式会社", n)
	case 8: // does not fit, and travels shortened
		d.Key += "-with-a-name-that-is-longer-than-any-reference-in-these-books"
	}
	d.Invoice = map[string]any{"customer_id": fmt.Sprintf("C-%03d", n%97), "customer_name": fmt.Sprintf("Customer %d", n%97),
		"total": map[string]string{"number": fmt.Sprintf("%d.%02d", 10+n%900, n%100), "currency": "EUR"}, "issue_date": "2026-11-30"}
	return d
}

// stickyReferences are the references of the documents that are answered 500 for ever, in books that can be searched.
func stickyReferences(lasts time.Duration) (list []string) {
	for n := stickyEvery; n < int(lasts.Seconds())*perSecond; n += stickyEvery {
		list = append(list, newDocument(n).Key) // a multiple of 250: short and plain, in "search"
	}
	return list
}

// recorder records documents at a steady pace, at any server, each batch until a server took it.
type recorder struct {
	servers []*onefold
	taken   atomic.Int64 // documents
	again   atomic.Int64 // batches that were posted once more because no answer came
	twice   atomic.Int64 // batches that were posted twice on purpose
}

// patience is how long a batch is posted again.
const patience = 2 * time.Minute

// run records until ctx ends. What was begun is carried through.
func (r *recorder) run(ctx context.Context, rnd *rand.Rand) error {
	begun := time.Now()
	for n := 0; pause(ctx, time.Until(begun.Add(time.Duration(n)*time.Second))); n++ {
		batch := make([]document, perSecond)
		for i := range batch {
			batch[i] = newDocument(n*perSecond + i)
		}
		if err := r.surely(context.WithoutCancel(ctx), rnd, batch); err != nil {
			return err
		}
		r.taken.Add(perSecond)
		if n%7 == 3 { // as when an event is delivered twice
			slices.Reverse(batch)
			if err := r.surely(context.WithoutCancel(ctx), rnd, batch); err != nil {
				return err
			}
			r.twice.Add(1)
		}
	}
	return nil
}

func (r *recorder) surely(ctx context.Context, rnd *rand.Rand, batch []document) error {
	body, err := json.Marshal(map[string]any{"items": batch})
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; r.again.Add(1) {
		err := post(ctx, r.servers[rnd.IntN(len(r.servers))].url, body)
		if err == nil {
			return nil
		}
		var final refusedError
		if errors.As(err, &final) || time.Now().After(deadline) {
			return fmt.Errorf("a batch was not taken: %w", err)
		}
		pause(ctx, 100*time.Millisecond)
	}
}

var planner = &http.Client{Timeout: 2 * time.Second}

func post(ctx context.Context, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/v1/items", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := planner.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, text)
		if res.StatusCode == http.StatusMultiStatus && !bytes.Contains(text, []byte(`"status":5`)) {
			return refusedError{err}
		}
	}
	return err
}

// refusedError says that posting the batch again would not help.
type refusedError struct{ error }
