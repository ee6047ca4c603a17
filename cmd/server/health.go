package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/telemetry"
)

func healthCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a running server whether it is ready; for container health checks",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, address+"/readyz", nil)
			if err != nil {
				return fmt.Errorf("the address %q is not usable: %w", address, err)
			}
			res, err := (&http.Client{Timeout: 5 * time.Second}).Do(req)
			if err != nil {
				return fmt.Errorf("the server does not answer: %w", err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("the server is not ready (%d)", res.StatusCode)
			}
			cmd.Println("ready")
			return nil
		},
	}
	cmd.Flags().StringVar(&address, "address", "http://127.0.0.1:8080", "where the server listens")
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go version that it was built from",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			cmd.Println("onefold " + telemetry.ThisBuild().String())
		},
	}
}
