package main

import (
	"errors"
	"fmt"
	"log/slog"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/store"
	"onefold/internal/work"
)

func systemCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "system", Short: "Connect accounting systems", Args: cobra.NoArgs}
	cmd.AddCommand(systemAddCommand(), systemBeginCommand(), systemListCommand())
	return cmd
}

func systemAddCommand() *cobra.Command {
	var db databaseFlags
	s := work.System{CompanyID: 1, Policy: work.DefaultPolicy()}
	var set map[string]string
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Connect an accounting system, or change its address",
		Long: "Connect an accounting system, or change its address and settings. Limits that admins have tuned are kept.\n" +
			"Credentials are entered on its page, where they are stored encrypted; without them the server reads\n" +
			"ONEFOLD_SYSTEM_<ID>_TOKEN, or the file that ONEFOLD_SYSTEM_<ID>_TOKEN_FILE names.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.Name == "" {
				s.Name = s.ID
			}
			st, err := db.open(cmd.Context(), slog.Default())
			if err != nil {
				return err
			}
			defer st.Close()
			if s.Settings = set; set == nil { // those that an admin chose on the page stay
				known, err := st.System(cmd.Context(), s.ID)
				if err != nil && !errors.Is(err, store.ErrSystemUnknown) {
					return err
				}
				s.Settings = known.Settings
			}
			done, err := connections(st, nil, slog.Default()).Declared(s)
			if err != nil {
				return fmt.Errorf("the system %s: %w", s.ID, err)
			}
			if err := st.DeclareSystem(cmd.Context(), done); err != nil {
				return err
			}
			cmd.Printf("%s is connected.\n", done.Name)
			return nil
		},
	}
	db.add(cmd)
	f := cmd.Flags()
	f.StringVar(&s.ID, "id", "", "short and stable, for example books")
	f.StringVar(&s.Name, "name", "", "as shown to people (default: the id)")
	f.StringVar(&s.Adapter, "adapter", "sandbox", "which kind of accounting system")
	f.StringVar(&s.Address, "address", "", "its base URL")
	f.StringToStringVar(&set, "set", nil, "settings of the adapter, for example personality=search,search_lag=2s")
	f.IntVar(&s.MaxInFlight, "in-flight", 8, "most calls at the same time, over all servers")
	f.Float64Var(&s.PerSecond, "per-second", 0, "most calls begun in a second, over all servers; 0: no limit")
	f.IntVar(&s.Policy.Sends, "sends", s.Policy.Sends, "most sends in one allowance")
	f.DurationVar(&s.Policy.FirstDelay, "first-delay", s.Policy.FirstDelay, "wait after the first failed send")
	f.DurationVar(&s.Policy.LongestDelay, "longest-delay", s.Policy.LongestDelay, "no wait is longer")
	f.DurationVar(&s.Policy.RequestTimeout, "request-timeout", s.Policy.RequestTimeout, "total time of one call")
	f.DurationVar(&s.Policy.SendWindow, "send-window", s.Policy.SendWindow, "a send that has not begun within it is not begun")
	f.DurationVar(&s.Policy.Settle, "settle", s.Policy.Settle, "how long after we hung up a request may still be at work")
	f.IntVar(&s.Policy.Lookups, "lookups", s.Policy.Lookups, "most lookups in one allowance")
	f.IntVar(&s.Policy.Misses, "misses", s.Policy.Misses, "misses in a row that prove absence")
	for _, name := range []string{"id", "address"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return cmd
}

func systemListCommand() *cobra.Command {
	var db databaseFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the connected accounting systems",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := db.open(cmd.Context(), slog.Default())
			if err != nil {
				return err
			}
			defer st.Close()
			systems, err := st.Systems(cmd.Context())
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tNAME\tADAPTER\tADDRESS\tBOOKS\tSTATE")
			for _, s := range systems {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.ID, s.Name, s.Adapter, s.Address, s.Identity, state(s))
			}
			return w.Flush()
		},
	}
	db.add(cmd)
	return cmd
}

func state(s work.System) string {
	switch {
	case !s.PausedAt.IsZero():
		return "paused since " + s.PausedAt.Format(time.RFC3339)
	case s.LoginProblem != "":
		return "not connected"
	case !s.BreakerUntil.IsZero():
		return "does not answer"
	case !s.LookFirst.IsZero():
		return "looking first"
	}
	return "running"
}
