package rest

import (
	"context"
	"errors"
	"net/http"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// ask makes one reading call and returns its answer as a document. The error is *stopped. All answers of one lookup must
// come from the same books.
func (l *look) ask(ctx context.Context, call ledger.Call, shape string, d document) (ledger.Reply, document, error) {
	if call.Header == nil {
		call.Header = http.Header{}
	}
	call.Header = call.Header.Clone()
	access, err := l.authorize(ctx, &call)
	if err != nil {
		refused := l.login.Refused(err)
		return ledger.Reply{}, d, &stopped{ledger.Found{Deferred: true, Login: refused.Login, Exchange: refused.Exchange}}
	}
	reply := l.http.Read(ctx, call)
	reply.Exchange = hide(reply.Exchange, access)
	l.refused(reply, access)
	l.made(reply.Exchange)
	found, done := reply.Read()
	if done {
		if found.Exchange.Error == "" {
			found.Exchange.Error = "the accounting system gave no usable answer, could not check"
		}
		return reply, d, &stopped{found}
	}
	d, err = answered(reply, shape, d)
	if err != nil {
		return reply, d, stop(reply.Exchange, err.Error())
	}
	if reply.Status < 300 && !l.asks {
		identity, err := l.identityOf(d)
		if l.def.identity.told != nil {
			l.saw(l.def.identity.told, identity, err)
		}
		switch {
		case err != nil:
			return reply, d, stop(reply.Exchange, "the answer does not tell whose books it comes from"+pointed(err))
		case l.known && identity != l.books:
			reply.Exchange.Identity = identity
			return reply, d, stop(reply.Exchange, "two accounting systems answer under this address")
		}
		l.books, l.known = identity, true
	}
	reply.Exchange.Identity = l.books
	return reply, d, nil
}

// whose reads the identity of the books.
func (l *look) whose(ctx context.Context) error {
	id := l.def.identity
	call, err := id.request.call(l.about)
	if err != nil {
		return stop(work.Exchange{}, "it could not be asked whose books these are"+pointed(err))
	}
	l.asks = true
	reply, d, err := l.ask(ctx, call, "any", l.about)
	l.asks = false
	if err != nil {
		return err
	}
	books, err := id.books.text(d)
	l.saw(id.books, books, err)
	switch {
	case err != nil || books == "" || reply.Status >= 300:
		return stop(reply.Exchange, "the accounting system did not tell whose books it keeps"+pointed(err))
	}
	if id.fixed != nil {
		expected, err := id.fixed.text(l.about)
		l.saw(id.fixed, expected, err)
		if err != nil || expected != books {
			return stop(reply.Exchange, "the accounting system says that these are other books than the settings name")
		}
	}
	if id.login {
		l.mu.Lock()
		l.Client.books = books
		l.mu.Unlock()
	}
	l.books, l.known = books, true
	return nil
}

// Identity implements ledger.System.
func (s *Client) Identity(ctx context.Context) (string, error) {
	l := &look{Client: s}
	err := l.whose(ctx)
	var early *stopped
	if errors.As(err, &early) {
		return "", errors.New(early.found.Exchange.Error)
	}
	return l.books, err
}
