package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"onefold/internal/auth"
)

func userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "People who may sign in", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(userAddCommand(), userListCommand(), userLinkCommand(), userRolesCommand(), userDisableCommand(true), userDisableCommand(false))
	return cmd
}

// onUser runs f with the accounts and the person of that login.
func onUser(db *databaseFlags, cmd *cobra.Command, login string, f func(*auth.Auth, auth.User) error) error {
	st, a, err := db.openAuth(cmd.Context())
	if err != nil {
		return err
	}
	defer st.Close() //nolint:errcheck // on the way out
	u, err := a.UserByLogin(cmd.Context(), console, login)
	if err != nil {
		return fmt.Errorf("the person %q: %w", login, err)
	}
	return f(a, u)
}

func userAddCommand() *cobra.Command {
	var db databaseFlags
	var name, roles, password, publicURL string
	cmd := &cobra.Command{
		Use:   "add LOGIN",
		Short: "Add a person and print a one-time link, or set a password that they must change",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, ok := auth.ParseRoles(roles)
			if !ok {
				return fmt.Errorf("%q are no roles: use viewer, operator, ops and admin, with commas", roles)
			}
			st, a, err := db.openAuth(cmd.Context())
			if err != nil {
				return err
			}
			defer st.Close() //nolint:errcheck // on the way out
			n := auth.NewUser{Login: args[0], Name: name, Roles: list}
			if password != "" {
				u, err := a.AddUser(cmd.Context(), console, fromConsole, n, password, true)
				if err == nil {
					cmd.Printf("%s may sign in as %s, and must then choose another password.\n", u.Name, u.Login)
				}
				return err
			}
			u, token, err := a.Invite(cmd.Context(), console, fromConsole, n)
			if err != nil {
				return err
			}
			cmd.Printf("%s was invited as %s. The link works once, within seven days:\n%s\n", u.Name, u.Login, linkAddress(publicURL, token))
			return nil
		},
	}
	db.add(cmd)
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "the name that colleagues see (default: the login)")
	f.StringVar(&roles, "role", "viewer", "viewer, operator, ops, admin; several with commas")
	f.StringVar(&password, "password", "", "a first password instead of a link; better given as ONEFOLD_PASSWORD or ONEFOLD_PASSWORD_FILE")
	f.StringVar(&publicURL, "public-url", "http://127.0.0.1:8080", "the address of the pages, for the link")
	return cmd
}

// linkAddress is where the page for choosing a password is.
func linkAddress(publicURL, token string) string {
	return strings.TrimRight(publicURL, "/") + "/welcome/" + token
}

func userListCommand() *cobra.Command {
	var db databaseFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List everybody who may sign in",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, a, err := db.openAuth(cmd.Context())
			if err != nil {
				return err
			}
			defer st.Close() //nolint:errcheck // on the way out
			users, err := a.Users(cmd.Context(), console)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "LOGIN\tNAME\tROLES\tSECOND STEP\tSTATE\tLAST SIGN-IN")
			for _, u := range users {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", u.Login, u.Name, auth.RolesText(u.Roles), yes(u.HasSecondStep()), userState(u), moment(u.LastSignInAt))
			}
			return w.Flush()
		},
	}
	db.add(cmd)
	return cmd
}

func userState(u auth.User) string {
	switch {
	case u.Disabled():
		return "disabled"
	case u.PasswordHash == "" && u.OIDCSubject == "":
		return "invited"
	default:
		return "active"
	}
}

func userLinkCommand() *cobra.Command {
	var db databaseFlags
	var publicURL string
	cmd := &cobra.Command{
		Use:   "link LOGIN",
		Short: "Print a one-time link by which the person chooses a password; earlier links count no more",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onUser(&db, cmd, args[0], func(a *auth.Auth, u auth.User) error {
				token, link, err := a.MakeLink(cmd.Context(), console, fromConsole, u.ID)
				if err == nil {
					cmd.Printf("The link works once, until %s:\n%s\n", moment(link.ExpiresAt), linkAddress(publicURL, token))
				}
				return err
			})
		},
	}
	db.add(cmd)
	cmd.Flags().StringVar(&publicURL, "public-url", "http://127.0.0.1:8080", "the address of the pages, for the link")
	return cmd
}

func userRolesCommand() *cobra.Command {
	var db databaseFlags
	cmd := &cobra.Command{
		Use:   "roles LOGIN ROLES",
		Short: "Set a person's roles: viewer, operator, ops, admin; several with commas",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			roles, ok := auth.ParseRoles(args[1])
			if !ok {
				return fmt.Errorf("%q are no roles: use viewer, operator, ops and admin, with commas", args[1])
			}
			return onUser(&db, cmd, args[0], func(a *auth.Auth, u auth.User) error {
				u, err := a.SetRoles(cmd.Context(), console, fromConsole, u.ID, roles)
				if err == nil {
					cmd.Printf("%s has the roles %s.\n", u.Login, auth.RolesText(u.Roles))
				}
				return err
			})
		},
	}
	db.add(cmd)
	return cmd
}

func userDisableCommand(disable bool) *cobra.Command {
	var db databaseFlags
	use, short, done := "enable LOGIN", "Let a person in again", "%s may sign in again.\n"
	if disable {
		use, short, done = "disable LOGIN", "Keep a person out, at once and on all browsers", "%s may not sign in any more, and was signed out everywhere.\n"
	}
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onUser(&db, cmd, args[0], func(a *auth.Auth, u auth.User) error {
				u, err := a.SetDisabled(cmd.Context(), console, fromConsole, u.ID, disable)
				if err == nil {
					cmd.Printf(done, u.Login)
				}
				return err
			})
		},
	}
	db.add(cmd)
	return cmd
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
