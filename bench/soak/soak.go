// Package soak lets real servers work for a long time against an accounting system with all faults on, while servers are
// killed and the database goes away, and watches their memory and connections. At the end everything settles, and the
// accounting system's own file is compared with the database.
package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"onefold/internal/ledger/sandbox"
)

// Config says how a soak is made.
type Config struct {
	Postgres string        // a server on which databases may be made
	Lasts    time.Duration // of the recording, the faults and the disturbances
	Progress io.Writer     // told a line for each sample
}

const (
	sampleEvery = 10 * time.Second
	quiet       = 2 * time.Minute  // until that is called rest: idle connections to the accounting system are closed by then
	settling    = 10 * time.Minute // bound for everything to settle: what moves then is stuck
)

// stage is what a soak runs on.
type stage struct {
	Config
	dir      string
	database *database
	outside  *outside
	servers  []*onefold
	recorder *recorder
	sampler  *sampler
	trouble  *trouble
	report   Report
}

// Run makes a soak. An error says that it could not be made; what it found is in the report. The folder with the logs is
// removed if all is well.
func Run(ctx context.Context, c Config) (*Report, error) {
	if c.Lasts < 2*time.Minute || c.Lasts > 24*time.Hour {
		return nil, errors.New("a soak lasts from 2 minutes to a day")
	}
	dir, err := os.MkdirTemp("", "onefold-soak-")
	if err != nil {
		return nil, err
	}
	s := &stage{Config: c, dir: dir, report: Report{lasts: c.Lasts, highest: map[string]float64{}, lives: map[string]int{}}}
	err = s.set(ctx)
	if err == nil {
		err = s.play(ctx)
	}
	s.end()
	if err != nil {
		return nil, fmt.Errorf("%w (logs are in %s)", err, dir)
	}
	if s.report.Failed() {
		fmt.Fprintf(c.Progress, "logs are in %s, the database %s is kept\n", dir, databaseName)
		return &s.report, nil
	}
	return &s.report, os.RemoveAll(dir)
}

// set starts everything.
func (s *stage) set(ctx context.Context) (err error) {
	binary, err := build(ctx, s.dir)
	if err != nil {
		return err
	}
	if s.database, err = newDatabase(ctx, s.Postgres); err != nil {
		return err
	}
	seed := rand.Uint64()
	if s.outside, err = startOutside(ctx, s.dir, binary, stickyReferences(s.Lasts), seed); err != nil {
		return err
	}
	for _, p := range sandbox.Personalities {
		if err := connect(ctx, s.dir, binary, s.database.url, s.outside.address, p); err != nil {
			return err
		}
	}
	if err := begin(ctx, s.database.url); err != nil {
		return err
	}
	for _, node := range []string{steady, "node-b", "node-c"} {
		o, err := newOnefold(s.dir, binary, s.database.url, node)
		if err != nil {
			return err
		}
		s.servers = append(s.servers, o)
		if err := errors.Join(o.start(), o.ready(ctx)); err != nil {
			return err
		}
	}
	var version string
	if err := s.database.pool.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&version); err != nil {
		return err
	}
	s.report.machine = fmt.Sprintf("begun %s; %d cores, PostgreSQL %s, %s",
		time.Now().UTC().Format("2 January 2006, 15:04 UTC"), runtime.NumCPU(), strings.Fields(version)[0], runtime.Version())
	s.recorder = &recorder{servers: s.servers}
	s.sampler = &sampler{servers: s.servers, outside: s.outside, database: s.database, journal: newJournal(s.outside.journal), recorder: s.recorder, begun: time.Now()}
	s.trouble = &trouble{servers: s.servers[1:], outside: s.outside, database: s.database}
	return nil
}

// play records and disturbs for the time, lets everything settle and judges.
func (s *stage) play(ctx context.Context) error {
	during, over := context.WithTimeout(ctx, s.Lasts)
	defer over()
	recorded, disturbed := make(chan error, 1), make(chan struct{})
	go func() {
		err := s.recorder.run(during, rand.New(rand.NewPCG(rand.Uint64(), 1)))
		if err != nil { // the rest would show nothing
			over()
		}
		recorded <- err
	}()
	go func() {
		defer close(disturbed)
		s.trouble.run(during, s.Lasts, rand.New(rand.NewPCG(rand.Uint64(), 2)))
	}()
	for pause(during, sampleEvery) {
		if n, err := s.sample(ctx); err == nil {
			s.report.samples = append(s.report.samples, n)
		}
	}
	<-disturbed
	if err := <-recorded; err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.report.problems = append(s.report.problems, s.trouble.problems...)
	calm := time.Now()
	if err := s.outside.behave(ctx); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.report.settled = time.Since(calm)
	pause(ctx, quiet)
	rest, err := s.sample(ctx)
	if err != nil {
		return err
	}
	s.report.levels = levels(s.report.samples, rest)
	s.stop(ctx)
	return s.judge(ctx)
}

// sample looks once, and tells who watches.
func (s *stage) sample(ctx context.Context) (sample, error) {
	n, err := s.sampler.take(ctx)
	if err != nil {
		fmt.Fprintf(s.Progress, "%6s  no figures: %v\n", n.at.Round(time.Second), err)
		return n, err
	}
	for name, v := range n.servers {
		s.report.highest[name] = max(s.report.highest[name], v.memory)
	}
	s.report.highest["accounting system"] = max(s.report.highest["accounting system"], n.outside.memory)
	fmt.Fprintln(s.Progress, n.line())
	return n, nil
}

// settle waits until nothing moves any more, or until whatever still does is stuck.
func (s *stage) settle(ctx context.Context) error {
	began := time.Now()
	for told := began; ; {
		n, err := s.database.moving(ctx)
		if err != nil {
			return err
		}
		if n == 0 || time.Since(began) > settling {
			return nil
		}
		if time.Since(told) > sampleEvery {
			told = time.Now()
			fmt.Fprintf(s.Progress, "%d items still move\n", n)
		}
		if !pause(ctx, 500*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// stop asks every server to end: each lets its calls finish and leaves no connection behind.
func (s *stage) stop(ctx context.Context) {
	problem := func(format string, args ...any) {
		s.report.problems = append(s.report.problems, fmt.Sprintf(format, args...))
	}
	for _, p := range s.servers {
		s.report.lives[p.name] = p.lives
		if err := p.stop(30 * time.Second); err != nil {
			problem("%s: %v: see %s", p.name, err, p.log)
		}
		if text, err := os.ReadFile(p.log); err != nil || bytes.Contains(text, []byte("panic")) {
			problem("%s panicked (%v): see %s", p.name, err, p.log)
		}
	}
	s.report.lives["accounting system"] = s.outside.lives
	left, err := s.database.connections(ctx)
	if err != nil || len(left) > 0 {
		problem("after the servers had ended there were connections of theirs: %v %v", left, err)
	}
}

func (s *stage) judge(ctx context.Context) error {
	items, err := s.database.items(ctx)
	if err != nil {
		return err
	}
	if err := s.sampler.journal.read(); err != nil {
		return err
	}
	r := &s.report
	r.verdict = judge(items, s.sampler.journal, int(s.recorder.taken.Load()))
	r.trouble = "In this time: " + s.trouble.String()
	r.recorder = fmt.Sprintf("%d documents a second; %d batches were posted again because no answer came, %d twice on purpose", perSecond,
		s.recorder.again.Load(), s.recorder.twice.Load())
	asked := append(append(append([]problem{}, r.verdict.duplicates...), r.verdict.stuck...), r.verdict.wrong...)
	for _, p := range asked[:min(len(asked), 10)] {
		if p.item == 0 {
			continue
		}
		lines, err := s.database.history(ctx, p.item)
		if err != nil {
			return err
		}
		r.histories = append(r.histories, fmt.Sprintf("item %d: %s", p.item, strings.Join(lines, "; ")))
	}
	return nil
}

// end ends everything that still runs.
func (s *stage) end() {
	for _, p := range s.servers {
		p.kill()
	}
	if s.outside != nil {
		s.outside.kill()
	}
	if s.database != nil && s.database.pool != nil {
		s.database.pool.Close()
	}
	os.Remove(filepath.Join(s.dir, "onefold")) // the binary is large
}
