package review

import (
	"context"
	"time"

	"onefold/internal/work"
)

// ServerStore is what the page of the servers needs from the database.
type ServerStore interface {
	Now(ctx context.Context) (time.Time, error)
	// Servers returns every server that was seen lately, by name; no more than work.ShownServers.
	Servers(ctx context.Context) ([]work.Server, error)
	// HeldCalls returns the open attempts of each server, by system.
	HeldCalls(ctx context.Context) ([]HeldCalls, error)
	// HeldRuns returns what each server does in the background.
	HeldRuns(ctx context.Context) ([]HeldRun, error)
}

// HeldCalls are the open attempts of one server at one accounting system.
type HeldCalls struct {
	Server, SystemID string
	Count            int64
	Until            time.Time // the last of their leases; from then on the other servers go on
}

// HeldRun is something that a server does in the background: "bulk", "import", "proof", "figures" or "retention"; the last
// two have no number.
type HeldRun struct {
	Server, Kind string
	ID           int64
	Until        time.Time // as above
}

// ServerState is one server with what it holds.
type ServerState struct {
	work.Server
	State work.ServerState
	Calls []HeldCalls
	Runs  []HeldRun
}

// Servers shows the servers on this database.
type Servers struct{ store ServerStore }

// NewServers returns the service.
func NewServers(store ServerStore) *Servers { return &Servers{store} }

// MayWatch reports whether the person may see the servers.
func MayWatch(by work.Actor) bool { return by.Can(work.Operator, work.Ops, work.Admin) }

// List returns every server with what it holds, and the time by the database's clock. Whoever holds something and is not
// on the list any more, or was never, is at the end, without a sign of life.
func (s *Servers) List(ctx context.Context, by work.Actor) (list []ServerState, now time.Time, err error) {
	if !MayWatch(by) {
		return nil, now, ErrForbidden
	}
	if now, err = s.store.Now(ctx); err != nil {
		return nil, now, err
	}
	servers, err := s.store.Servers(ctx)
	if err != nil {
		return nil, now, err
	}
	calls, err := s.store.HeldCalls(ctx)
	if err != nil {
		return nil, now, err
	}
	runs, err := s.store.HeldRuns(ctx)
	if err != nil {
		return nil, now, err
	}
	place := map[string]int{}
	at := func(name string) *ServerState {
		i, known := place[name]
		if !known {
			i = len(list)
			place[name] = i
			list = append(list, ServerState{Server: work.Server{Name: name}, State: work.ServerSilent})
		}
		return &list[i]
	}
	for _, one := range servers {
		*at(one.Name) = ServerState{Server: one, State: one.State(now)}
	}
	for _, c := range calls {
		one := at(c.Server)
		one.Calls = append(one.Calls, c)
	}
	for _, r := range runs {
		one := at(r.Server)
		one.Runs = append(one.Runs, r)
	}
	return list, now, nil
}
