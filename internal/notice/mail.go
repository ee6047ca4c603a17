package notice

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

// SMTPConfig says which mail server takes our messages.
type SMTPConfig struct {
	Host     string
	Port     int    // 0: 587, or 465 with TLS "tls"
	TLS      string // "starttls", "tls", or "none" for a server on this machine or in a closed network; empty: starttls
	User     string // empty: no sign-in
	Password string
	From     string        // our address
	Name     string        // who it is from, for people; empty: Onefold
	Timeout  time.Duration // of connecting and of each message; 0: 15 seconds

	trust *tls.Config // of tests
}

// SMTP sends e-mails through a mail server, each over a connection of its own.
type SMTP struct{ cfg SMTPConfig }

// NewSMTP returns the sender, or an error in the operator's words.
func NewSMTP(c SMTPConfig) (*SMTP, error) {
	c.TLS, c.Name, c.Timeout = cmp.Or(c.TLS, "starttls"), cmp.Or(c.Name, "Onefold"), cmp.Or(c.Timeout, 15*time.Second)
	switch {
	case c.Host == "" || strings.ContainsAny(c.Host, " /:@"):
		return nil, fmt.Errorf("the mail server %q is no host name: its port has a setting of its own", c.Host)
	case c.Port < 0 || c.Port > 65535:
		return nil, fmt.Errorf("the mail server's port %d is none", c.Port)
	case !GoodAddress(c.From):
		return nil, fmt.Errorf("messages need a sender: %q is not a plain e-mail address", c.From)
	case c.TLS != "starttls" && c.TLS != "tls" && c.TLS != "none":
		return nil, fmt.Errorf("the mail server's TLS is %q: use starttls, tls or none", c.TLS)
	case (c.User == "") != (c.Password == ""):
		return nil, errors.New("the mail server needs both a user and a password, or neither")
	case c.TLS == "none" && c.User != "":
		return nil, errors.New("the password is not sent to the mail server without TLS: use starttls or tls")
	}
	s := &SMTP{c}
	if _, err := s.client(); err != nil {
		return nil, fmt.Errorf("the mail server's settings: %w", err)
	}
	return s, nil
}

func (s *SMTP) client() (*mail.Client, error) {
	o := []mail.Option{mail.WithTimeout(s.cfg.Timeout), mail.WithoutNoop()}
	switch s.cfg.TLS {
	case "tls":
		o = append(o, mail.WithSSL(), mail.WithPort(cmp.Or(s.cfg.Port, 465)))
	case "none":
		o = append(o, mail.WithTLSPolicy(mail.NoTLS), mail.WithPort(cmp.Or(s.cfg.Port, 587)))
	default: // a server that does not offer it gets nothing
		o = append(o, mail.WithTLSPolicy(mail.TLSMandatory), mail.WithPort(cmp.Or(s.cfg.Port, 587)))
	}
	if s.cfg.trust != nil {
		o = append(o, mail.WithTLSConfig(s.cfg.trust))
	}
	if s.cfg.User != "" {
		o = append(o, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(s.cfg.User), mail.WithPassword(s.cfg.Password))
	}
	return mail.NewClient(s.cfg.Host, o...)
}

// Mail sends one message to one address. The id belongs to the message: a repeat carries the same, so that mail servers
// and programs may recognise it.
func (s *SMTP) Mail(ctx context.Context, to, id string, m Message, at time.Time) error {
	msg, err := s.letter(to, id, m, at)
	if err != nil {
		return &NotTaken{Text: "the message cannot be written: " + err.Error(), Permanent: true}
	}
	c, err := s.client()
	if err != nil {
		return &NotTaken{Text: "the mail server's settings: " + err.Error()}
	}
	conn, err := c.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return &NotTaken{Text: s.clean(reach(err)), Away: true}
	}
	defer c.CloseWithSMTPClient(conn) //nolint:errcheck // it was taken or not: the goodbye does not matter
	err = c.SendWithSMTPClient(conn, msg)
	if err == nil || msg.IsDelivered() {
		return nil
	}
	not := &NotTaken{Text: s.clean("the mail server did not take it: " + why(err))}
	var se *mail.SendError
	if errors.As(err, &se) {
		code := se.ErrorCode()
		// Only a refusal of this address or this message is for good; a sender who is refused can be mended.
		not.Permanent = code >= 500 && code < 600 && (se.Reason == mail.ErrSMTPRcptTo || se.Reason == mail.ErrSMTPDataClose)
		// All was handed over and no answer came.
		not.Unclear = se.Reason == mail.ErrSMTPDataClose && code == 0
	}
	return not
}

// letter is the message as a mail: text and simple HTML.
func (s *SMTP) letter(to, id string, m Message, at time.Time) (*mail.Msg, error) {
	if !GoodAddress(to) {
		return nil, errors.New("the address is not a plain e-mail address")
	}
	html, err := m.html()
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(msg.FromFormat(oneLine(strings.ReplaceAll(s.cfg.Name, `"`, ""), maxName), s.cfg.From), msg.To(to)); err != nil {
		return nil, err
	}
	msg.Subject(oneLine(m.Subject, maxSubject)) // no line break reaches a header
	msg.SetDateWithValue(at)
	sum := sha256.Sum256([]byte(id + " " + to))
	msg.SetMessageIDWithValue("onefold." + hex.EncodeToString(sum[:12]) + s.cfg.From[strings.LastIndexByte(s.cfg.From, '@'):])
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no answer of a machine comes back
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	msg.SetBodyString(mail.TypeTextPlain, m.text())
	msg.AddAlternativeString(mail.TypeTextHTML, html)
	return msg, nil
}

// reach says in plain words why the mail server could not be reached or did not let us in.
func reach(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dns):
		return "the mail server's name is not known"
	case errors.As(err, &cert):
		return "the mail server's certificate is not valid: " + cert.Err.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &op) && op.Timeout():
		return "the mail server does not answer in time"
	case errors.As(err, &op) && op.Op == "dial":
		return "the mail server cannot be reached: " + op.Err.Error()
	}
	return "the mail server did not let us in: " + err.Error()
}

// why is the innermost reason, without the addresses that go-mail adds.
func why(err error) string {
	text := err.Error()
	text, _, _ = strings.Cut(text, ", affected recipient(s)")
	text, _, _ = strings.Cut(text, ", affected message ID")
	return strings.TrimPrefix(text, "client_send: ")
}

// clean takes the password out, whoever repeated it.
func (s *SMTP) clean(text string) string {
	if s.cfg.Password != "" {
		text = strings.ReplaceAll(text, s.cfg.Password, "…")
	}
	return oneLine(text, 300)
}
