package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"onefold/internal/ledger/misbehave"
)

// ConnContext counts the requests of each connection; it belongs into http.Server.ConnContext for CloseReused to work.
var ConnContext = misbehave.ConnContext

// NewHTTP is an http.Server for the sandbox, not yet listening.
func NewHTTP(s *Server) *http.Server {
	return &http.Server{Handler: s, ConnContext: ConnContext, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
}

// Run serves a sandbox of its own at addr until ctx ends.
func Run(ctx context.Context, addr string, o Options) error {
	s, err := New(o)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return errors.Join(fmt.Errorf("the sandbox cannot listen on %s: %w", addr, err), s.Close())
	}
	if o.Ready != nil {
		o.Ready("http://" + listener.Addr().String())
	}
	h := NewHTTP(s)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if h.Shutdown(short) != nil {
			h.Close() //nolint:errcheck,gosec // on the way out
		}
	}()
	err = h.Serve(listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		err = nil
	}
	return errors.Join(err, s.Close())
}
