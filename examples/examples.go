// Package examples embeds the files that the demo imports.
package examples

import "embed"

// Files holds the example files.
//
//go:embed *.csv
var Files embed.FS

// November is a month of invoices, with a few duplicates and bad rows in it; README.md counts them.
const November = "invoices-2026-11.csv"
