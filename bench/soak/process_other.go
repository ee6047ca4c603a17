//go:build !linux

package soak

import "syscall"

// Memory and open files are read from /proc: elsewhere the soak says so and ends.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
