package notice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// NotTaken says why a message was not taken, as far as it is known.
type NotTaken struct {
	Text      string // in plain words, what the other side said included; bounded, without secrets
	Permanent bool   // it will not be taken later either
	Unclear   bool   // it may have been taken: the answer was lost
	Away      bool   // the server cannot be reached at all: others would fare no better
}

func (n *NotTaken) Error() string { return n.Text }

const (
	leaseFor   = 3 * time.Minute // longer than any try takes
	tryTime    = 40 * time.Second
	maxTries   = 10
	maxUnclear = 1 // repeats of a message that may have arrived
	perRound   = 200
)

// wait is how long to wait after so many tries: 1, 2, 4 … minutes, at most 4 hours. Ten tries take about 12 hours.
func wait(tries int) time.Duration {
	return min(time.Minute<<min(max(tries-1, 0), 10), 4*time.Hour)
}

// send sends what is due, webhooks first: a mail server that hangs must not keep them back.
func (l *Loop) send(ctx context.Context, list []recipient) error {
	known := map[string]recipient{}
	var hooks []string
	for _, r := range list {
		known[r.key] = r
	}
	for name := range l.cfg.Webhooks {
		hooks = append(hooks, name)
	}
	var errs []error
	if len(hooks) > 0 {
		errs = append(errs, l.sendAll(ctx, known, false, hooks))
	}
	if l.cfg.Mail != nil {
		errs = append(errs, l.sendAll(ctx, known, true, nil))
	}
	return errors.Join(errs...)
}

func (l *Loop) sendAll(ctx context.Context, known map[string]recipient, mail bool, hooks []string) error {
	for range perRound {
		d, err := l.store.ClaimNotice(ctx, l.cfg.Node, leaseFor, mail, hooks)
		if err != nil || d == nil {
			return err
		}
		away, err := l.sendOne(ctx, *d, known)
		if err != nil {
			return fmt.Errorf("message %d: %w", d.ID, err)
		}
		if away && mail { // the rest waits for the next round
			return nil
		}
	}
	return nil
}

// sendOne sends one claimed message and records what came of it.
func (l *Loop) sendOne(ctx context.Context, d Delivery, known map[string]recipient) (away bool, err error) {
	r, there := known[d.Recipient]
	words := l.cfg.Words.Errors
	switch {
	case !there:
		d.Status, d.LastError = Dropped, words["nobody"]
	case d.Unclear > maxUnclear:
		d.Status, d.LastError = Unclear, words["unclear"]
	default:
		d.Address = r.address
		var over bool
		if over, err = l.overMeanwhile(ctx, d, r); err == nil && over {
			d.Status, d.LastError = Dropped, words["over"]
		}
	}
	if err != nil {
		return false, err // the lease ends by itself
	}
	if d.Status == Waits {
		away = l.try(ctx, &d)
	}
	// What was done is recorded even if the server is asked to stop meanwhile.
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	now, err := l.store.Now(closing)
	if err != nil {
		return away, err
	}
	if d.NextAt = now.Add(wait(d.Tries)); d.Status != Waits {
		d.ClosedAt = now
	}
	if err := l.store.CloseNotice(closing, l.cfg.Node, d); err != nil {
		return away, err
	}
	if l.cfg.Tried != nil {
		l.cfg.Tried(d.way(), d.result())
	}
	return away, nil
}

func (d Delivery) way() string {
	if d.ByMail() {
		return "mail"
	}
	return "webhook"
}

func (d Delivery) result() string {
	if d.Status == Waits {
		return "again"
	}
	return string(d.Status)
}

// overMeanwhile reports whether nothing waits any more of what a late message would tell.
func (l *Loop) overMeanwhile(ctx context.Context, d Delivery, r recipient) (bool, error) {
	if d.Tries < 2 || d.Kind != Items && d.Kind != Reminder {
		return false, nil
	}
	all, err := l.store.NoticeWaiting(ctx, r.filter(l.cfg.CompanyID))
	return err == nil && all.Total == 0, err
}

func (l *Loop) try(ctx context.Context, d *Delivery) (away bool) {
	limited, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	var err error
	if d.ByMail() {
		err = l.cfg.Mail.Mail(limited, d.Address, fmt.Sprintf("%d.%d", d.ID, d.MadeAt.UnixMicro()), d.Message, d.MadeAt)
	} else {
		err = l.cfg.Webhooks[strings.TrimPrefix(d.Recipient, webhookPrefix)].Post(limited, d.Message)
	}
	if err == nil {
		d.Status, d.LastError = Sent, ""
		return false
	}
	not := &NotTaken{Text: err.Error()}
	errors.As(err, &not)
	d.LastError = oneLine(not.Text, 300)
	if not.Unclear {
		d.Unclear++
	}
	switch {
	case not.Permanent:
		d.Status = Failed
	case d.Unclear > maxUnclear:
		d.Status = Unclear
	case d.Tries >= maxTries:
		d.Status = Failed
	}
	l.cfg.Log.Warn("a message was not taken", "message", d.ID, "recipient", d.Recipient, "tries", d.Tries, "status", string(d.Status), "error", d.LastError)
	return not.Away
}
