package store

import (
	"errors"
	"strings"
	"syscall"
)

const tcpUserTimeout = 18 // TCP_USER_TIMEOUT of <netinet/tcp.h>

// giveUpUnacknowledged ends a connection whose data nobody acknowledges; keep-alives are not sent while data is under way.
func giveUpUnacknowledged(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var set error
	err := c.Control(func(fd uintptr) {
		set = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(deadAfter.Milliseconds()))
	})
	return errors.Join(err, set)
}
