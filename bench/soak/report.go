package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what a soak measured.
type Report struct {
	lasts, settled time.Duration
	machine        string
	trouble        string
	recorder       string
	highest        map[string]float64 // resident memory in MB, by process
	lives          map[string]int
	samples        []sample
	levels         []level
	verdict        verdict
	problems       []string // of the soak itself: a server that ended, a batch that was not taken
	histories      []string // of the items in question
}

// Failed reports whether something happened that must not: a duplicate, a stuck item, or a figure that cannot be trusted.
func (r *Report) Failed() bool { return r.verdict.failed() || len(r.problems) > 0 }

// Write writes the report as Markdown, for docs/operations/capacity.md.
func (r *Report) Write(out io.Writer) error {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	v := r.verdict
	p("Soak of %s, %s.\n%s.\n%s.\n", r.lasts.Round(time.Second), r.machine, r.trouble, r.recorder)
	p("**%s**\n", r.sentence())

	p("| %s, never killed: median of | first third | middle third | last third | at rest | |\n| --- | --- | --- | --- | --- | --- |", steady)
	for _, l := range r.levels {
		p("| %s | %.0f | %.0f | %.0f | %.0f | %s |", l.what, l.first, l.middle, l.last, l.rest, levelWord(l))
	}
	p("\nHighest resident memory in MB, with the number of lives: %s.\n", r.highestMemory())

	p("| after | MB | goroutines | files | connections, all | documents | records | keys with two | confirmed | with a person | open |")
	p("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, s := range r.overTime() {
		x := s.servers[steady]
		open := s.statuses["queued"] + s.statuses["in_progress"] + s.statuses["pending"] + s.statuses["failed"]
		p("| %s | %.0f | %.0f | %.0f | %d | %d | %d | %d | %d | %d | %d |", s.at.Round(time.Second), x.memory, x.goroutines, x.files, s.connections,
			s.recorded, s.records, s.doubles, s.statuses["confirmed"], s.statuses["review"], open)
	}

	p("\n| when everything had settled, %s after the last recording | |\n| --- | --- |", r.settled.Round(time.Second))
	p("| documents recorded | %d |\n| items (steps of documents) | %d |\n| records in the accounting system | %d |", v.documents, v.items, v.records)
	for _, status := range slices.Sorted(maps.Keys(v.statuses)) {
		p("| items %s | %d |", status, v.statuses[status])
	}
	p("| confirmed by a lookup | %d |\n| sent more than once, after proof or with a key that was still good | %d |\n| records that went astray into other books | %d |", v.byLookup, v.resent, v.astray)
	p("| **keys that took effect twice** | **%d** |\n| **stuck items** | **%d** |\n| **other contradictions** | **%d** |", len(v.duplicates), len(v.stuck), len(v.wrong))
	p("\n| with a person, because | items |\n| --- | --- |")
	for _, why := range slices.Sorted(maps.Keys(v.reviews)) {
		p("| %s | %d |", why, v.reviews[why])
	}
	for _, list := range [][]problem{v.duplicates, v.stuck, v.wrong} {
		for i, x := range list {
			if i == 20 {
				p("* and %d more", len(list)-i)
				break
			}
			p("* %s", x.what)
		}
	}
	for _, x := range append(r.problems, r.histories...) {
		p("* %s", x)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// sentence is the verdict in one line.
func (r *Report) sentence() string {
	var grown []string
	for _, l := range r.levels {
		if !l.holds() {
			grown = append(grown, l.what)
		}
	}
	even := "memory and connections are level"
	if len(grown) > 0 {
		even = "NOT LEVEL: " + join(grown)
	}
	s := fmt.Sprintf("%d duplicates, %d stuck items, %d other contradictions; %s.", len(r.verdict.duplicates), len(r.verdict.stuck), len(r.verdict.wrong), even)
	if r.Failed() {
		return "FAILED: " + s
	}
	return "Passed: " + s
}

func levelWord(l level) string {
	if l.holds() {
		return "level"
	}
	return "GROWN"
}

func (r *Report) highestMemory() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.highest)) {
		parts = append(parts, fmt.Sprintf("%s %.0f (%d)", name, r.highest[name], r.lives[name]))
	}
	return join(parts)
}

// overTime is a dozen of the samples.
func (r *Report) overTime() (few []sample) {
	step := max(1, len(r.samples)/12)
	for i := step - 1; i < len(r.samples); i += step {
		few = append(few, r.samples[i])
	}
	return few
}
