package soak

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is one look at everything.
type sample struct {
	at          time.Duration // since the recording began
	servers     map[string]vitals
	outside     vitals
	connections int // of all servers to the database
	statuses    map[string]int
	recorded    int // documents
	records     int // in the accounting system
	doubles     int // keys with more than one
}

// vitals are those of one process.
type vitals struct {
	memory      float64 // VmRSS in MB
	heap        float64 // MB at which the collector would run again: five times what it kept
	goroutines  float64
	files       float64
	connections float64 // to the database
}

// sampler looks at the processes and the databases.
type sampler struct {
	servers  []*onefold
	outside  *outside
	database *database
	journal  *journal
	recorder *recorder
	begun    time.Time
}

// take looks once. A server that is down at the time is missing.
func (s *sampler) take(ctx context.Context) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, 8*time.Second)
	defer cancel()
	n := sample{at: time.Since(s.begun), servers: map[string]vitals{}, recorded: int(s.recorder.taken.Load())}
	connections, err := s.database.connections(ctx)
	if err != nil {
		return n, err
	}
	if n.statuses, err = s.database.statuses(ctx); err != nil {
		return n, err
	}
	for _, c := range connections {
		n.connections += c
	}
	if err := s.journal.read(); err != nil {
		return n, err
	}
	n.records, n.doubles = s.journal.records, s.journal.doubles
	n.outside, _ = ofProcess(s.outside.process)
	for _, p := range s.servers {
		v, err := ofProcess(p.process)
		if err != nil {
			continue // it is down
		}
		v.connections = float64(connections[p.name])
		if told, err := scrape(ctx, p.metrics); err == nil {
			v.goroutines, v.heap = told["go_goroutines"], told["go_memstats_next_gc_bytes"]/1e6
		}
		n.servers[p.name] = v
	}
	return n, nil
}

// ofProcess reads what the system knows about a process.
func ofProcess(p *process) (vitals, error) {
	pid, _ := p.running()
	if pid == 0 {
		return vitals{}, os.ErrProcessDone
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return vitals{}, err
	}
	var v vitals
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			v.memory = kb * 1024 / 1e6
		}
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	v.files = float64(len(files))
	return v, err
}

// scrape reads the metrics that have no labels.
func scrape(ctx context.Context, url string) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	told := map[string]float64{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if what, value, ok := strings.Cut(lines.Text(), " "); ok {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				told[what] = n
			}
		}
	}
	return told, lines.Err()
}

// line is a sample for somebody who watches.
func (n sample) line() string {
	v := n.servers[steady]
	return fmt.Sprintf("%6s  %s: %.0f MB, %.0f goroutines, %.0f files, %.0f connections (all: %d); %d recorded, %d records, %d twice; %s",
		n.at.Round(time.Second), steady, v.memory, v.goroutines, v.files, v.connections, n.connections, n.recorded, n.records, n.doubles, listed(n.statuses))
}

func listed(counts map[string]int) string {
	var parts []string
	for what, n := range counts {
		parts = append(parts, fmt.Sprintf("%s %d", what, n))
	}
	slices.Sort(parts)
	return join(parts)
}

func join(parts []string) string { return strings.Join(parts, ", ") }
