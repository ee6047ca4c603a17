package notice_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"onefold/internal/notice"
)

func hookTo(t *testing.T, h http.HandlerFunc) (*notice.Webhook, *httptest.Server) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	w, err := notice.NewWebhook(srv.URL+"/services/SECRET", []string{"127.0.0.1"}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return w, srv
}

func TestWebhookTakesSlacksForm(t *testing.T) {
	var body []byte
	w, _ := hookTo(t, func(_ http.ResponseWriter, r *http.Request) { body, _ = io.ReadAll(r.Body) })
	m := notice.Message{Subject: "<!channel> & @here [x](https://evil.example)", Lead: "Lead", Lines: []notice.Line{{Text: "3 × *Books*", Note: strings.Repeat("long ", 10_000),
		Link: "https://onefold.example/?tab=review&system=books"}}, Link: "https://onefold.example/", Open: "Open"}
	if err := w.Post(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(body, &got); err != nil || len(got) != 1 || got["text"] == "" || len(body) > 16<<10 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	for _, bad := range []string{"<!", "@here", "](", "*Books*"} {
		if strings.Contains(got["text"], bad) {
			t.Errorf("has %q: %.300s", bad, got["text"])
		}
	}
	if m.Lines[0].Note = "note"; !strings.Contains(m.Chat(), "https://onefold.example/?tab=review&amp;system=books") {
		t.Error(m.Chat())
	}
}

func TestWebhooksThatMisbehave(t *testing.T) {
	for name, c := range map[string]struct {
		h       http.HandlerFunc
		says    string
		unclear bool
	}{
		"refuses": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<b>no_service</b> at http://"+r.Host+r.URL.Path)
		}, "answered 404: no_service", false},
		"endless answer": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		}, "answered 500", false},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
		}, "points elsewhere", false},
		"hangs":    {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "in time", true},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "could not be reached", true},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			w, _ := hookTo(t, func(rw http.ResponseWriter, r *http.Request) {
				calls++
				_, _ = io.Copy(io.Discard, r.Body)
				c.h(rw, r)
			})
			var not *notice.NotTaken
			err := w.Post(t.Context(), notice.Message{Subject: "s"})
			if !errors.As(err, &not) || !strings.Contains(not.Text, c.says) || not.Unclear != c.unclear || strings.Contains(not.Text, "SECRET") || len(not.Text) > 600 {
				t.Errorf("%+v", not)
			}
			if calls != 1 {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

func TestWebhookAddresses(t *testing.T) {
	for address, ok := range map[string]bool{"https://hooks.slack.com/services/x": true, "http://chat.internal/x": true, "http://elsewhere.example/x": false, "ftp://chat.internal/x": false,
		"": false, "chat": false, "https://user:pw@chat.internal/x": false, "file:///etc/passwd": false} {
		_, err := notice.NewWebhook(address, []string{"chat.internal"}, 0)
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("says %v", err)
		}
	}
}
