package notice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"onefold/internal/work"
)

// Config says how people are told.
type Config struct {
	Store     Store
	CompanyID int64             // 0: 1
	Node      string            // this server's name; unique among the servers on one database
	Mail      Mailer            // nil: no e-mails
	Webhooks  map[string]Poster // by name
	PublicURL string            // the address under which people reach the pages, for links
	Words     Words
	Zone      *time.Location  // the firm's; nil: UTC
	Digest    time.Duration   // between two messages about new items; 0: 30 minutes
	Gather    time.Duration   // how long the first new item waits for others; 0: 30 seconds; below 0: not at all
	Hour      int             // of the daily reminder on webhooks; below 0: none
	Wake      <-chan struct{} // tells Run that something waits to be sent; nil: nothing does
	Log       *slog.Logger    // nil: silent

	// Tried is told of each try to send: way is "mail" or "webhook"; result as it is recorded, "again" if it will be tried again. nil: nobody
	Tried func(way, result string)
}

// Mailer sends e-mails. It returns a *NotTaken unless the mail was taken.
type Mailer interface {
	Mail(ctx context.Context, to, id string, m Message, at time.Time) error
}

// Poster sends to one webhook, likewise.
type Poster interface {
	Post(ctx context.Context, m Message) error
}

// Loop tells people. It is safe to run on any number of servers with one database: each message is made once and sent by
// one of them. A server that dies after it sent and before it recorded that leads to at most one repeat.
type Loop struct {
	cfg   Config
	store Store
	swept time.Time
}

// NewLoop returns the loop.
func NewLoop(c Config) *Loop {
	c.CompanyID = cmp.Or(c.CompanyID, 1)
	c.Digest = cmp.Or(c.Digest, 30*time.Minute)
	c.Gather = cmp.Or(c.Gather, 30*time.Second)
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Loop{cfg: c, store: c.Store}
}

const tick = 15 * time.Second

// Run calls RunOnce every few seconds, and when it is woken, until ctx ends. Errors are logged only.
func (l *Loop) Run(ctx context.Context) error {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		if err := l.RunOnce(ctx); err != nil && ctx.Err() == nil {
			l.cfg.Log.Error("people could not be told", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		case <-l.cfg.Wake:
		}
	}
}

// RunOnce makes the messages that are due and sends those that wait. How often it is called does not matter.
func (l *Loop) RunOnce(ctx context.Context) error {
	now, err := l.store.Now(ctx)
	if err != nil {
		return err
	}
	list, err := l.recipients(ctx)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if err := l.make(ctx, now, list); err != nil {
			return err
		}
	}
	if now.Sub(l.swept) >= time.Hour {
		if err := l.store.SweepNotices(ctx, now.Add(-giveUpAfter), now.Add(-keepFor)); err != nil {
			return err
		}
		l.swept = now
	}
	return l.send(ctx, list)
}

const (
	giveUpAfter = 3 * 24 * time.Hour // a message that no server can send: its webhook is gone
	keepFor     = 90 * 24 * time.Hour
)

// recipients are all who can be told at present: persons with an address and a right to read, and webhooks.
func (l *Loop) recipients(ctx context.Context) ([]recipient, error) {
	var list []recipient
	if l.cfg.Mail != nil {
		people, err := l.store.NoticePeople(ctx, l.cfg.CompanyID)
		if err != nil {
			return nil, err
		}
		for _, p := range people {
			if GoodAddress(p.Email) && (work.Actor{Roles: p.Roles}).Can(work.Viewer, work.Operator, work.Ops, work.Admin) {
				list = append(list, recipient{key: p.key(), name: p.Name, address: p.Email, person: p, Settings: p.Settings})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.cfg.Webhooks)) {
		list = append(list, recipient{key: webhookPrefix + name, name: name, Settings: Settings{Items: AtOnce, Alerts: true, Hour: l.cfg.Hour}})
	}
	return list, nil
}

// recipient is one who is told.
type recipient struct {
	Settings
	key, name, address string
	person             Person // of an e-mail
}

// filter are the waiting items that the recipient wants to know of.
func (r recipient) filter(companyID int64) Filter {
	f := Filter{CompanyID: companyID, Systems: r.Systems}
	if r.Mine {
		f.Assigned = r.person.Name
	}
	return f
}

// make makes the messages that are due.
func (l *Loop) make(ctx context.Context, now time.Time, list []recipient) error {
	round, err := l.store.NoticeRound(ctx, l.cfg.CompanyID)
	if err != nil {
		return err
	}
	systems, err := l.store.Systems(ctx)
	if err != nil {
		return err
	}
	c := composer{words: l.cfg.Words, base: l.cfg.PublicURL, systems: map[string]work.System{}, seen: map[string]Waiting{}}
	for _, s := range systems {
		c.systems[s.ID] = s
	}
	var errs []error
	for _, r := range list {
		if err := l.makeFor(ctx, now, round, r, c); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.key, err))
		}
	}
	return errors.Join(errs...)
}

func (l *Loop) makeFor(ctx context.Context, now time.Time, round int64, r recipient, c composer) error {
	was, err := l.store.NoticeState(ctx, r.key)
	if err != nil {
		return err
	}
	is, foot := was, l.cfg.Words.FootWebhook
	if r.address != "" {
		foot = l.cfg.Words.FootPerson
	}
	messages, told, err := l.alerts(ctx, now, r, c, foot)
	if err != nil {
		return err
	}
	m, kind, err := l.items(ctx, now, round, r, &is, c, foot)
	if err != nil {
		return err
	}
	if m != nil {
		messages = append(messages, Delivery{Kind: kind, Message: *m})
	}
	if is == was && len(messages) == 0 && len(told) == 0 {
		return nil
	}
	for i := range messages {
		d := &messages[i]
		d.CompanyID, d.Recipient, d.Name, d.Address, d.Status, d.MadeAt, d.NextAt = l.cfg.CompanyID, r.key, r.name, r.address, Waits, now, now
	}
	_, err = l.store.RecordNotices(ctx, is, messages, told)
	return err
}

// items is the message about items that is due, if one is, and moves the state.
func (l *Loop) items(ctx context.Context, now time.Time, round int64, r recipient, st *State, c composer, foot string) (*Message, Kind, error) {
	was := *st
	if r.Items == Off || st.Unsent { // no pile of messages behind one that cannot be sent
		return nil, "", nil
	}
	f := r.filter(l.cfg.CompanyID)
	if day := l.remindOn(now, r, *st); day != "" {
		all, err := l.waiting(ctx, c, f)
		if err != nil {
			return nil, "", err
		}
		st.Reminded = day
		if all.Total == 0 {
			return nil, "", nil
		}
		st.Told = round
		m := c.waiting(nil, all, f, foot)
		return &m, Reminder, nil
	}
	if r.Items != AtOnce || round <= st.Told || !st.ItemsAt.IsZero() && now.Sub(st.ItemsAt) < l.cfg.Digest {
		return nil, "", nil
	}
	if day, passed := l.day(now, r); st.Version == 0 && passed {
		st.Reminded = day
	}
	latest := f
	latest.After, latest.UpTo = st.Told, round
	if r.Mine {
		latest.NotBy = r.person.actorID()
	}
	fresh, err := l.waiting(ctx, c, latest)
	switch {
	case err != nil:
		return nil, "", err
	case fresh.Total == 0:
		st.Told = round
		return nil, "", nil
	case now.Sub(fresh.Since) < l.cfg.Gather:
		*st = was
		return nil, "", nil
	}
	all, err := l.waiting(ctx, c, f)
	if err != nil {
		return nil, "", err
	}
	st.Told, st.ItemsAt = round, now
	m := c.waiting(&fresh, all, f, foot)
	return &m, Items, nil
}

const dayFormat = "2006-01-02"

// waiting is what waits; recipients with the same wishes are answered by one look in each round.
func (l *Loop) waiting(ctx context.Context, c composer, f Filter) (Waiting, error) {
	key := fmt.Sprintf("%+v", f)
	w, known := c.seen[key]
	if known {
		return w, nil
	}
	w, err := l.store.NoticeWaiting(ctx, f)
	if err == nil {
		c.seen[key] = w
	}
	return w, err
}

// remindOn is the day whose reminder is due, or empty. The day is the reminder's key: each has one, however often and
// however late one looks. Not on the day on which its hour was chosen after it had passed, and not right after another
// message about items.
func (l *Loop) remindOn(now time.Time, r recipient, st State) string {
	day, passed := l.day(now, r)
	chosen, late := l.day(r.ChangedAt, r)
	switch {
	case !passed || st.Reminded >= day,
		st.Version == 0 && r.Items == AtOnce, // the first message of all tells of everything that waits
		!r.ChangedAt.IsZero() && chosen == day && late,
		!st.ItemsAt.IsZero() && now.Sub(st.ItemsAt) < l.cfg.Digest:
		return ""
	}
	return day
}

// day is the day in the firm's zone, and whether the hour of the recipient's reminder has come.
func (l *Loop) day(t time.Time, r recipient) (day string, passed bool) {
	local := t.In(l.cfg.Zone)
	return local.Format(dayFormat), r.Hour >= 0 && local.Hour() >= r.Hour
}

func (p Person) actorID() string {
	if p.ID == 0 {
		return ""
	}
	return strings.TrimPrefix(p.key(), "person:")
}
