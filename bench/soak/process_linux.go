package soak

import "syscall"

// diesWithUs lets a child end when this program ends, however it ends.
func diesWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
