package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"
)

// addressOf finds the network address of the client: of the connection, or what trusted proxies say of it.
func (s *server) addressOf() echo.IPExtractor {
	if len(s.TrustedProxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range s.TrustedProxies {
		trust = append(trust, echo.TrustIPRange(&net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}

// overTLS reports whether the person's browser speaks TLS, with us or with a trusted proxy.
func (s *server) overTLS(r *http.Request) bool {
	return s.Auth.Secure() || r.TLS != nil || s.forwarded(r) == "https"
}

// forwarded is the scheme that a trusted proxy says the browser used; empty if none says.
func (s *server) forwarded(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	for _, p := range s.TrustedProxies {
		if p.Contains(peer.Addr().Unmap()) {
			all := strings.Split(r.Header.Get(echo.HeaderXForwardedProto), ",")
			return strings.ToLower(strings.TrimSpace(all[len(all)-1]))
		}
	}
	return ""
}

// secureCookies marks cookies that are about to be sent as for TLS only.
func secureCookies(h http.Header) {
	for i, cookie := range h["Set-Cookie"] {
		if !strings.Contains(cookie, "; Secure") {
			h["Set-Cookie"][i] = cookie + "; Secure"
		}
	}
}
