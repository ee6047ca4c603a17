package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// wakeChannel carries the ids of systems with new work between servers.
const wakeChannel = "onefold_work"

// listen hears the other servers' wake-ups on a connection of its own. Whatever was missed while it was down is made good
// by waking every system; polling is the net below.
func (p *postgres) listen(ctx context.Context, s *Store) {
	go p.stayWith(ctx)
	wait := 100 * time.Millisecond
	for ctx.Err() == nil {
		if heard := p.hear(ctx, s); heard {
			wait = 100 * time.Millisecond
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// hear listens until the connection is lost; it reports whether it had one.
func (p *postgres) hear(ctx context.Context, s *Store) bool {
	conn, err := pgx.ConnectConfig(ctx, p.pool.Config().ConnConfig)
	if err != nil {
		return false
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing) // it is lost anyway
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+wakeChannel); err != nil {
		return false
	}
	if systems, err := s.Systems(ctx); err == nil {
		all := make(map[string]bool, len(systems))
		for _, sys := range systems {
			all[sys.ID] = true
		}
		s.hub.wake(all)
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.cfg.Log.Warn("the wake-up connection to the database was lost, it is made again", "error", err)
			}
			return true
		}
		s.hub.wake(map[string]bool{n.Payload: true})
	}
}

// recogniseEvery is how often the database is compared with the one that we know, beside each new connection: a dump that is
// loaded over it leaves connections as they are. Claims compare by themselves.
var recogniseEvery = 15 * time.Second

func (p *postgres) stayWith(ctx context.Context) {
	tick := time.NewTicker(recogniseEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := p.recogniseNow(ctx); err != nil && ctx.Err() == nil {
				p.store.cfg.Log.Warn("the database could not be compared with the one that we know", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (p *postgres) recogniseNow(ctx context.Context) error {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return p.explain(err)
	}
	defer conn.Release()
	return p.recognise(ctx, conn.Conn())
}
