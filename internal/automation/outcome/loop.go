package outcome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"onefold/internal/automation/events"
)

// Config says how outcomes are told.
type Config struct {
	Store     Store
	Keys      events.Sealer
	Post      Poster // nil: over HTTP to where Hosts allow
	Hosts     Hosts
	CompanyID int64           // 0: 1
	Node      string          // this server's name; unique among the servers on one database
	Wake      <-chan struct{} // tells Run that something waits; nil: nothing does
	Log       *slog.Logger    // nil: silent

	Tried func(result string) // is told of each try: the state that is recorded after it; nil: nobody
}

// Poster posts a signed body once. It returns a *NotTaken unless the answer was 2xx.
type Poster interface {
	Post(ctx context.Context, address string, header map[string]string, body []byte) error
}

// NotTaken says why a message was not taken.
type NotTaken struct {
	Text string // in plain words, bounded
	Away bool   // nobody answers there, or it asks us to wait: others would fare no better
}

func (n *NotTaken) Error() string { return n.Text }

// Loop tells outcomes. It is safe to run on any number of servers with one database. A server that dies after it sent and
// before it recorded that leads to a repeat, which the receiver knows by its id.
type Loop struct{ cfg Config }

// NewLoop returns the loop.
func NewLoop(c Config) *Loop {
	c.CompanyID = max(c.CompanyID, 1)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Post == nil {
		c.Post = newClient(c.Hosts)
	}
	return &Loop{c}
}

const (
	tick     = 5 * time.Second
	leaseFor = time.Minute // longer than any try takes
	maxTries = 14
	perRound = 200
	abreast  = 4 // endpoints at a time: one that hangs does not keep the others waiting
)

// wait is how long to wait after so many tries: 30 seconds, doubled each time, at most 6 hours. Fourteen tries take about a day.
func wait(tries int) time.Duration {
	return min(30*time.Second<<min(max(tries-1, 0), 20), 6*time.Hour)
}

// Run calls RunOnce every few seconds, and when it is woken, until ctx ends. Errors are logged only.
func (l *Loop) Run(ctx context.Context) error {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		if err := l.RunOnce(ctx); err != nil && ctx.Err() == nil {
			l.cfg.Log.Error("outcomes could not be told", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		case <-l.cfg.Wake:
		}
	}
}

// RunOnce sends what is due. How often it is called does not matter.
func (l *Loop) RunOnce(ctx context.Context) error {
	list, err := l.cfg.Store.Endpoints(ctx, l.cfg.CompanyID)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(abreast)
	for _, e := range list {
		g.Go(func() error { return l.sendAll(ctx, e) })
	}
	return g.Wait()
}

func (l *Loop) sendAll(ctx context.Context, e Endpoint) error {
	secret, err := l.cfg.Keys.Open(e.Sealed, owner)
	if err != nil {
		return fmt.Errorf("the secret of the outcome endpoint %s: %w", e.Name, err)
	}
	for range perRound {
		d, err := l.cfg.Store.ClaimOutcome(ctx, l.cfg.Node, leaseFor, e.ID)
		if err != nil || d == nil {
			return err
		}
		away, err := l.sendOne(ctx, e, secret, *d)
		if err != nil || away {
			return err
		}
	}
	return nil
}

// sendOne sends one claimed message and records what came of it.
func (l *Loop) sendOne(ctx context.Context, e Endpoint, secret string, d Delivery) (away bool, err error) {
	now, err := l.cfg.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	id, body, err := Body(d)
	if err != nil {
		return false, err
	}
	sendErr := l.cfg.Post.Post(ctx, e.Address, map[string]string{events.SignatureHeader: events.Sign(secret, now, body), "Onefold-Event-Id": id}, body)
	ended, err := l.cfg.Store.Now(context.WithoutCancel(ctx))
	if err != nil {
		return false, err
	}
	if sendErr == nil {
		d.State, d.LastError, d.ClosedAt = Delivered, "", ended
	} else {
		not := &NotTaken{Text: "it could not be sent", Away: true}
		errors.As(sendErr, &not)
		d.LastError, away = not.Text, not.Away
		if d.NextAt = ended.Add(wait(d.Tries)); d.Tries >= maxTries {
			d.State, d.ClosedAt = Failed, ended
		}
		l.cfg.Log.Warn("an outcome was not taken", "message", d.ID, "endpoint", e.Name, "tries", d.Tries, "state", string(d.State), "error", not.Text)
	}
	if err := l.cfg.Store.CloseOutcome(context.WithoutCancel(ctx), l.cfg.Node, d); err != nil {
		return away, err
	}
	if l.cfg.Tried != nil {
		l.cfg.Tried(string(d.State))
	}
	return away, nil
}

// message is the body of a webhook.
type message struct {
	ID        string      `json:"id"`
	Type      string      `json:"type"`
	CreatedAt time.Time   `json:"created_at"`
	Item      messageItem `json:"item"`
}

type messageItem struct {
	ID             int64    `json:"id"`
	Version        int64    `json:"version"` // grows: what has a lower one is older
	Key            string   `json:"key"`
	Automation     string   `json:"automation"`
	System         string   `json:"system"`
	Step           string   `json:"step"`
	Steps          []string `json:"steps"`
	Last           bool     `json:"last_step"`
	Status         string   `json:"status"`
	Reason         string   `json:"reason,omitempty"`
	Reference      string   `json:"reference"`
	ExternalID     string   `json:"external_id,omitempty"`
	ExternalNumber string   `json:"external_number,omitempty"`
	ExternalURL    string   `json:"external_url,omitempty"`
}

// types of messages, by the item's status.
var types = map[string]string{"confirmed": "item.confirmed", "resolved": "item.resolved", "closed": "item.closed", "review": "item.needs_person"}

// Body is the message's id and its body. Each try sends the same.
func Body(d Delivery) (id string, body []byte, err error) {
	it := d.Item
	id = "out_" + strconv.FormatInt(d.ID, 10)
	body, err = json.Marshal(message{ID: id, Type: types[string(it.Status)], CreatedAt: d.MadeAt.UTC(), Item: messageItem{ID: it.ID, Version: it.Version,
		Key: it.BusinessKey, Automation: it.Automation, System: it.SystemID, Step: it.Step, Steps: it.Steps, Last: it.NextStep() == "", Status: string(it.Status),
		Reason: string(it.Reason), Reference: it.Reference, ExternalID: it.ExternalID, ExternalNumber: it.ExternalNumber, ExternalURL: it.ExternalURL}})
	return id, body, err
}
