package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"onefold/internal/ledger/sandbox/server"
)

func sandboxCommand() *cobra.Command {
	var address, file, books, plan string
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Run the sandbox accounting system, which misbehaves on request",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := server.Options{File: file, Ready: func(url string) { cmd.Printf("The sandbox accounting system is at %s\n", url) }}
			if err := fromJSONFile(books, &o.Books); err != nil {
				return err
			}
			if err := fromJSONFile(plan, &o.Plan); err != nil {
				return err
			}
			return server.Run(cmd.Context(), address, o)
		},
	}
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:8090", "address and port to listen on")
	cmd.Flags().StringVar(&file, "file", "sandbox.journal", "the file in which it keeps what it holds")
	cmd.Flags().StringVar(&books, "books", "", "a JSON file with the sets of books (default: one of each personality)")
	cmd.Flags().StringVar(&plan, "plan", "", "a JSON file with the faults (default: none)")
	return cmd
}

// fromJSONFile reads a JSON file into v; an empty path leaves v as it is.
func fromJSONFile(path string, v any) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s is not as expected: %w", path, err)
	}
	return nil
}
