package notice

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Webhook posts {"text": …} to one address, as Slack, Mattermost and Teams take it. The address is a secret: whoever has
// it may post. It is never logged and never shown.
type Webhook struct {
	address string
	http    *http.Client
}

// Longest text and answer, in bytes.
const (
	maxChat   = 12 << 10
	maxAnswer = 4 << 10
)

// NewWebhook returns the webhook, or an error in the operator's words without the address. Plain http is allowed only to
// the hosts named.
func NewWebhook(address string, plainHosts []string, timeout time.Duration) (*Webhook, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, errors.New("the address is not a plain https address")
	case u.Scheme == "http" && !slices.Contains(plainHosts, u.Hostname()):
		return nil, fmt.Errorf("the address must begin with https, or its host %s must be among those that may be reached without", u.Hostname())
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the address must begin with https")
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 2, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 32 << 10}
	return &Webhook{address, &http.Client{Transport: transport, Timeout: cmp.Or(timeout, 15*time.Second),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// Post sends the message.
func (w *Webhook) Post(ctx context.Context, m Message) error {
	body, err := json.Marshal(map[string]string{"text": cutBytes(m.chat(), maxChat)})
	if err != nil {
		return &NotTaken{Text: "the message cannot be written", Permanent: true}
	}
	// A body that can be read once is sent once: nothing below us repeats it.
	connected := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address, struct{ io.Reader }{bytes.NewReader(body)})
	if err != nil {
		return &NotTaken{Text: "the address is not usable", Permanent: true}
	}
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("User-Agent", "Onefold")
	resp, err := w.http.Do(r)
	if err != nil {
		return &NotTaken{Text: withoutAddress(err), Unclear: connected}
	}
	defer resp.Body.Close()                                     //nolint:errcheck // it was read
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // what it says is an aid only
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return &NotTaken{Text: fmt.Sprintf("the webhook points elsewhere (%d): messages do not follow", resp.StatusCode)}
	}
	return &NotTaken{Text: fmt.Sprintf("the webhook answered %d: %s", resp.StatusCode, w.clean(string(said)))}
}

// timedOut reports whether the client's own time was over.
func timedOut(err error) bool {
	var ue *url.Error
	return errors.As(err, &ue) && ue.Timeout()
}

// withoutAddress is the error without the address that net/http puts into it.
func withoutAddress(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, context.DeadlineExceeded) || timedOut(err) || strings.Contains(err.Error(), "Client.Timeout") {
		return "the webhook did not answer in time"
	}
	return oneLine("the webhook could not be reached: "+err.Error(), 300)
}

var markup = regexp.MustCompile(`<[^>]*>`)

// clean is what the other side said, without the address and as text.
func (w *Webhook) clean(said string) string {
	said = strings.ReplaceAll(said, w.address, "…")
	if u, err := url.Parse(w.address); err == nil && len(u.Path) > 1 {
		said = strings.ReplaceAll(said, u.Path, "…")
	}
	return oneLine(markup.ReplaceAllString(said, " "), 200)
}

// cutBytes cuts at a character's end, with a mark.
func cutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
