// Package telemetry tells machines how a server is doing: metrics for Prometheus, traces for OpenTelemetry, and what logs
// carry of both. It is told by others and never decides, waits or fails for them. Neither metrics nor traces hold a
// customer's data, an error's text or a secret: only names of ours, ids and numbers.
package telemetry

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Build says what program this is.
type Build struct {
	Version string // of the module; "(devel)" if it was built from a working copy
	Commit  string // empty: not known
	Changed bool   // the working copy had changes that were not committed
	Time    string // of the commit
	Go      string
}

// ThisBuild is that of the running program, as the Go tool wrote it into it.
func ThisBuild() Build {
	b := Build{Version: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version, b.Go = cmp.Or(info.Main.Version, "unknown"), info.GoVersion
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

// String is one line for people.
func (b Build) String() string {
	text := b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit
		if b.Time != "" {
			text += " of " + b.Time
		}
		if b.Changed {
			text += " with changes"
		}
	}
	return text + ", " + b.Go
}
