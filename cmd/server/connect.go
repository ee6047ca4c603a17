package main

import (
	"log/slog"
	"os"
	"strings"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/ledger/erpnext"
	"onefold/internal/ledger/odoo"
	"onefold/internal/ledger/quickbooks"
	"onefold/internal/ledger/rest"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/stripe"
	"onefold/internal/ledger/tryton"
	"onefold/internal/ledger/xero"
)

// adapters are the accounting systems that this version knows. A new one is one line here.
var adapters = []ledger.Adapter{
	sandbox.Adapter,
	quickbooks.Adapter,
	odoo.Adapter,
	erpnext.Adapter,
	xero.Adapter,
	stripe.Adapter,
	tryton.Adapter,
	rest.Adapter,
}

// connections connects accounting systems with the credentials that are stored, or else given to this server.
func connections(st automation.ConnectionStore, keys automation.Sealer, log *slog.Logger) *automation.Connections {
	return &automation.Connections{Store: st, Adapters: adapters, Keys: keys, Environment: secretFromEnvironment, Log: log}
}

// secretFromEnvironment reads a secret from the variable, or from the file that the variable with _FILE names.
func secretFromEnvironment(name string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	if file := os.Getenv(name + "_FILE"); file != "" {
		if text, err := os.ReadFile(file); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}
