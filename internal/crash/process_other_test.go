//go:build unix && !linux

package crash

import "syscall"

// ownGroup gives a child its own process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
