package crash

import "syscall"

// ownGroup gives a child its own process group, and lets it die with us.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
