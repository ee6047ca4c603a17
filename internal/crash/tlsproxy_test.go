//go:build unix

package crash

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// tlsProxy ends TLS in front of the accounting system. It can hold a connection before the handshake: the client has
// dialled and cannot hand over a byte of its request yet. So a server can be frozen surely between claim and send,
// without any help from its code.
type tlsProxy struct {
	address string // https://...
	roots   string // file with the certificate, for SSL_CERT_FILE
	to      string

	mu   sync.Mutex
	hold *held // the next connection goes here
}

// held is one connection that waits.
type held struct {
	dialled chan struct{} // closed when the client has dialled
	release chan struct{} // closed by the test
	over    chan struct{} // closed when the client has hung up
	bytes   int64         // of requests that the client handed over; read after over
}

func newTLSProxy(t *testing.T, dir, to string) *tlsProxy {
	t.Helper()
	certificate, roots := selfSigned(t, dir)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck,gosec // on the way out
	p := &tlsProxy{address: "https://" + l.Addr().String(), roots: roots, to: to}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(conn, config)
		}
	}()
	return p
}

// holdNext lets the next connection wait before its handshake.
func (p *tlsProxy) holdNext() *held {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = &held{dialled: make(chan struct{}), release: make(chan struct{}), over: make(chan struct{})}
	return p.hold
}

func (p *tlsProxy) serve(raw net.Conn, config *tls.Config) {
	defer raw.Close() //nolint:errcheck // on the way out
	p.mu.Lock()
	h := p.hold
	p.hold = nil
	p.mu.Unlock()
	if h == nil {
		h = &held{dialled: make(chan struct{}), release: make(chan struct{}), over: make(chan struct{})}
		close(h.release)
	}
	close(h.dialled)
	<-h.release
	defer close(h.over)
	conn := tls.Server(raw, config)
	raw.SetDeadline(time.Now().Add(time.Minute)) //nolint:errcheck,gosec // a bound only
	if conn.Handshake() != nil {
		return
	}
	inside, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer inside.Close() //nolint:errcheck // on the way out
	go func() {
		io.Copy(conn, inside) //nolint:errcheck,gosec // either side may hang up
		conn.Close()          //nolint:errcheck,gosec // so that the other direction ends
	}()
	h.bytes, _ = io.Copy(inside, conn)
}

func selfSigned(t *testing.T, dir string) (tls.Certificate, string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "crash run"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	roots := filepath.Join(dir, "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, roots
}
