package telemetry

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// A container's build sees no repository: without what it is told nobody could tell two versions apart.
func TestABuildIsWhatItWasTold(t *testing.T) {
	seen := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v0.0.0-2026"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "aaaaaaaaaaaaaaaaaaaa"}, {Key: "vcs.time", Value: "2026-11-30T10:00:00Z"}, {Key: "vcs.modified", Value: "true"}}}
	blind := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "(devel)"}}
	for _, c := range []struct {
		name            string
		info            *debug.BuildInfo
		version, commit string
		whole, short    string
	}{
		{"a working copy", seen, "", "", "v0.0.0-2026, commit aaaaaaaaaaaaaaaaaaaa of 2026-11-30T10:00:00Z with changes, go1.26", "v0.0.0-2026 aaaaaaaaaaaa"},
		{"a container", blind, "1.2.0", "bbbbbbbbbbbbbbbbbbbb", "1.2.0, commit bbbbbbbbbbbbbbbbbbbb, go1.26", "1.2.0 bbbbbbbbbbbb"},
		{"a container that was told nothing", blind, "", "", "(devel), go1.26", "(devel)"},
		{"both", seen, "1.2.0", "bbbb", "1.2.0, commit bbbb, go1.26", "1.2.0 bbbb"},
		{"a version only", seen, "1.2.0", "", "1.2.0, commit aaaaaaaaaaaaaaaaaaaa of 2026-11-30T10:00:00Z with changes, go1.26", "1.2.0 aaaaaaaaaaaa"},
	} {
		if b := buildOf(c.info, c.version, c.commit); b.String() != c.whole || b.Short() != c.short {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, b, b.Short(), c.whole, c.short)
		}
	}
}

// The linker is silent about a name that is not there.
func TestTheContainerTellsItsBuild(t *testing.T) {
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("telemetry.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), "\nvar version, commit string\n") {
		t.Error("other variables hold the build: change the Dockerfile and this test")
	}
	for _, want := range []string{"\nARG VERSION=\n", "\nARG COMMIT=\n", "-X onefold/internal/telemetry.version=$VERSION ", "-X onefold/internal/telemetry.commit=$COMMIT"} {
		if !strings.Contains(string(dockerfile), want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
}
