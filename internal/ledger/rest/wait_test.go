package rest_test

import (
	"net/http"
	"testing"
	"time"

	"onefold/internal/work"
)

// An answer that asks to wait, or that another request is at work, is later again; a wait without bounds is bounded.
func TestAnswersThatAskToWait(t *testing.T) {
	definition := changed(t, "rejected: .status == 422", "rejected: .status == 422\n      wait: .status == 403 and .body.code == \"limit\"\n      wait_seconds: .body.seconds\n      in_progress: .status == 409\n      login: .status == 403 and .body.code == \"key\"")
	for name, c := range map[string]struct {
		status       int
		body, header string
		wait         time.Duration
		login        bool
	}{
		"seconds":           {403, `{"code":"limit","seconds":90}`, "", 90 * time.Second, false},
		"parts of a second": {403, `{"code":"limit","seconds":0.2}`, "", time.Second, false},
		"for ever":          {403, `{"code":"limit","seconds":99999999999}`, "", 24 * time.Hour, false},
		"nonsense":          {403, `{"code":"limit","seconds":"soon"}`, "30", 30 * time.Second, false},
		"in progress":       {409, `{}`, "7", 7 * time.Second, false},
		"the login":         {403, `{"code":"key"}`, "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := connected(t, definition, served(t, func(w http.ResponseWriter, r *http.Request) {
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				says(c.status, "application/json", c.body)(w, r)
			}).URL)
			a := send(t, s, "INV-1", invoice(t, "47.99", "EUR"))
			if a.Outcome != work.Deferred || a.RetryAfter != c.wait || a.Login != c.login {
				t.Errorf("%s, wait %s, login %v: %s", a.Outcome, a.RetryAfter, a.Login, a.Exchange.Error)
			}
		})
	}
}
