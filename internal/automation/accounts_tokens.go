package automation

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"onefold/internal/ledger"
)

// Times of a renewal.
const (
	renewLimit = 30 * time.Second            // the call to the system
	renewLease = renewLimit + 30*time.Second // and until its result is stored
	renewWait  = 10 * time.Second            // others wait no longer for it: what they wanted to send is deferred
	renewPoll  = 100 * time.Millisecond
	renewAgain = 5 * time.Second // from a try without a result to the next
)

// storedTokens is the login of one system as all servers share it: one of them renews it, under a lease in the database, while
// the others wait for what it stores. It implements ledger.TokenStore.
type storedTokens struct {
	store AccountStore
	keys  Sealer
	id    string
	log   *slog.Logger
}

// Load implements ledger.TokenStore. After a refusal the error wraps ledger.ErrLoginRefused, until a person connects again.
func (k *storedTokens) Load(ctx context.Context) (ledger.Token, error) {
	_, t, err := k.read(ctx)
	return t, err
}

func (k *storedTokens) read(ctx context.Context) (SystemLogin, ledger.Token, error) {
	l, err := k.store.SystemLogin(ctx, k.id)
	if err != nil {
		k.log.Error("the login of an accounting system could not be read", "system", k.id, "error", err)
		return l, ledger.Token{}, errors.New("the stored login could not be read: the database did not answer")
	}
	if l.Sealed == "" {
		return l, ledger.Token{}, nil
	}
	if !l.RefusedAt.IsZero() {
		return l, ledger.Token{}, loginOver(l.RefusedWhy)
	}
	t, err := openToken(k.keys, l.Sealed, k.id)
	return l, t, err
}

// Renew implements ledger.TokenStore.
func (k *storedTokens) Renew(ctx context.Context, spent ledger.Token, renew func(context.Context, ledger.Token) (ledger.Token, error)) (ledger.Token, error) {
	for waited := time.Duration(0); ; waited += renewPoll {
		l, t, err := k.read(ctx)
		switch {
		case err != nil:
			return ledger.Token{}, err
		case l.Sealed == "":
			return ledger.Token{}, errNotConnected
		case t.Access != spent.Access || t.Refresh != spent.Refresh:
			return t, nil // somebody has renewed it, or connected the account again
		}
		r := renewal{storedTokens: k, version: l.Version, by: rand.Text()}
		var taken bool
		if taken, r.unfinished, err = k.store.LeaseRenewal(ctx, k.id, r.version, r.by, renewLease); err != nil {
			k.log.Error("the login of an accounting system could not be taken for renewal", "system", k.id, "error", err)
			return ledger.Token{}, errors.New("the login could not be renewed: the database did not answer")
		}
		if taken {
			// A caller that gives up must not break the renewal off: the old token may be spent by then.
			if t, settled, err := r.run(context.WithoutCancel(ctx), spent, renew); settled {
				return t, err
			}
			continue // another login is stored by now
		}
		if waited >= renewWait {
			return ledger.Token{}, errors.New("the login is being renewed, or was tried just now: it is tried again")
		}
		if err := pause(ctx, renewPoll); err != nil {
			return ledger.Token{}, err
		}
	}
}

// renewal is one renewal under a lease.
type renewal struct {
	*storedTokens
	version    int64
	by         string
	unfinished bool // one was begun before, and its result is not known
}

// run renews and stores. It is not settled if another login was stored meanwhile.
func (r renewal) run(ctx context.Context, spent ledger.Token, renew func(context.Context, ledger.Token) (ledger.Token, error)) (t ledger.Token, settled bool, err error) {
	if spent.Refresh == "" {
		return r.refused(ctx, "the login has ended, and the accounting system gave nothing to renew it with")
	}
	limited, cancel := context.WithTimeout(ctx, renewLimit)
	defer cancel()
	t, err = renew(limited, spent)
	switch {
	case errors.Is(err, ledger.ErrLoginRefused) && r.unfinished:
		return r.refused(ctx, "a server stopped or got no answer while it renewed the login, and the accounting system does not take the old one any more")
	case errors.Is(err, ledger.ErrLoginRefused):
		return r.refused(ctx, "the accounting system refused to renew the login"+saidCode(err))
	case err == nil && t.Access == "":
		err = errors.New("the accounting system renewed the login without telling the new one")
	}
	if err != nil {
		if e := r.store.EndRenewal(ctx, r.id, r.version, r.by, renewAgain); e != nil {
			r.log.Warn("a renewal could not be ended; its lease ends by itself", "system", r.id, "error", e)
		}
		return ledger.Token{}, true, err
	}
	if t.Refresh == "" { // it does not rotate
		t.Refresh = spent.Refresh
	}
	return r.keep(ctx, t)
}

// keep stores what was renewed before anybody uses it, however long the database is away: the old login may be spent, so what
// is in hand is the only one.
func (r renewal) keep(ctx context.Context, t ledger.Token) (ledger.Token, bool, error) {
	t = kept(t)
	wait := 50 * time.Millisecond
	for n := 1; ; n++ {
		sealed, err := sealToken(r.keys, t, r.id)
		stored := false
		if err == nil {
			stored, err = r.store.StoreRenewal(ctx, r.id, r.version, sealed, t.Expires)
		}
		if err == nil {
			return t, stored, nil
		}
		r.log.Error("a renewed login could not be stored: if this server stops now the account must be connected again", "system", r.id, "try", n, "error", err)
		if err := pause(ctx, wait); err != nil {
			return ledger.Token{}, true, err
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// refused stops the system's login until a person connects the account again.
func (r renewal) refused(ctx context.Context, why string) (ledger.Token, bool, error) {
	why += ": reconnect the account"
	noted, err := r.store.RefuseLogin(ctx, r.id, r.version, r.by, why)
	if err == nil && !noted {
		return ledger.Token{}, false, nil
	}
	r.log.Error("the login of an accounting system is over: its account must be connected again", "system", r.id, "why", why, "noted", noted, "error", err)
	return ledger.Token{}, true, loginOver(why)
}

// saidCode is the error code of an answer of the authorization server; its text may hold anything.
func saidCode(err error) string {
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) || !plainCode(said.ErrorCode) {
		return ""
	}
	return " (" + said.ErrorCode + ")"
}

// plainCode reports whether a text is an error code such as invalid_grant.
func plainCode(code string) bool {
	for _, r := range code {
		if (r < 'a' || r > 'z') && r != '_' {
			return false
		}
	}
	return code != "" && len(code) <= 40
}

// pause waits, or returns the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func loginOwner(id string) string { return "login:" + id }

// kept is a token as it is after it was stored.
func kept(t ledger.Token) ledger.Token {
	t.Expires = t.Expires.UTC().Truncate(time.Microsecond)
	return t
}

func sealToken(keys Sealer, t ledger.Token, id string) (string, error) {
	if keys == nil {
		return "", errors.New("a login cannot be stored: this server has no key to seal it with")
	}
	text, err := json.Marshal(kept(t))
	if err != nil {
		return "", errors.New("a login cannot be stored")
	}
	return keys.Seal(string(text), loginOwner(id))
}

func openToken(keys Sealer, sealed, id string) (t ledger.Token, err error) {
	if keys == nil {
		return t, errors.New("the stored login cannot be opened: there is no key")
	}
	text, err := keys.Open(sealed, loginOwner(id))
	if err != nil {
		return t, errors.New("the stored login cannot be opened: its key is not among this server's keys. Reconnect the account, or give the server its former key")
	}
	if json.Unmarshal([]byte(text), &t) != nil {
		return t, errors.New("the stored login is damaged: reconnect the account")
	}
	return kept(t), nil
}

// heldTokens is a login that was given just now: it is tried before it is stored.
type heldTokens struct {
	mu    sync.Mutex
	token ledger.Token
}

// Load implements ledger.TokenStore.
func (h *heldTokens) Load(context.Context) (ledger.Token, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.token, nil
}

// Renew implements ledger.TokenStore.
func (h *heldTokens) Renew(ctx context.Context, spent ledger.Token, renew func(context.Context, ledger.Token) (ledger.Token, error)) (ledger.Token, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.token != spent {
		return h.token, nil
	}
	t, err := renew(ctx, spent)
	if err != nil {
		return ledger.Token{}, err
	}
	if t.Refresh == "" {
		t.Refresh = spent.Refresh
	}
	h.token = kept(t)
	return h.token, nil
}
