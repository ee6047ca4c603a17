package ledger

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

var (
	errSendBy = errors.New("send-by has passed")
	errSealed = errors.New("the call is over")
	errLost   = errors.New("the answer was lost on purpose, for a proof")
)

// writeGate decides for one write whether bytes may still be handed over, and remembers whether any were.
type writeGate struct {
	sendBy Deadline
	now    func() time.Time

	mu     sync.Mutex
	handed bool // a byte may have left
	late   bool // refused because send-by had passed
	sealed bool
}

// pass must be asked before every hand-over of request bytes.
func (g *writeGate) pass() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.sealed:
		return errSealed
	case g.sendBy.Passed(g.now()):
		g.late = true
		return errSendBy
	}
	g.handed = true
	return nil
}

// seal ends the call: net/http may still hold a connection in the background, and it must not write on it after we have
// called the request "not sent".
func (g *writeGate) seal() (handed, late bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sealed = true
	return g.handed, g.late
}

// install puts the gate above TLS, so that handshake bytes do not count as bytes of the request.
func (g *writeGate) install(h *http.Transport) {
	dial := h.DialContext
	h.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return gatedConn{conn, g}, nil
	}
	config := h.TLSClientConfig
	h.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		cfg := &tls.Config{MinVersion: tls.VersionTLS12}
		if config != nil {
			cfg = config.Clone()
		}
		if cfg.ServerName == "" {
			if host, _, err := net.SplitHostPort(addr); err == nil {
				cfg.ServerName = host
			}
		}
		cfg.NextProtos = []string{"http/1.1"}
		secure := tls.Client(conn, cfg)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close() //nolint:errcheck,gosec // the handshake's error is the one to report
			return nil, err
		}
		return gatedConn{secure, g}, nil
	}
}

type gatedConn struct {
	net.Conn
	gate *writeGate
}

func (c gatedConn) Write(b []byte) (int, error) {
	if err := c.gate.pass(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
