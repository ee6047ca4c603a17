package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
)

// rotating renews logins as strict systems do: each refresh token works once, and its reuse kills the login.
type rotating struct {
	mu    sync.Mutex
	next  int
	calls int
	dead  bool
}

func (r *rotating) renew(_ context.Context, was ledger.Token) (ledger.Token, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if was.Refresh != fmt.Sprintf("refresh-%d", r.next) {
		r.dead = true
	}
	if r.dead {
		return ledger.Token{}, ledger.ErrLoginRefused
	}
	r.next++
	return ledger.Token{Access: fmt.Sprintf("access-%d", r.next), Refresh: fmt.Sprintf("refresh-%d", r.next), Expires: time.Now().Add(time.Hour)}, nil
}

func TestTrial29_FiveServersOneRenewal(t *testing.T) {
	var books rotating
	var tokens ledgertest.Tokens
	tokens.Connect(ledger.Token{Access: "old", Refresh: "refresh-0", Expires: time.Now().Add(-time.Minute)})
	var wg sync.WaitGroup
	for range 5 {
		login := &ledger.Login{Tokens: &tokens, Renew: books.renew}
		for range 3 {
			wg.Go(func() {
				if access, err := login.Access(t.Context()); err != nil || access != "access-1" {
					t.Errorf("got %q, %v", access, err)
				}
			})
		}
	}
	wg.Wait()
	if books.calls != 1 || books.dead || len(tokens.Kept) != 1 {
		t.Errorf("%d renewals, login dead: %v, kept %v", books.calls, books.dead, tokens.Kept)
	}
}

func TestTrial29_RefusedRenewalIsNotTriedAgain(t *testing.T) {
	books := rotating{dead: true}
	var tokens ledgertest.Tokens
	login := &ledger.Login{Tokens: &tokens, Renew: books.renew}
	tokens.Connect(ledger.Token{Access: "old", Refresh: "refresh-0", Expires: time.Now().Add(-time.Minute)})
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
	tokens.Connect(ledger.Token{Access: "new"})
	if access, err := login.Access(t.Context()); err != nil || access != "new" {
		t.Errorf("after connecting again: %q %v", access, err)
	}
}

func TestAnAccessThatWasRefusedIsRenewed(t *testing.T) {
	var books rotating
	var tokens ledgertest.Tokens
	tokens.Connect(ledger.Token{Access: "old", Refresh: "refresh-0", Expires: time.Now().Add(time.Hour)})
	login := &ledger.Login{Tokens: &tokens, Renew: books.renew}
	if access, err := login.Access(t.Context()); err != nil || access != "old" {
		t.Fatalf("%q %v", access, err)
	}
	login.Forget("old")
	if access, err := login.Access(t.Context()); err != nil || access != "access-1" || books.calls != 1 {
		t.Fatalf("%q %v after %d renewals", access, err, books.calls)
	}
	tokens.Connect(ledger.Token{Access: "newer", Refresh: "refresh-9"}) // by another server
	login.Forget("access-1")
	if access, err := login.Access(t.Context()); err != nil || access != "newer" || books.calls != 1 {
		t.Errorf("%q %v after %d renewals", access, err, books.calls)
	}
}
