package main

import (
	"context"

	"onefold/internal/automation"
	"onefold/internal/store"
	"onefold/internal/telemetry"
)

// heartbeat tells the other servers of this one.
func heartbeat(st *store.Store, o serverOptions, m *telemetry.Metrics) *automation.Heartbeat {
	return &automation.Heartbeat{Store: st, Name: o.node, Version: telemetry.ThisBuild().Short(), Log: o.log, Clock: m.ClockAhead}
}

// beat runs the heartbeat until what it returns is called: after everything else has ended. When ctx ends it says that the
// server stops.
func (s *process) beat(ctx context.Context) (end func()) {
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.heart.Run(beating, ctx.Done()) // it logs
	}()
	return func() {
		stop()
		<-done
	}
}
