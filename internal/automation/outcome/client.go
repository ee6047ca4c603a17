package outcome

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// Hosts are the hosts, by name, that may be reached without TLS and at private addresses. All others need https and a public
// address, so that nobody can make this server call what only it can reach.
type Hosts []string

func (h Hosts) declared(host string) bool {
	return slices.ContainsFunc(h, func(one string) bool { return strings.EqualFold(one, host) })
}

// Check returns an error in the user's words if an address may not be used.
func (h Hosts) Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(address) > 1000:
		return errors.New("Write an address like https://shop.example.com/hooks/onefold.") //nolint:staticcheck // shown by the field
	case h.declared(u.Hostname()) && (u.Scheme == "http" || u.Scheme == "https"):
		return nil
	case u.Scheme != "https":
		return errors.New("The address must begin with https, or its host must be among those that the server was started with.") //nolint:staticcheck // shown by the field
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && private(ip) {
		return errors.New("That is an address inside a network: the server must be started with this host first.") //nolint:staticcheck // shown by the field
	}
	return nil
}

// private reports whether an address is not one of the public internet.
func private(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return true
	}
	for _, p := range reserved {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

var reserved = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32")}

const (
	timeout   = 10 * time.Second
	maxAnswer = 4 << 10
)

var errPrivate = errors.New("the name leads to an address inside a network")

// client posts: no redirects, no proxy, no repeats, bounded.
type client struct {
	hosts Hosts
	open  *http.Client // to declared hosts
	wary  *http.Client // refuses private addresses, after the name is resolved
}

func newClient(h Hosts) *client {
	made := func(control func(network, address string, c syscall.RawConn) error) *http.Client {
		return &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second, Control: control}).DialContext, MaxIdleConnsPerHost: 2,
				IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 32 << 10}}
	}
	return &client{h, made(nil), made(func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || private(at.Addr()) {
			return errPrivate
		}
		return nil
	})}
}

// Post implements Poster.
func (c *client) Post(ctx context.Context, address string, header map[string]string, body []byte) error {
	if err := c.hosts.Check(address); err != nil {
		return &NotTaken{Text: err.Error()}
	}
	// A body that can be read once is sent once: nothing below us repeats it.
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, struct{ io.Reader }{bytes.NewReader(body)})
	if err != nil {
		return &NotTaken{Text: "the address is not usable"}
	}
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Onefold")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	by := c.wary
	if c.hosts.declared(r.URL.Hostname()) {
		by = c.open
	}
	resp, err := by.Do(r)
	if err != nil {
		return &NotTaken{Text: unreached(err), Away: true}
	}
	defer resp.Body.Close()                                     //nolint:errcheck // it was read
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // what it says is an aid only
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return &NotTaken{Text: fmt.Sprintf("it points elsewhere (%d): outcomes do not follow", code), Away: true}
	default:
		return &NotTaken{Text: strings.TrimRight(fmt.Sprintf("it answered %d: %s", code, plain(string(said))), ": "), Away: code == http.StatusTooManyRequests || code >= 500}
	}
}

func unreached(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		if ue.Timeout() {
			return "it did not answer in time"
		}
		err = ue.Err
	}
	if errors.Is(err, errPrivate) {
		return errPrivate.Error() + ": the server must be started with this host first"
	}
	return plain("it could not be reached: " + err.Error())
}

var markup = regexp.MustCompile(`<[^>]*>`)

// plain is what the other side said, as one short line of text.
func plain(s string) string {
	s = strings.Join(strings.FieldsFunc(markup.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), " "), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}
