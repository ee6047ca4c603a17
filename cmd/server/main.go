// Command server is Onefold: the pages, the API and the engine in one binary, and its sub-commands.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the live heap is small; the time is worth more than the memory
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "onefold: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	root := &cobra.Command{
		Use:           "onefold",
		Short:         "Onefold issues every invoice once, whatever fails",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return fromEnvironment(cmd.Flags())
		},
	}
	root.AddCommand(serveCommand(), demoCommand(), importCommand(), migrateCommand(), systemCommand(), userCommand(), tokenCommand(), sandboxCommand(), healthCommand(), versionCommand())
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	return root.ExecuteContext(ctx)
}

// fromEnvironment fills each flag that was not given from ONEFOLD_<FLAG>, or from the file named by ONEFOLD_<FLAG>_FILE.
func fromEnvironment(flags *pflag.FlagSet) error {
	var first error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || first != nil || f.Name == "help" {
			return
		}
		name := "ONEFOLD_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, given := os.LookupEnv(name)
		if file := os.Getenv(name + "_FILE"); !given && file != "" {
			text, err := os.ReadFile(file)
			if err != nil {
				first = fmt.Errorf("%s_FILE: %w", name, err)
				return
			}
			name, value, given = name+"_FILE", strings.TrimSpace(string(text)), true
		}
		if !given {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			first = fmt.Errorf("the environment variable %s: %w", name, err)
		}
	})
	return first
}
