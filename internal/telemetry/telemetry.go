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
	Version string // as it was told when it was built, or that of the module; "(devel)" if neither is known
	Commit  string // empty: not known
	Changed bool   // the working copy had changes that were not committed
	Time    string // of the commit
	Go      string
}

// Told by the linker (-X) where the Go tool cannot see the repository, as in the Dockerfile.
var version, commit string

// ThisBuild is that of the running program: what was told when it was built, else what the Go tool wrote into it.
func ThisBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: cmp.Or(version, "unknown"), Commit: commit, Go: runtime.Version()}
	}
	return buildOf(info, version, commit)
}

func buildOf(info *debug.BuildInfo, version, commit string) Build {
	b := Build{Version: cmp.Or(version, info.Main.Version, "unknown"), Commit: commit, Go: info.GoVersion}
	if commit != "" {
		return b
	}
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

// Short is the version and the beginning of the commit, as far as they are known.
func (b Build) Short() string {
	if b.Commit == "" {
		return b.Version
	}
	return b.Version + " " + b.Commit[:min(len(b.Commit), 12)]
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
