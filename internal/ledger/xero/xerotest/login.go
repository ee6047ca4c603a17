package xerotest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"onefold/internal/ledger/ledgertest"
)

// Code is what a person comes back with from the login page.
const Code = "the-code-of-the-login-page"

// token is the identity server. A refresh token works once.
func (s *Server) token(w http.ResponseWriter, r *http.Request, body []byte) {
	id, secret, ok := r.BasicAuth()
	form, err := url.ParseQuery(string(body))
	grant := form.Get("grant_type")
	var fault string
	switch {
	case s.fault[""] == "login_down":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case !ok || err != nil || id != ClientID || secret != s.opts.Secret:
		fault = "invalid_client"
	case grant == "refresh_token" && (s.refresh == "" || form.Get("refresh_token") != s.refresh):
		fault = "invalid_grant"
	case grant == "client_credentials" && strings.Contains(form.Get("scope"), "offline_access"):
		fault = "invalid_scope"
	case grant == "authorization_code" && (form.Get("code") != Code || form.Get("redirect_uri") == ""):
		fault = "invalid_grant"
	case grant != "refresh_token" && grant != "client_credentials" && grant != "authorization_code":
		fault = "unsupported_grant_type"
	}
	if fault != "" {
		answer(w, http.StatusBadRequest, map[string]any{"error": fault})
		return
	}
	access, refresh := s.issue()
	said := map[string]any{"access_token": access, "expires_in": int(tokenLife / time.Second), "token_type": "Bearer", "scope": form.Get("scope")}
	if grant != "client_credentials" {
		said["refresh_token"] = refresh
	}
	answer(w, http.StatusOK, said)
}

func (s *Server) connections(w http.ResponseWriter, r *http.Request) {
	if !s.loggedIn(r) {
		answer(w, http.StatusUnauthorized, map[string]any{"Title": "Unauthorized", "Status": 401})
		return
	}
	list := []any{map[string]any{"id": "1", "tenantId": "0f0e0d0c-0000-4000-8000-000000000009", "tenantType": "PRACTICE", "tenantName": "A practice"}}
	for i, t := range s.tenants {
		list = append(list, map[string]any{"id": fmt.Sprint(i + 2), "tenantId": t, "tenantType": "ORGANISATION", "tenantName": fmt.Sprintf("Company %d", i+1)})
	}
	answer(w, http.StatusOK, list)
}

func (s *Server) loggedIn(r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	ends, ok := s.tokens[token]
	return ok && s.now().Before(ends)
}

// limited answers 429 if a limit is reached. Retry-After comes with the minute's and the day's limit only.
func (s *Server) limited(w http.ResponseWriter, f ledgertest.Fault) bool {
	problem, wait := "", ""
	if told, ok := strings.CutPrefix(string(f), "limit:"); ok {
		problem, wait, _ = strings.Cut(told, ":")
	}
	now := s.now()
	for len(s.minute) > 0 && now.Sub(s.minute[0]) >= time.Minute {
		s.minute = s.minute[1:]
	}
	if s.opts.PerMinute > 0 && len(s.minute) >= s.opts.PerMinute {
		problem, wait = "minute", fmt.Sprint(int(time.Minute.Seconds()-now.Sub(s.minute[0]).Seconds())+1)
	}
	if problem == "" {
		s.minute = append(s.minute, now)
		w.Header().Set("X-MinLimit-Remaining", fmt.Sprint(max(0, s.opts.PerMinute-len(s.minute))))
		return false
	}
	w.Header().Set("X-Rate-Limit-Problem", problem)
	if wait != "" {
		w.Header().Set("Retry-After", wait)
	}
	w.WriteHeader(http.StatusTooManyRequests)
	return true
}
