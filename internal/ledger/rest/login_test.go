package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/rest"
	"onefold/internal/work"
)

// An access token is got before the write, used again, and got anew once the system has refused it. A refused client stops
// the system; a login that is out of order does not. In none of these cases is anything sent.
func TestLoginByClientCredentials(t *testing.T) {
	var given, writes atomic.Int64
	var broken, accepts atomic.Value
	broken.Store(0)
	accepts.Store("token-1")
	login := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := broken.Load().(int); status != 0 {
			says(status, "application/json", `{"error":"invalid_client"}`)(w, r)
			return
		}
		if r.FormValue("client_secret") != ledgertest.Secret || r.FormValue("client_id") != "onefold" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "books" {
			t.Errorf("asked with %v", r.Form)
		}
		says(200, "application/json", fmt.Sprintf(`{"access_token":"token-%d","expires_in":3600}`, given.Add(1)))(w, r)
	}))
	t.Cleanup(login.Close)
	srv := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+accepts.Load().(string) {
			says(401, "application/json", `{"reason":"expired"}`)(w, r)
			return
		}
		writes.Add(1)
		says(201, "application/json", good[:len(good)-1]+`,"echo":"`+r.Header.Get("Authorization")+`"}`)(w, r)
	})
	definition := changed(t, "  bearer: {secret: token}\n", "  oauth2:\n    token_url: "+login.URL+"/token\n    grant: client_credentials\n    client_id: onefold\n    scope: books\n")
	sys := work.System{Address: srv.URL, Settings: map[string]string{"definition": definition}}
	s, err := rest.Adapter.Connect(ledger.Connection{System: sys, Secrets: map[string]string{"client_secret": ledgertest.Secret}})
	if err != nil {
		t.Fatal(err)
	}
	if got := rest.Adapter.Reaches(sys); len(got) != 1 || got[0] != login.URL+"/token" {
		t.Errorf("the secret goes to %v", got)
	}
	v := invoice(t, "47.99", "EUR")
	want := func(outcome work.Outcome, stops bool, tokens, sent int64) {
		t.Helper()
		a := send(t, s, "INV-1", v)
		if a.Outcome != outcome || a.Login != stops || given.Load() != tokens || writes.Load() != sent {
			t.Errorf("%s (login %v) after %d tokens and %d writes: %s", a.Outcome, a.Login, given.Load(), writes.Load(), a.Exchange.Error)
		}
		if strings.Contains(a.Exchange.Request+a.Exchange.Response+a.Exchange.Error, "token-") {
			t.Error("an access token is shown")
		}
	}
	want(work.Accepted, false, 1, 1)
	want(work.Accepted, false, 1, 2)
	accepts.Store("token-2")
	want(work.Deferred, true, 1, 2) // refused, and forgotten
	want(work.Accepted, false, 2, 3)
	accepts.Store("token-3")
	want(work.Deferred, true, 2, 3)
	broken.Store(503)
	want(work.Deferred, false, 2, 3)
	broken.Store(401)
	want(work.Deferred, true, 2, 3)
	broken.Store(0)
	want(work.Accepted, false, 3, 4)
}

// A try-out reads, shows what each line made of the answers, and shows no secret.
func TestTryOutShowsWhatWasRead(t *testing.T) {
	srv := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Error("a try-out wrote")
		}
		says(200, "application/json", `{"list":[`+good+`],"echo":"`+ledgertest.Secret+`"}`)(w, r)
	})
	sys := work.System{Address: srv.URL, Settings: map[string]string{"definition": changed(t, "done: .status == 200", "done: .echo == null or .body.echo != null", "total: .total", "total: .totl")}}
	out, err := rest.Try(t.Context(), ledger.Connection{System: sys, Secrets: map[string]string{"token": ledgertest.Secret}}, "INV-1")
	if err != nil {
		t.Fatal(err)
	}
	if out.Books != "acme" || out.Searched || !strings.Contains(out.Problem, "line 14") || len(out.Calls) != 2 {
		t.Errorf("%+v", out)
	}
	all := fmt.Sprintf("%+v", out)
	if strings.Contains(all, ledgertest.Secret) {
		t.Error("a secret is shown")
	}
	for _, want := range []string{"search.records", "record.total", `it must be a decimal`, `Part:record.reference Value:"INV-1"`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not shown: %s", want, all)
		}
	}
}
