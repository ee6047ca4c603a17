package quickbooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"onefold/internal/ledger"
)

// loginPath is where logins are renewed, at Intuit's login host.
const loginPath = "/oauth2/v1/tokens/bearer"

// loginOrigin is who renews logins. Only Intuit's own addresses log in at Intuit: a stand-in keeps its own logins, so that
// the client secret goes nowhere but to the address that the admin typed.
func loginOrigin(address string) string {
	if h := host(address); h == LiveHost || h == SandboxHost {
		return "https://oauth.platform.intuit.com"
	}
	return strings.TrimRight(address, "/")
}

var errNotConnected = fmt.Errorf("%w: nobody has connected the company yet", ledger.ErrLoginRefused)

// access returns a live access token; see ledger.Login.
func (s *System) access(ctx context.Context) (string, error) {
	if s.company == "" {
		return "", errNotConnected
	}
	return s.login.Access(ctx)
}

type renewal struct {
	http       *ledger.Transport
	id, secret string
	now        func() time.Time
}

// renew makes one request. The refresh token rotates (vendor), so it must not be made twice: it goes out as a write. The
// clock that may be stopped for a send is not the one of the renewal.
func (r *renewal) renew(ctx context.Context, was ledger.Token) (ledger.Token, error) {
	if was.Refresh == "" {
		return ledger.Token{}, fmt.Errorf("%w: the login has ended", ledger.ErrLoginRefused)
	}
	basic := http.Request{Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
	basic.SetBasicAuth(url.QueryEscape(r.id), url.QueryEscape(r.secret))
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {was.Refresh}}
	reply := r.http.Write(ctx, ledger.Call{Method: http.MethodPost, Path: loginPath, Header: basic.Header, Body: []byte(form.Encode())},
		ledger.NewDeadline(time.Now(), time.Minute))
	var said struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Seconds int64  `json:"expires_in"`
		Error   string `json:"error"`
	}
	err := reply.Object(&said)
	switch {
	case reply.Err != nil || reply.Status >= 500 || reply.Status == http.StatusTooManyRequests || err != nil:
		return ledger.Token{}, errors.New("the login could not be renewed: " + orText(reply.Exchange.Error, "Intuit's answer could not be read"))
	case said.Error == "invalid_grant" || said.Error == "invalid_client" || said.Error == "unauthorized_client":
		return ledger.Token{}, fmt.Errorf("%w by Intuit (%s)", ledger.ErrLoginRefused, said.Error)
	case reply.Status != http.StatusOK || said.Access == "":
		return ledger.Token{}, errors.New("the login could not be renewed: Intuit answered in a way that we do not know")
	}
	now := time.Now
	if r.now != nil {
		now = r.now
	}
	t := ledger.Token{Access: said.Access, Refresh: said.Refresh, Expires: now().Add(time.Duration(said.Seconds) * time.Second)}
	if t.Refresh == "" {
		t.Refresh = was.Refresh
	}
	if said.Seconds <= 0 {
		t.Expires = now().Add(time.Hour) // what the vendor documents
	}
	return t, nil
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
