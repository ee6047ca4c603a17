package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/securecookie"
	"github.com/gorilla/sessions"
)

// Session is one sign-in on one browser.
type Session struct {
	ID           int64  // for lists; the browser never learns it as its key
	IDHash       string // of the random id in the cookie
	PreviousHash string // of the id before the last rotation
	RotatedAt    time.Time
	Rotate       bool // a new id with the next request
	UserID       int64
	Method       Method
	Passed       bool // nothing is missing, or the second step was passed
	WrongCodes   int
	CreatedAt    time.Time
	SeenAt       time.Time // about a minute exact
	IdleUntil    time.Time
	ExpiresAt    time.Time
	EndedAt      time.Time
	Address      string
	UserAgent    string
	CSRFSecret   string // what form tokens are made from
}

// Over reports whether the session has ended or expired.
func (s Session) Over(now time.Time) bool {
	return !s.EndedAt.IsZero() || !now.Before(s.IdleUntil) || !now.Before(s.ExpiresAt) || !s.Passed && now.Sub(s.CreatedAt) >= codeFor
}

// codeFor is how long after the password the code of the second step may be entered.
const codeFor = 15 * time.Minute

// Method is how a person signed in.
type Method string

const (
	ByPassword Method = "password"
	BySSO      Method = "single_sign_on"
)

// cookieStore is a sessions.Store whose cookie holds a random id, signed; everything else is in the database.
type cookieStore struct {
	auth   *Auth
	name   string
	codecs []securecookie.Codec
}

var _ sessions.Store = (*cookieStore)(nil)

func newCookieStore(a *Auth) *cookieStore {
	return &cookieStore{a, a.cookieName("onefold"), a.codecs("session")}
}

// cookieName binds the name to the host and to TLS, where there is TLS.
func (a *Auth) cookieName(name string) string {
	if a.Config.Secure {
		return "__Host-" + name
	}
	return name
}

// codecs sign with the newest key and accept all. They judge no age: that is in the database, or in the value.
func (a *Auth) codecs(purpose string) []securecookie.Codec {
	var list []securecookie.Codec
	for _, k := range a.Keys {
		list = append(list, securecookie.New(k.Derive(purpose), nil).MaxAge(0).SetSerializer(securecookie.JSONEncoder{}))
	}
	return list
}

func (a *Auth) cookie(name, value string, lasts time.Duration) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: a.Config.Secure, SameSite: http.SameSiteLaxMode,
		MaxAge: int(lasts.Seconds())}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// What a gorilla session of ours holds.
type valueKey string

const (
	rowValue  valueKey = "row"  // Session
	userValue valueKey = "user" // User
	hashValue valueKey = "hash" // of the id that the browser sent
)

// Get implements sessions.Store.
func (c *cookieStore) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(c, name)
}

// New implements sessions.Store. An unreadable cookie is as good as none.
func (c *cookieStore) New(r *http.Request, name string) (*sessions.Session, error) {
	s := sessions.NewSession(c, name)
	s.Options = &sessions.Options{Path: "/"}
	s.IsNew = true
	cookie, err := r.Cookie(name)
	if err != nil || securecookie.DecodeMulti(name, cookie.Value, &s.ID, c.codecs...) != nil {
		s.ID = ""
		return s, nil
	}
	hash := hashID(s.ID)
	row, user, err := c.auth.store.SessionByHash(r.Context(), hash)
	if errors.Is(err, ErrNotFound) {
		s.ID = ""
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the session: %w", err)
	}
	s.IsNew = false
	s.Values[rowValue], s.Values[userValue], s.Values[hashValue] = row, user, hash
	return s, nil
}

// Save implements sessions.Store: it stores a new session under a new id, and sends the cookie.
func (c *cookieStore) Save(r *http.Request, w http.ResponseWriter, s *sessions.Session) error {
	row, _ := s.Values[rowValue].(Session)
	if row.ID == 0 {
		s.ID = newID()
		row.IDHash = hashID(s.ID)
		if row.CSRFSecret == "" {
			row.CSRFSecret = newID()
		}
		row, err := c.auth.store.AddSession(r.Context(), row)
		if err != nil {
			return err
		}
		s.Values[rowValue], s.Values[hashValue] = row, row.IDHash
	}
	return c.send(w, s)
}

// send lets the cookie live longer than the session: an expired one still tells whose typed text is to be kept.
func (c *cookieStore) send(w http.ResponseWriter, s *sessions.Session) error {
	value, err := securecookie.EncodeMulti(c.name, s.ID, c.codecs...)
	if err != nil {
		return fmt.Errorf("sign the cookie: %w", err)
	}
	http.SetCookie(w, c.auth.cookie(c.name, value, c.auth.FormsFor()))
	return nil
}

// begin stores a new session and sends its cookie.
func (c *cookieStore) begin(w http.ResponseWriter, r *http.Request, row Session) (Session, error) {
	s, err := c.Get(r, c.name)
	if err != nil {
		return row, err
	}
	s.Values = map[any]any{rowValue: row}
	if err := s.Save(r, w); err != nil {
		return row, err
	}
	return s.Values[rowValue].(Session), nil
}

// rotate gives the session another id; false if another request did or it has ended. With grace the old id still counts
// for some seconds, for what the browser had sent already.
func (c *cookieStore) rotate(w http.ResponseWriter, r *http.Request, passed, grace bool) (bool, error) {
	s, err := c.Get(r, c.name)
	if err != nil {
		return false, err
	}
	row, _ := s.Values[rowValue].(Session)
	id := newID()
	var at time.Time
	if grace {
		at = c.auth.now()
	}
	ok, err := c.auth.store.RotateSession(r.Context(), row.ID, row.IDHash, hashID(id), at, passed)
	if err != nil || !ok {
		return false, err
	}
	row.PreviousHash, row.IDHash, row.RotatedAt, row.Rotate = row.IDHash, hashID(id), at, false
	row.Passed = row.Passed || passed
	s.ID, s.Values[rowValue], s.Values[hashValue] = id, row, row.IDHash
	return true, c.send(w, s)
}

func (c *cookieStore) drop(w http.ResponseWriter) { http.SetCookie(w, c.auth.cookie(c.name, "", 0)) }

// newID is a random id of 256 bits.
func newID() string { return base64.RawURLEncoding.EncodeToString(random(32)) }

func hashID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// shortAgent is what helps people to tell their browsers apart.
func shortAgent(agent string) string {
	agent = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(agent, "?"))
	if len(agent) > 200 {
		agent = strings.ToValidUTF8(agent[:200], "")
	}
	return agent
}
