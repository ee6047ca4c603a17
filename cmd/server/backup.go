package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/store"
)

func backupCommand() *cobra.Command {
	var db databaseFlags
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the SQLite database to a new file while the server runs, and check the copy",
		Long: "Copy the SQLite database, as it is at one moment, to a new file while the server runs. The copy is checked before the command ends." +
			"\nCopy the key file of the data folder too, to another place: without it nobody can read the logins of accounting systems.\nPostgreSQL is copied with pg_dump.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := store.Copy(cmd.Context(), db.address(), args[0], time.Now())
			if err != nil {
				return ofBackup(err)
			}
			cmd.Printf("%s holds %s.\nWhoever starts a server on it sends nothing before it was looked for.\n", args[0], holds(b))
			return nil
		},
	}
	db.add(cmd)
	return cmd
}

func restoreCommand() *cobra.Command {
	var db databaseFlags
	var force bool
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a copy of the SQLite database back; afterwards everything is looked for before it is sent",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			aside := ""
			if force {
				aside = ".replaced-" + now.UTC().Format("20060102T150405Z")
			}
			b, err := store.PutBack(cmd.Context(), db.address(), args[0], aside, now)
			if errors.Is(err, store.ErrFileExists) {
				return badly(fmt.Errorf("%w; with --force it is moved aside", err))
			}
			if err != nil {
				return ofBackup(err)
			}
			cmd.Printf("%s is put back: %s.\n", args[0], holds(b))
			if force {
				cmd.Printf("What was there ends in %s now.\n", aside)
			}
			cmd.Println("Nothing is sent before it was looked for, until an admin ends that on the page of each accounting system. Everybody signs in again.")
			return nil
		},
	}
	db.add(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "move the database that is there aside")
	return cmd
}

// holds says what is in a copy.
func holds(b store.Backup) string {
	newest := "nothing has happened in it"
	if !b.Newest.IsZero() {
		newest = "the newest change is of " + b.Newest.Format("2006-01-02 15:04:05 MST")
	}
	return fmt.Sprintf("%d items (%d of them open) and %d attempts, schema %d, %d bytes; %s", b.Items, b.Open, b.Attempts, b.Schema, b.Size, newest)
}

func ofBackup(err error) error {
	for _, input := range []error{store.ErrIsPostgres, store.ErrFileExists, store.ErrUnknownFile, store.ErrNotOnefold} {
		if errors.Is(err, input) {
			return badly(err)
		}
	}
	return err
}

// address is where the database is.
func (d *databaseFlags) address() string {
	if d.database == "" {
		return filepath.Join(d.data, "onefold.db")
	}
	return d.database
}
