package main

import (
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/auth"
)

func tokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "API tokens", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(tokenAddCommand(), tokenListCommand(), tokenRevokeCommand())
	return cmd
}

func tokenAddCommand() *cobra.Command {
	var db databaseFlags
	var scopes []string
	var days int
	n := auth.NewToken{}
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make an API token and print it, once",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, a, err := db.openAuth(cmd.Context())
			if err != nil {
				return err
			}
			defer st.Close() //nolint:errcheck // on the way out
			n.Name, n.Lasts = args[0], time.Duration(days)*24*time.Hour
			for _, s := range scopes {
				n.Scopes = append(n.Scopes, auth.Scope(s))
			}
			t, secret, err := a.CreateToken(cmd.Context(), console, fromConsole, n)
			if err != nil {
				return err
			}
			cmd.Printf("%s may %s until %s. It is shown only now:\n%s\n", t.Name, auth.ScopesText(t.Scopes), moment(t.ExpiresAt), secret)
			return nil
		},
	}
	db.add(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&scopes, "scope", []string{string(auth.ItemsRead), string(auth.ItemsWrite)}, "what it may do: "+auth.ScopesText(auth.Scopes))
	f.IntVar(&days, "days", 365, "after how many days it expires; at most two years")
	f.IntVar(&n.PerMinute, "per-minute", 0, "requests in a minute (default: the server's)")
	return cmd
}

func tokenListCommand() *cobra.Command {
	var db databaseFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the API tokens",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, a, err := db.openAuth(cmd.Context())
			if err != nil {
				return err
			}
			defer st.Close() //nolint:errcheck // on the way out
			tokens, err := a.Tokens(cmd.Context(), console)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tNAME\tBEGINS\tSCOPES\tEXPIRES\tLAST USED\tSTATE")
			for _, t := range tokens {
				state := "works"
				switch {
				case !t.RevokedAt.IsZero():
					state = "revoked"
				case !t.Works(time.Now()):
					state = "expired"
				}
				fmt.Fprintf(w, "%d\t%s\t%s…\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.Prefix, auth.ScopesText(t.Scopes), moment(t.ExpiresAt), moment(t.LastUsedAt), state)
			}
			return w.Flush()
		},
	}
	db.add(cmd)
	return cmd
}

func tokenRevokeCommand() *cobra.Command {
	var db databaseFlags
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Make an API token useless, at once",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return fmt.Errorf("%q is no token's id: see token list", args[0])
			}
			st, a, err := db.openAuth(cmd.Context())
			if err != nil {
				return err
			}
			defer st.Close() //nolint:errcheck // on the way out
			if err := a.RevokeToken(cmd.Context(), console, fromConsole, id); err != nil {
				return fmt.Errorf("token %d: %w", id, err)
			}
			cmd.Println("The token works no more.")
			return nil
		},
	}
	db.add(cmd)
	return cmd
}

// moment is a time on the terminal.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
