package main

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
)

func lookFirstCommand() *cobra.Command {
	var db databaseFlags
	var why string
	cmd := &cobra.Command{
		Use:   "look-first",
		Short: "After a restore, before the first server starts: nothing is sent before it was looked for",
		Long: "From when this command ends nothing is sent, of any accounting system, before it was looked for there. What cannot be looked for goes\n" +
			"to a person. It starts no server and sends nothing; servers that run take it up at once. Admins end it on the pages of the\n" +
			"accounting systems. It goes on record.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if why = strings.TrimSpace(why); why == "" {
				return badly(errors.New("--why: say what happened, for example --why \"restored the backup of 30 November\""))
			}
			st, err := db.open(cmd.Context(), slog.Default())
			if err != nil {
				return err
			}
			defer st.Close()
			if err := st.LookFirstEverywhere(cmd.Context(), console, why); err != nil {
				return err
			}
			systems, err := st.Systems(cmd.Context())
			if err != nil {
				return err
			}
			for _, sys := range systems {
				cmd.Printf("%s (%s) looks first.\n", sys.Name, sys.ID)
			}
			cmd.Println("Nothing is sent before it was looked for, until an admin ends that on the page of each accounting system.")
			return nil
		},
	}
	db.add(cmd)
	cmd.Flags().StringVar(&why, "why", "", "what happened, as people will read it on the pages")
	if err := cmd.MarkFlagRequired("why"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}
