// Package migrations holds the numbered SQL files that make the database's schema, one folder for each database, with
// the same numbers in both.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed postgres/*.sql sqlite/*.sql
var files embed.FS

// For returns the files for a database: "postgres" or "sqlite".
func For(database string) (fs.FS, error) { return fs.Sub(files, database) }
