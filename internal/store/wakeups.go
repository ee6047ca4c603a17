package store

import (
	"context"
	"sync"
)

// hub hands wake-ups to whoever reads them. It never blocks the one who wakes, and keeps at most one for each system.
type hub struct {
	out    chan string
	signal chan struct{}

	mu      sync.Mutex
	waiting map[string]bool
}

func newHub() *hub {
	return &hub{out: make(chan string), signal: make(chan struct{}, 1), waiting: map[string]bool{}}
}

func (h *hub) wake(systems map[string]bool) {
	if len(systems) == 0 {
		return
	}
	h.mu.Lock()
	for id := range systems {
		h.waiting[id] = true
	}
	h.mu.Unlock()
	select {
	case h.signal <- struct{}{}:
	default:
	}
}

func (h *hub) take() (id string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.waiting {
		delete(h.waiting, id)
		return id, true
	}
	return "", false
}

func (h *hub) run(ctx context.Context) {
	for {
		id, ok := h.take()
		if !ok {
			select {
			case <-h.signal:
			case <-ctx.Done():
				return
			}
			continue
		}
		select {
		case h.out <- id:
		case <-ctx.Done():
			return
		}
	}
}
