package web

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"onefold/internal/review"
)

const (
	lookEvery      = time.Second
	streamsOfOne   = 8    // open pages of one person that are told at a time; browsers close those that are not seen
	streamsOfAll   = 2000 // open pages of everybody on this server
	markFreshFor   = 2 * time.Second
	longestLooking = 10 * time.Second
)

var errTooManyStreams = errors.New("too many pages are open")

// hub looks for changes on behalf of all open pages of this server: one look a second while somebody listens, none else.
type hub struct {
	read  func(ctx context.Context, items []int64) (review.Mark, error)
	every time.Duration // between two looks; 0: only look is called
	log   *slog.Logger

	mu     sync.Mutex
	pages  map[*openPage]bool
	people map[string]int
	stop   context.CancelFunc // of the loop; nil: it does not run
	kick   chan struct{}
	last   string // of everything, as the last look saw it
	lastAt time.Time
	failed bool
}

// openPage is what one open page is told about: an item, or everything if it is 0.
type openPage struct {
	item int64
	who  string
	told string      // the state that it knows
	news chan string // the newest state that it does not know; never more than one
}

func newHub(read func(context.Context, []int64) (review.Mark, error), log *slog.Logger) *hub {
	return &hub{read: read, every: lookEvery, log: log, pages: map[*openPage]bool{}, people: map[string]int{}, kick: make(chan struct{}, 1)}
}

// join lets a person's page listen that knows a state; errTooManyStreams if they have too many. The page must leave.
func (h *hub) join(who string, item int64, knows string) (*openPage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.people[who] >= streamsOfOne || len(h.pages) >= streamsOfAll {
		return nil, errTooManyStreams
	}
	p := &openPage{item: item, who: who, told: knows, news: make(chan string, 1)}
	h.pages[p] = true
	h.people[who]++
	if h.every > 0 && h.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		h.stop = stop
		go h.run(ctx)
	}
	select {
	case h.kick <- struct{}{}: // what happened since the page was made is told at once
	default:
	}
	return p, nil
}

// leave ends listening. With the last page the looking ends.
func (h *hub) leave(p *openPage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, p)
	if h.people[p.who]--; h.people[p.who] <= 0 {
		delete(h.people, p.who)
	}
	if len(h.pages) == 0 && h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

func (h *hub) run(ctx context.Context) {
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.kick:
		case <-tick.C:
		}
		h.look(ctx)
	}
}

// look reads the state once and tells every page to which it is new.
func (h *hub) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, longestLooking)
	defer cancel()
	mark, err := h.read(ctx, h.watched())
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		if !h.failed && ctx.Err() == nil { // said once: the pages themselves say the rest
			h.log.Warn("open pages cannot be told of changes", "error", err)
		}
		h.failed = true
		return
	}
	h.failed, h.last, h.lastAt = false, mark.All, time.Now()
	for p := range h.pages {
		state := mark.Of(p.item)
		if state == "" || state == p.told {
			continue
		}
		p.told = state
		select {
		case <-p.news: // an older one that was not fetched yet
		default:
		}
		p.news <- state
	}
}

func (h *hub) watched() (items []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[int64]bool{0: true}
	for p := range h.pages {
		if !seen[p.item] {
			seen[p.item] = true
			items = append(items, p.item)
		}
	}
	return items
}

// now is the state that a page made after this call knows at least.
func (h *hub) now(ctx context.Context) (string, error) {
	h.mu.Lock()
	last, fresh := h.last, h.stop != nil && time.Since(h.lastAt) < markFreshFor
	h.mu.Unlock()
	if fresh {
		return last, nil
	}
	mark, err := h.read(ctx, nil)
	return mark.All, err
}
