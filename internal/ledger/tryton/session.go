package tryton

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"onefold/internal/ledger"
)

// session is the login of the reads: checking a password takes Tryton a third of a second, a session does not.
//
// Writes do not use it. A session that was idle for a while (300 s unless the server is set up otherwise) still reads,
// but Tryton then refuses to post with it and deletes it (RPC's fresh_session), and reading does not make it fresh again.
type session struct {
	http           *ledger.Transport
	path           string
	user, password string

	mu   sync.Mutex
	auth string // of the session that we have; empty: none
}

func basic(user, password string) func(http.Header) {
	value := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	return func(h http.Header) { h.Set("Authorization", value) }
}

// read makes one reading call, with a new session if the one that we have has ended. If ok is false, Found says why.
func (s *session) read(ctx context.Context, method string, params ...any) (result json.RawMessage, f ledger.Found, ok bool) {
	auth, f, ok := s.login(ctx, "")
	if !ok {
		return nil, f, false
	}
	reply := s.call(ctx, auth, method, params)
	if reply.Status == http.StatusUnauthorized {
		if auth, f, ok = s.login(ctx, auth); !ok {
			return nil, f, false
		}
		reply = s.call(ctx, auth, method, params)
	}
	return judged(reply)
}

func (s *session) call(ctx context.Context, auth, method string, params []any) ledger.Reply {
	call := rpc(s.path, method, params...)
	call.Header.Set("Authorization", auth)
	return s.http.Read(ctx, call)
}

// login returns the header of a session that is not the ended one.
func (s *session) login(ctx context.Context, ended string) (auth string, f ledger.Found, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.auth != ended {
		return s.auth, f, true
	}
	s.auth = ""
	result, f, ok := judged(s.http.Read(ctx, rpc(s.path, "common.db.login", s.user, map[string]string{"password": s.password})))
	f.Exchange.Request, f.Exchange.Response = "", "" // logins are not recorded
	if !ok {
		return "", f, false
	}
	var session []json.RawMessage // the user's id and the key
	var user id
	var key string
	if json.Unmarshal(result, &session) != nil || len(session) != 2 || json.Unmarshal(session[0], &user) != nil ||
		json.Unmarshal(session[1], &key) != nil || user == 0 || key == "" {
		f.Exchange.Error = "Tryton answered the login in a way that we do not know, could not check"
		return "", f, false
	}
	s.auth = "Session " + base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d:%s", s.user, user, key))
	return s.auth, f, true
}

// judged unpacks the answer to a reading call.
func judged(reply ledger.Reply) (result json.RawMessage, f ledger.Found, ok bool) {
	f, over := reply.Read()
	if over {
		return nil, f, false
	}
	result, err := resultOf(reply)
	var told *failure
	switch {
	case errors.As(err, &told) && told.kind == "LoginException":
		f.Deferred, f.Login = true, true
		f.Exchange.Error = "Tryton wants more than a password to log in: " + told.Error()
	case told != nil:
		f.Exchange.Error = "Tryton did not answer the question: " + told.Error() + ", could not check"
	case err != nil:
		f.Exchange.Error = err.Error() + ", could not check"
	case reply.Status != http.StatusOK:
		f.Exchange.Error = "Tryton answered in a way that we do not know, could not check"
	default:
		return result, f, true
	}
	return nil, f, false
}
