package notice

import (
	"crypto/tls"
	"crypto/x509"
)

// Trust lets tests use a mail server with a certificate of their own.
func (c SMTPConfig) Trust(pool *x509.CertPool) SMTPConfig {
	c.trust = &tls.Config{RootCAs: pool, ServerName: c.Host, MinVersion: tls.VersionTLS12}
	return c
}

// Chat is the message as chat channels show it.
func (m Message) Chat() string { return m.chat() }
