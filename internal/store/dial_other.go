//go:build !linux

package store

import "syscall"

// giveUpUnacknowledged does nothing: other systems have no such setting that they share, keep-alives must do.
func giveUpUnacknowledged(string, string, syscall.RawConn) error { return nil }
