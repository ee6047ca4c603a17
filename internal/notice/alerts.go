package notice

import (
	"context"
	"slices"
	"time"
)

// alertAge is how long an alert must be open before people are told: what often ends by itself must last.
func alertAge(cause string) time.Duration {
	if cause == "breaker" {
		return 15 * time.Minute
	}
	return 0
}

// alerts are the messages about alerts that are due. Of one system and cause people are told again only after a while,
// however often it comes and goes.
func (l *Loop) alerts(ctx context.Context, now time.Time, r recipient, c composer, foot string) (messages []Delivery, told []Told, err error) {
	if !r.Alerts {
		return nil, nil, nil
	}
	list, err := l.store.NoticeAlerts(ctx, r.key)
	if err != nil {
		return nil, nil, err
	}
	var on, off []AlertState
	for _, a := range list {
		switch {
		case len(r.Systems) > 0 && !slices.Contains(r.Systems, a.SystemID):
		case a.Over:
			off = append(off, a)
			told = append(told, Told{a, true})
		case a.Told || now.Sub(a.RaisedAt) < alertAge(a.Cause) || !a.LastOne.IsZero() && now.Sub(a.LastOne) < l.cfg.Digest:
		default:
			on = append(on, a)
			told = append(told, Told{a, false})
		}
	}
	if len(off) > 0 {
		messages = append(messages, Delivery{Kind: AlertOff, Message: c.alerts(off, true, foot)})
	}
	if len(on) > 0 {
		messages = append(messages, Delivery{Kind: AlertOn, Message: c.alerts(on, false, foot)})
	}
	return messages, told, nil
}
