package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/gorilla/securecookie"
	"golang.org/x/oauth2"

	"onefold/internal/work"
)

// SSOConfig says at which OpenID Connect provider people sign in.
type SSOConfig struct {
	Name         string // on the button; empty: the issuer's host
	Issuer       string
	ClientID     string
	ClientSecret string
	RedirectURL  string   // our own address for the answer, as registered at the provider
	Scopes       []string // besides openid, email and profile

	GroupsClaim  string                 // empty: "groups"
	GroupRoles   map[string][]work.Role // of each group; empty: roles are given here, not there
	DefaultRoles []work.Role            // of people in none of these groups; empty: they are refused

	LinkByEmail bool // a person that we know by the same verified e-mail address is taken
	Provision   bool // people whom we do not know are added, by their verified e-mail address

	HTTP *http.Client // nil: one with time limits
}

// SSOError says why a single sign-on was refused. Code is stable.
type SSOError struct {
	Code  SSOCode
	cause error
}

// SSOCode names a refusal of a single sign-on.
type SSOCode string

const (
	SSOUnreachable SSOCode = "unreachable"    // the provider does not answer
	SSODenied      SSOCode = "denied"         // the provider said no
	SSOState       SSOCode = "state"          // the answer does not belong to a sign-in begun on this browser, or came too late
	SSOExchange    SSOCode = "exchange"       // the provider did not honour its own code
	SSOToken       SSOCode = "id_token"       // the proof is not signed by the provider, not for us, or has expired
	SSONonce       SSOCode = "nonce"          // the proof belongs to another sign-in
	SSOEmail       SSOCode = "email"          // there is no verified e-mail address
	SSOUnknown     SSOCode = "unknown_person" // nobody here belongs to it
	SSODisabled    SSOCode = "disabled"
	SSONoRole      SSOCode = "no_role" // in none of the groups that may come in
)

func (e *SSOError) Error() string {
	if e.cause == nil {
		return "single sign-on was refused: " + string(e.Code)
	}
	return "single sign-on was refused: " + string(e.Code) + ": " + e.cause.Error()
}

func (e *SSOError) Unwrap() error { return e.cause }

// sso signs people in at one provider.
type sso struct {
	SSOConfig
	auth   *Auth
	cookie string
	codecs []securecookie.Codec

	mu       sync.Mutex
	provider *oidc.Provider // nil until it was reached
}

func newSSO(a *Auth, c SSOConfig) (*sso, error) {
	issuer, err := url.Parse(c.Issuer)
	if err != nil || issuer.Host == "" || issuer.Scheme != "https" && issuer.Scheme != "http" {
		return nil, fmt.Errorf("the single sign-on issuer %q is no address: write it as the provider does, for example https://login.example.com", c.Issuer)
	}
	if c.ClientID == "" || c.RedirectURL == "" {
		return nil, errors.New("single sign-on needs a client id and the public address of these pages")
	}
	if c.Name == "" {
		c.Name = issuer.Host
	}
	if c.GroupsClaim == "" {
		c.GroupsClaim = "groups"
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	s := &sso{SSOConfig: c, auth: a, cookie: a.cookieName("onefold-sso")}
	for _, k := range a.Keys {
		s.codecs = append(s.codecs, securecookie.New(k.Derive("sso"), k.Derive("sso block")).MaxAge(0).SetSerializer(securecookie.JSONEncoder{}))
	}
	return s, nil
}

// SSOName is what the provider is called on the button; empty without single sign-on.
func (a *Auth) SSOName() string {
	if a.sso == nil {
		return ""
	}
	return a.sso.Name
}

// trip is what must be remembered on the browser while the person is at the provider.
type trip struct {
	State, Nonce, Verifier, Next string
	Until                        int64
}

const tripFor = 10 * time.Minute

// reach returns the provider, and asks it for its description the first time.
func (s *sso) reach(ctx context.Context) (*oidc.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.provider != nil {
		return s.provider, nil
	}
	// The provider keeps the context for later: it must not end with this request. The client has its own time limit.
	p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), s.HTTP), s.Issuer)
	if err != nil {
		return nil, &SSOError{SSOUnreachable, err}
	}
	s.provider = p
	return p, nil
}

func (s *sso) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: s.ClientID, ClientSecret: s.ClientSecret, RedirectURL: s.RedirectURL, Endpoint: p.Endpoint(),
		Scopes: append([]string{oidc.ScopeOpenID, "email", "profile"}, s.Scopes...)}
}

// BeginSSO returns the provider's address to send the browser to. Next is where the person wanted to go.
func (a *Auth) BeginSSO(w http.ResponseWriter, r *http.Request, next string) (string, error) {
	if a.sso == nil {
		return "", ErrForbidden
	}
	p, err := a.sso.reach(r.Context())
	if err != nil {
		return "", err
	}
	t := trip{newID(), newID(), oauth2.GenerateVerifier(), next, a.now().Add(tripFor).Unix()}
	value, err := securecookie.EncodeMulti(a.sso.cookie, t, a.sso.codecs...)
	if err != nil {
		return "", fmt.Errorf("single sign-on: %w", err)
	}
	http.SetCookie(w, a.cookie(a.sso.cookie, value, tripFor))
	return a.sso.oauth(p).AuthCodeURL(t.State, oidc.Nonce(t.Nonce), oauth2.S256ChallengeOption(t.Verifier)), nil
}

// FinishSSO takes the provider's answer and starts a session on this browser. It returns where the person wanted to go,
// or an *SSOError.
func (a *Auth) FinishSSO(w http.ResponseWriter, r *http.Request, from Origin) (Visit, string, error) {
	if a.sso == nil {
		return Visit{}, "", ErrForbidden
	}
	t, known := a.sso.trip(r)
	http.SetCookie(w, a.cookie(a.sso.cookie, "", 0)) // good for one answer
	if !known {
		return a.refuseSSO(r, from, &SSOError{Code: SSOState})
	}
	proof, err := a.sso.prove(r, t)
	if err != nil {
		return a.refuseSSO(r, from, err)
	}
	u, err := a.sso.person(r.Context(), proof, from)
	if err != nil {
		return a.refuseSSO(r, from, err)
	}
	v, err := a.begin(w, r, u, BySSO, from)
	return v, t.Next, err
}

// trip returns what the browser remembers of the sign-in to which the answer belongs.
func (s *sso) trip(r *http.Request) (t trip, known bool) {
	cookie, err := r.Cookie(s.cookie)
	if err != nil || securecookie.DecodeMulti(s.cookie, cookie.Value, &t, s.codecs...) != nil {
		return t, false
	}
	state := r.URL.Query().Get("state")
	return t, t.State != "" && digest("state", state) == digest("state", t.State) && s.auth.now().Unix() < t.Until
}

func (a *Auth) refuseSSO(r *http.Request, from Origin, err error) (Visit, string, error) {
	var refusal *SSOError
	if !errors.As(err, &refusal) {
		return Visit{}, "", err
	}
	a.Log.WarnContext(r.Context(), "a single sign-on was refused", "error", refusal)
	e := Entry{From: from, What: DidSignInFailed, Object: "single_sign_on", Note: string(refusal.Code)}
	return Visit{}, "", errors.Join(err, a.Audit(r.Context(), e))
}

// proof is what the provider says about a person.
type proof struct {
	issuer, subject, email, name string
	verified                     bool
	groups                       []string
}

// prove exchanges the code and checks the proof: signature, issuer, audience, time and nonce.
func (s *sso) prove(r *http.Request, t trip) (proof, error) {
	q := r.URL.Query()
	if code := q.Get("error"); code != "" {
		return proof{}, &SSOError{SSODenied, errors.New(shortAgent(code))}
	}
	if iss := q.Get("iss"); iss != "" && iss != s.Issuer {
		return proof{}, &SSOError{SSOState, errors.New("the answer is another provider's")}
	}
	p, err := s.reach(r.Context())
	if err != nil {
		return proof{}, err
	}
	ctx := oidc.ClientContext(r.Context(), s.HTTP)
	token, err := s.oauth(p).Exchange(ctx, q.Get("code"), oauth2.VerifierOption(t.Verifier))
	if err != nil {
		var said *oauth2.RetrieveError
		if errors.As(err, &said) { // its text holds the provider's whole answer
			err = errors.New(shortAgent(said.ErrorCode))
		}
		return proof{}, &SSOError{SSOExchange, err}
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := p.VerifierContext(ctx, &oidc.Config{ClientID: s.ClientID, Now: s.auth.now}).Verify(ctx, raw)
	if err != nil {
		return proof{}, &SSOError{SSOToken, err}
	}
	if id.Subject == "" {
		return proof{}, &SSOError{SSOToken, errors.New("it names nobody")}
	}
	if id.Nonce != t.Nonce {
		return proof{}, &SSOError{Code: SSONonce}
	}
	return s.read(id)
}

func (s *sso) read(id *oidc.IDToken) (proof, error) {
	claims := map[string]json.RawMessage{}
	if err := id.Claims(&claims); err != nil {
		return proof{}, &SSOError{SSOToken, err}
	}
	text := func(name string) (v string) {
		_ = json.Unmarshal(claims[name], &v) // another type is as good as none
		return strings.TrimSpace(v)
	}
	got := proof{issuer: id.Issuer, subject: id.Subject, email: text("email"), name: text("name")}
	// Some providers write the flag as text.
	flag := string(claims["email_verified"])
	got.verified = flag == "true" || flag == `"true"`
	if json.Unmarshal(claims[s.GroupsClaim], &got.groups) != nil {
		if one := text(s.GroupsClaim); one != "" {
			got.groups = []string{one}
		}
	}
	return got, nil
}
