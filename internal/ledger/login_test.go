package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"onefold/internal/ledger"
)

// rotating renews logins as strict systems do: each refresh token works once, and its reuse kills the login.
type rotating struct {
	mu    sync.Mutex
	next  int
	calls int
	dead  bool
}

func (r *rotating) renew(_ context.Context, refresh string) (ledger.Token, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if refresh != fmt.Sprintf("refresh-%d", r.next) {
		r.dead = true
	}
	if r.dead {
		return ledger.Token{}, ledger.ErrLoginRefused
	}
	r.next++
	return ledger.Token{Access: fmt.Sprintf("access-%d", r.next), Refresh: fmt.Sprintf("refresh-%d", r.next), Expires: time.Now().Add(time.Hour)}, nil
}

func TestTrial29_FiveWorkersOneRenewal(t *testing.T) {
	var books rotating
	var kept []string
	login := &ledger.Login{Renew: books.renew, Keep: func(_ context.Context, tok ledger.Token) error {
		kept = append(kept, tok.Refresh)
		return nil
	}}
	login.Connect(ledger.Token{Access: "old", Refresh: "refresh-0", Expires: time.Now().Add(-time.Minute)})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if access, err := login.Access(t.Context()); err != nil || access != "access-1" {
				t.Errorf("got %q, %v", access, err)
			}
		})
	}
	wg.Wait()
	if books.calls != 1 || books.dead || len(kept) != 1 {
		t.Errorf("%d renewals, login dead: %v, kept %v", books.calls, books.dead, kept)
	}
}

func TestTrial29_RefusedRenewalIsNotTriedAgain(t *testing.T) {
	books := rotating{dead: true}
	login := &ledger.Login{Renew: books.renew}
	login.Connect(ledger.Token{Access: "old", Refresh: "refresh-0", Expires: time.Now().Add(-time.Minute)})
	for range 5 {
		_, err := login.Access(t.Context())
		if !errors.Is(err, ledger.ErrLoginRefused) {
			t.Fatal(err)
		}
		if a := login.Refused(err); !a.Login || a.Outcome != "deferred" {
			t.Errorf("answer %+v", a)
		}
	}
	if books.calls != 1 {
		t.Errorf("%d renewals of a refused login", books.calls)
	}
	login.Connect(ledger.Token{Access: "new"})
	if access, err := login.Access(t.Context()); err != nil || access != "new" {
		t.Errorf("after connecting again: %q %v", access, err)
	}
}
