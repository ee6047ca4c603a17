package main

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/automation"
	"onefold/internal/work"
)

func importCommand() *cobra.Command {
	var db databaseFlags
	var zone string
	var unproven bool
	o := automation.ImportOptions{By: work.Actor{Kind: work.Console, ID: "import", Name: "import"}}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Record the invoices of a CSV file; repeating it creates nothing twice",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			firm, err := time.LoadLocation(zone)
			if err != nil {
				return fmt.Errorf("the zone %q is not known: use a name such as Europe/Berlin", zone)
			}
			st, err := db.open(cmd.Context(), slog.Default())
			if err != nil {
				return err
			}
			defer st.Close()
			if o.Source == "" {
				o.Source = "file:" + filepath.Base(args[0])
			}
			read := func() error {
				return automation.ImportFile(cmd.Context(), automation.Importer{Intake: automation.Intake{Store: st, Zone: firm}}, args[0], o, cmd.OutOrStdout())
			}
			err = read()
			var never *automation.Unproven
			if errors.As(err, &never) {
				if !unproven {
					return fmt.Errorf("nothing was recorded: %s was never proven to make nothing twice, and the automation %q has not begun there: prove it (onefold verify), or give --unproven to import anyway, which goes on record", never.System.Name, never.Automation)
				}
				if _, err := letBegin(cmd.Context(), st, o.Automation, o.SystemID); err != nil {
					return err
				}
				err = read()
			}
			return err
		},
	}
	db.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.SystemID, "system", "books", "the accounting system in which the invoices are issued")
	f.StringVar(&o.Automation, "automation", "import", "the automation under which they are recorded; a part of the key")
	f.StringVar(&o.Encoding, "encoding", "", "for example iso-8859-2 (default: found)")
	f.StringVar(&zone, "zone", "UTC", "the firm's time zone: the month of what has neither a period nor an issue date")
	f.BoolVar(&unproven, "unproven", false, "let the automation begin on a system that was never proven; goes on record")
	f.BoolVar(&o.CheckOnly, "check", false, "read and judge only; record nothing")
	return cmd
}
