package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/store"
)

// databaseFlags say where the database is. They are the same for every sub-command.
type databaseFlags struct {
	database string
	data     string
	node     string

	connections int // most to PostgreSQL; 0: the store's own default
}

func (d *databaseFlags) add(cmd *cobra.Command) {
	host, _ := os.Hostname()
	cmd.Flags().StringVar(&d.database, "database", "", "postgres://… or the path of an SQLite file (default: onefold.db in the data folder)")
	cmd.Flags().StringVar(&d.data, "data", "data", "the folder of this server's own files")
	cmd.Flags().StringVar(&d.node, "node", fmt.Sprintf("%s-%d", host, os.Getpid()), "this server's name; unique among the servers on one database")
}

func (d *databaseFlags) open(ctx context.Context, log *slog.Logger) (*store.Store, error) {
	if d.database == "" {
		if err := os.MkdirAll(d.data, 0o700); err != nil {
			return nil, fmt.Errorf("the data folder cannot be made: %w", err)
		}
	}
	return store.Open(ctx, store.Config{URL: d.address(), Node: d.node, Log: log, Mark: d.mark(), MaxConns: d.connections})
}

// patience is how long a server that starts waits for a database that cannot be reached: it may be starting too.
const patience = time.Minute

func (d *databaseFlags) openPatiently(ctx context.Context, log *slog.Logger) (st *store.Store, err error) {
	d.makeFolder(log)
	return patiently(log, func(wait time.Duration) bool {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}, func() (*store.Store, error) { return d.open(ctx, log) })
}

// patiently tries again while the database is away, each time after a longer wait; pause reports whether it ended by
// itself.
func patiently(log *slog.Logger, pause func(time.Duration) bool, open func() (*store.Store, error)) (st *store.Store, err error) {
	waited := time.Duration(0)
	for wait := time.Second; ; wait = min(2*wait, patience-waited) {
		if st, err = open(); !store.IsAway(err) || waited >= patience {
			return st, err
		}
		log.Warn(err.Error()+"; trying again", "in", wait)
		if !pause(wait) {
			return nil, err
		}
		waited += wait
	}
}

// makeFolder makes the folder in which a server on PostgreSQL remembers what it sent. It serves without it, but says so: nothing
// else tells an older copy of the database's disk.
func (d *databaseFlags) makeFolder(log *slog.Logger) {
	if !strings.HasPrefix(d.database, "postgres://") && !strings.HasPrefix(d.database, "postgresql://") {
		return
	}
	if err := os.MkdirAll(d.data, 0o700); err != nil {
		log.Warn("the data folder cannot be made, so this server does not remember what it sent: an older copy of the database that is put back may not be noticed."+
			" After a restore run onefold look-first before the first server starts", "error", err)
	}
}

// mark is the file in which this server remembers what it sent; only where it has a folder of its own.
func (d *databaseFlags) mark() string {
	if info, err := os.Stat(d.data); err != nil || !info.IsDir() {
		return ""
	}
	return filepath.Join(d.data, "onefold.mark")
}

func migrateCommand() *cobra.Command {
	var db databaseFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database to this version's schema (serve does it too)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := db.open(cmd.Context(), slog.Default())
			if err != nil {
				return err
			}
			defer s.Close()
			cmd.Println("The database is up to date.")
			return nil
		},
	}
	db.add(cmd)
	return cmd
}
