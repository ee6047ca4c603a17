package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"onefold/internal/work"
)

// ErrNoToken says that the request carries no API token that works.
var ErrNoToken = errors.New("send an API token that works as \"Authorization: Bearer …\"")

// TooMany says that a token was used too often: 429 with Retry-After.
type TooMany struct{ Wait time.Duration }

func (t *TooMany) Error() string { return fmt.Sprintf("too many requests, wait %s", t.Wait) }

// Grant is what a request with an API token may do.
type Grant struct {
	Actor  work.Actor
	Scopes []Scope
}

// Has reports whether the token has the scope.
func (g Grant) Has(s Scope) bool { return slices.Contains(g.Scopes, s) }

// Bearer returns what the request's API token may do. It returns ErrNoToken or a *TooMany; any other error is the
// database's. A token that does not work is recorded.
func (a *Auth) Bearer(r *http.Request, from Origin) (Grant, error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	secret = strings.TrimSpace(secret)
	if !strings.EqualFold(scheme, "Bearer") || secret == "" || len(secret) > 200 {
		return Grant{}, ErrNoToken
	}
	if a.builtin != nil {
		sum := sha256.Sum256([]byte(secret))
		if subtle.ConstantTimeCompare(sum[:], a.builtin[:]) == 1 {
			return Grant{work.Actor{Kind: work.Token, ID: "api", Name: "API", Roles: rolesOf(Scopes)}, Scopes}, nil
		}
	}
	t, err := a.store.TokenByHash(r.Context(), digest("token", secret))
	if errors.Is(err, ErrNotFound) {
		return Grant{}, a.refuseToken(r.Context(), from, Entry{Note: "unknown token"})
	}
	if err != nil {
		return Grant{}, fmt.Errorf("read the token: %w", err)
	}
	now := a.now()
	if !t.Works(now) {
		why := "expired token"
		if !t.RevokedAt.IsZero() {
			why = "revoked token"
		}
		return Grant{}, a.refuseToken(r.Context(), from, Entry{Object: t.Object(), Note: why})
	}
	perMinute := t.PerMinute
	if perMinute == 0 {
		perMinute = a.TokenPerMinute
	}
	if wait := a.limits.take(t.ID, perMinute, now); wait > 0 {
		return Grant{}, &TooMany{wait}
	}
	if now.Sub(t.LastUsedAt) >= time.Minute {
		if err := a.store.TokenUsed(r.Context(), t.ID, now, from.Address); err != nil {
			return Grant{}, fmt.Errorf("note the token's use: %w", err)
		}
	}
	return Grant{t.actor(), t.Scopes}, nil
}

// refuseToken records a token that does not work. Tries are slowed down by address, and so are the entries. Tokens that
// work never wait for it.
func (a *Auth) refuseToken(ctx context.Context, from Origin, e Entry) error {
	err := a.throttle.enter(a.now(), []bound{{"token\x00" + from.Address, 10, 5 * time.Minute}})
	if slow := (*Throttled)(nil); errors.As(err, &slow) {
		return &TooMany{slow.Wait}
	}
	e.From, e.What = from, DidRefuseToken
	if err := a.Audit(ctx, e); err != nil {
		return fmt.Errorf("record the refused token: %w", err)
	}
	return ErrNoToken
}

// limits holds one limiter for each token that is in use.
type limits struct {
	mu sync.Mutex
	of map[int64]*rate.Limiter
}

func newLimits() *limits { return &limits{of: map[int64]*rate.Limiter{}} }

// take spends one request, or returns how long to wait for it. A tenth of a minute's requests may come at once.
func (l *limits) take(id int64, perMinute int, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit, burst := rate.Limit(float64(perMinute)/60), max(perMinute/10, 1)
	one := l.of[id]
	if one == nil {
		one = rate.NewLimiter(limit, burst)
		l.of[id] = one
	}
	if one.Limit() != limit {
		one.SetLimitAt(now, limit)
		one.SetBurstAt(now, burst)
	}
	r := one.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}
