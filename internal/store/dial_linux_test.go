package store

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// A database whose machine is gone without a word must not hold the servers for the system's own quarter of an hour.
func TestSilentDatabaseIsGivenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // on the way out
	c, err := databaseDialer(time.Second).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // on the way out
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var alive, unacknowledged int
	var failed error
	if err := raw.Control(func(fd uintptr) {
		if unacknowledged, failed = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout); failed == nil {
			alive, failed = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_KEEPALIVE)
		}
	}); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if unacknowledged != int(deadAfter.Milliseconds()) || alive != 1 {
		t.Errorf("unacknowledged data is waited for %d ms, keep-alives: %d", unacknowledged, alive)
	}
}
