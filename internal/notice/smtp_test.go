package notice_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// smtpServer is a mail server that behaves as a test says.
type smtpServer struct {
	t    testing.TB
	l    net.Listener
	tls  *tls.Config
	pool *x509.CertPool

	mu       sync.Mutex
	letters  []string          // the data of each that was taken
	lines    []string          // every command
	answers  map[string]string // by verb: what is answered instead; "drop" hangs up, "hang" says nothing
	authOver []bool            // whether each AUTH came over TLS
}

func newSMTPServer(t testing.TB) *smtpServer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	s := &smtpServer{t: t, pool: x509.NewCertPool(), answers: map[string]string{},
		tls: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}}
	s.pool.AddCert(cert)
	if s.l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.l.Close() })
	go func() {
		for {
			c, err := s.l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *smtpServer) port() int { return s.l.Addr().(*net.TCPAddr).Port }

// answer sets what is answered to a verb, or to the end of the data with "END".
func (s *smtpServer) answer(verb, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[verb] = text
}

func (s *smtpServer) serve(c net.Conn) {
	defer func() { c.Close() }()
	secure := false
	r := bufio.NewReader(c)
	say := func(verb, otherwise string) bool {
		s.mu.Lock()
		text, ok := s.answers[verb]
		s.mu.Unlock()
		if !ok {
			text = otherwise
		}
		switch text {
		case "drop":
			return false
		case "hang":
			<-s.t.Context().Done()
			return false
		}
		_, err := c.Write([]byte(text + "\r\n"))
		return err == nil
	}
	if !say("GREETING", "220 test ESMTP") {
		return
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		verb := strings.ToUpper(strings.Fields(line + " ")[0])
		s.mu.Lock()
		s.lines = append(s.lines, line)
		if verb == "AUTH" {
			s.authOver = append(s.authOver, secure)
		}
		s.mu.Unlock()
		switch verb {
		case "EHLO":
			more := "250-STARTTLS\r\n"
			if secure {
				more = "250-AUTH PLAIN\r\n"
			}
			if !say(verb, "250-test\r\n"+more+"250 8BITMIME") {
				return
			}
		case "STARTTLS":
			if !say(verb, "220 go") {
				return
			}
			tc := tls.Server(c, s.tls)
			if tc.Handshake() != nil {
				return
			}
			c, r, secure = tc, bufio.NewReader(tc), true
		case "AUTH":
			if !say(verb, "235 welcome") {
				return
			}
		case "DATA":
			if !say(verb, "354 go on") {
				return
			}
			var b strings.Builder
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				b.WriteString(strings.TrimPrefix(line, "."))
			}
			s.mu.Lock()
			refused := s.answers["END"]
			if refused == "" || refused == "drop" || refused == "hang" { // taken, and the answer is perhaps lost
				s.letters = append(s.letters, b.String())
			}
			s.mu.Unlock()
			if !say("END", "250 taken") {
				return
			}
		case "QUIT":
			say(verb, "221 bye")
			return
		default:
			if !say(verb, "250 ok") {
				return
			}
		}
	}
}

func (s *smtpServer) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.letters
	s.letters = nil
	return got
}
