package main

import (
	"context"
	"runtime/debug"

	"onefold/internal/automation"
	"onefold/internal/store"
)

// heartbeat tells the other servers of this one.
func heartbeat(st *store.Store, o serverOptions) *automation.Heartbeat {
	return &automation.Heartbeat{Store: st, Name: o.node, Version: shortVersion(), Log: o.log}
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

// shortVersion is the version of this program and the commit that it was built from, as far as they are known.
func shortVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) > 12 {
			version += " " + s.Value[:12]
		}
	}
	return version
}
