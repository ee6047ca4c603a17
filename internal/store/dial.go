package store

import (
	"net"
	"time"
)

// deadAfter is when a connection counts as lost on which the database's machine acknowledges nothing any more: it lost
// its power, or a firewall forgot the connection. Left to itself the system would take a quarter of an hour, in which
// nothing is claimed here and nobody is told.
const deadAfter = 20 * time.Second

func databaseDialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: timeout, Control: giveUpUnacknowledged,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: deadAfter / 2, Interval: deadAfter / 6, Count: 3}}
}
