// Command server is Onefold: the pages, the API and the engine in one binary, and its sub-commands.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the live heap is small; the time is worth more than the memory
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "onefold: "+err.Error())
		os.Exit(exitCode(err))
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	return root.ExecuteContext(ctx)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "onefold",
		Short:         "Onefold issues every invoice once, whatever fails",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == "serve" {
				warnOfTypos(cmd.Root(), os.Environ(), cmd.ErrOrStderr())
			}
			return badly(fillFlags(cmd, cmd.ErrOrStderr()))
		},
	}
	root.PersistentFlags().String(configFlag, "", "a file with settings, one ONEFOLD_NAME=value a line; the command line and the environment win over it")
	root.AddCommand(serveCommand(), demoCommand(), importCommand(), migrateCommand(), backupCommand(), restoreCommand(), lookFirstCommand(), systemCommand(), userCommand(), tokenCommand(), sandboxCommand(), healthCommand(),
		verifyCommand(), configurationCommand(), metricsCommand(), versionCommand())
	markBadInput(root)
	return root
}
