package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"onefold/internal/review"
	"onefold/internal/store"
)

// letBegin lets an automation begin on a system that was never proven, on record; agreed is false if it may already.
func letBegin(ctx context.Context, st *store.Store, automation, system string) (agreed bool, err error) {
	sys, err := st.System(ctx, system)
	if err != nil {
		return false, fmt.Errorf("accounting system %q: %w", system, err)
	}
	return review.NewAutomations(st, sys.CompanyID, nil).Agree(ctx, console, automation, []string{system})
}

func systemBeginCommand() *cobra.Command {
	var db databaseFlags
	var id, automation string
	cmd := &cobra.Command{
		Use:   "begin",
		Short: "Let an automation begin on a system that was never proven; goes on record",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := db.open(cmd.Context(), slog.Default())
			if err != nil {
				return err
			}
			defer st.Close()
			agreed, err := letBegin(cmd.Context(), st, automation, id)
			if err != nil {
				return err
			}
			if !agreed {
				cmd.Printf("%s may begin on %s already.\n", automation, id)
				return nil
			}
			cmd.Printf("%s may begin on %s, which was never proven.\n", automation, id)
			return nil
		},
	}
	db.add(cmd)
	cmd.Flags().StringVar(&id, "id", "", "the accounting system, for example books")
	cmd.Flags().StringVar(&automation, "automation", "", "the automation, for example invoices")
	for _, name := range []string{"id", "automation"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return cmd
}
