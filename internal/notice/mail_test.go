package notice_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"time"

	"onefold/internal/notice"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

const smtpPassword = "pass-w0rd-of-the-mail-server"

func smtpConfig(s *smtpServer) notice.SMTPConfig {
	return notice.SMTPConfig{Host: "127.0.0.1", Port: s.port(), User: "onefold", Password: smtpPassword, From: "onefold@example.com", Timeout: 2 * time.Second}.Trust(s.pool)
}

func sender(t *testing.T, c notice.SMTPConfig) *notice.SMTP {
	t.Helper()
	s, err := notice.NewSMTP(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// letter reads a mail as a program does: headers, text and HTML.
func letter(t *testing.T, raw string) (mail.Header, string, string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s %v", kind, err)
	}
	var parts []string
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = p
		if p.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
			body = quotedprintable.NewReader(p)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(text))
	}
	if len(parts) != 2 {
		t.Fatalf("%d parts", len(parts))
	}
	return m.Header, parts[0], parts[1]
}

func TestMailIsTaken(t *testing.T) {
	s := newSMTPServer(t)
	m := notice.Message{Subject: "Ä needs a person", Lead: "Lead", Lines: []notice.Line{{Text: "3 × Books", Note: "note", Link: "https://onefold.example/?a=1&b=2"}},
		Link: "https://onefold.example/", Open: "Open", Foot: "Foot"}
	for range 2 {
		if err := sender(t, smtpConfig(s)).Mail(t.Context(), "ada@example.com", "7", m, noon); err != nil {
			t.Fatal(err)
		}
	}
	got := s.taken()
	if len(got) != 2 {
		t.Fatalf("%d mails", len(got))
	}
	h, text, html := letter(t, got[0])
	again, _, _ := letter(t, got[1])
	subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
	if err != nil || subject != m.Subject || h.Get("To") != "<ada@example.com>" || h.Get("Auto-Submitted") != "auto-generated" || !strings.Contains(h.Get("From"), "Onefold") {
		t.Errorf("%v %v", h, err)
	}
	if id := h.Get("Message-ID"); id == "" || id != again.Get("Message-ID") {
		t.Errorf("a repeat has another id: %s", id)
	}
	if !strings.Contains(text, "  https://onefold.example/?a=1&b=2") || !strings.Contains(html, `href="https://onefold.example/?a=1&amp;b=2"`) {
		t.Errorf("%s\n%s", text, html)
	}
	if len(s.authOver) != 2 || !s.authOver[0] {
		t.Errorf("signed in over TLS: %v", s.authOver)
	}
}

// trial 121: a customer's name in a mail is shown literally; nothing in it runs, becomes a link or a header.
func TestTrial121_NameInAMail(t *testing.T) {
	s := newSMTPServer(t)
	w := newWorld(t, storetest.SQLite(t), func(c *notice.Config) { c.Mail = sender(t, smtpConfig(s)) })
	w.person("ada", work.Operator)
	evil := `</script><img src=x onerror=alert(1)> https://evil.example/login {key} ` + "\u202e" + strings.Repeat("long ", 100)
	id := w.Put(evil, rt.Money(t, "1", "EUR"), "INV-<b>1</b>")[0]
	w.Until(id, func() {
		w.Send(id, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: "Bad\r\nBcc: all@example.com\r\n\r\n<a href=\"https://evil.example\">x</a>"}})
	})
	w.rounds(3 * time.Minute)
	got := s.taken()
	if len(got) != 1 {
		t.Fatalf("%d mails", len(got))
	}
	h, text, html := letter(t, got[0])
	if h.Get("Bcc") != "" || strings.Count(got[0], "\nTo: ") != 1 {
		t.Errorf("headers: %v", h)
	}
	for _, bad := range []string{"<img", "<script", "<b>", "href=\"https://evil", "https://evil", "\u202e"} {
		if strings.Contains(html, bad) {
			t.Errorf("the mail has %q: %s", bad, html)
		}
	}
	if !strings.Contains(html, "&lt;img src=x onerror=alert(1)&gt;") || !strings.Contains(text, "<img src=x onerror=alert(1)> https: //evil.example/login {key}") {
		t.Errorf("not shown literally: %s\n%s", text, html)
	}
	if strings.Contains(text, strings.Repeat("long ", 50)) {
		t.Error("the name is not cut")
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
	if err != nil || subject != "INV-<b>1</b> needs a person" {
		t.Errorf("%q %v", subject, err)
	}
}

func TestNoHeaderCanBeInjected(t *testing.T) {
	s := newSMTPServer(t)
	m := sender(t, smtpConfig(s))
	evil := "x\r\nBcc: all@example.com\r\n\r\nbody"
	if err := m.Mail(t.Context(), "ada@example.com", evil, notice.Message{Subject: evil, Lead: evil, Open: evil, Foot: evil}, noon); err != nil {
		t.Fatal(err)
	}
	h, _, _ := letter(t, s.taken()[0])
	for name := range h {
		if strings.EqualFold(name, "Bcc") {
			t.Errorf("headers: %v", h)
		}
	}
	for _, to := range []string{"ada@example.com\r\nRCPT TO:<b@example.com>", "Ada <ada@example.com>", "ada@example.com, b@example.com", "ada@example.com>", "", "ada", strings.Repeat("a", 300) + "@example.com"} {
		var not *notice.NotTaken
		if err := m.Mail(t.Context(), to, "1", notice.Message{Subject: "s"}, noon); !errors.As(err, &not) || !not.Permanent {
			t.Errorf("%q: %v", to, err)
		}
	}
	if got := s.taken(); len(got) != 0 {
		t.Errorf("%d mails", len(got))
	}
}

// What the mail server does decides whether the message is tried again; a lost answer is told from a refusal.
func TestMailServersThatMisbehave(t *testing.T) {
	for name, c := range map[string]struct {
		verb, answer             string
		permanent, unclear, away bool
		says                     string
	}{
		"refuses the address":  {"RCPT", "550 no such mailbox", true, false, false, "no such mailbox"},
		"busy":                 {"RCPT", "451 try later", false, false, false, "try later"},
		"refuses the sender":   {"MAIL", "550 not you", false, false, false, "not you"},
		"refuses the message":  {"END", "554 spam", true, false, false, "spam"},
		"takes it later":       {"END", "452 full", false, false, false, "full"},
		"hangs up after all":   {"END", "drop", false, true, false, ""},
		"hangs after all":      {"END", "hang", false, true, false, ""},
		"hangs up before data": {"DATA", "drop", false, false, false, ""},
		"hangs up":             {"GREETING", "drop", false, false, true, ""},
		"hangs":                {"GREETING", "hang", false, false, true, "in time"},
		"refuses the password": {"AUTH", "535 wrong password " + smtpPassword, false, false, true, "wrong password"},
		"will not speak TLS":   {"EHLO", "250 test", false, false, true, "STARTTLS"},
		"goodbye is lost":      {"QUIT", "drop", false, false, false, "taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSMTPServer(t)
			cfg := smtpConfig(s)
			cfg.Timeout = time.Second
			s.answer(c.verb, c.answer)
			err := sender(t, cfg).Mail(t.Context(), "ada@example.com", "1", notice.Message{Subject: "s"}, noon)
			if c.says == "taken" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var not *notice.NotTaken
			if !errors.As(err, &not) || not.Permanent != c.permanent || not.Unclear != c.unclear || not.Away != c.away || !strings.Contains(not.Text, c.says) {
				t.Errorf("%+v", not)
			}
			if not != nil && (strings.Contains(not.Text, smtpPassword) || len(not.Text) > 900 || strings.Contains(not.Text, "\n")) {
				t.Errorf("says %q", not.Text)
			}
		})
	}
}

func TestNoMailServerAtAll(t *testing.T) {
	cfg := notice.SMTPConfig{Host: "127.0.0.1", Port: 1, From: "onefold@example.com", TLS: "none"}
	var not *notice.NotTaken
	if err := sender(t, cfg).Mail(t.Context(), "ada@example.com", "1", notice.Message{}, noon); !errors.As(err, &not) || !not.Away || !strings.Contains(not.Text, "cannot be reached") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sender(t, cfg).Mail(ctx, "ada@example.com", "1", notice.Message{}, noon); err == nil {
		t.Error("sent though the server ends")
	}
}

func TestSMTPSettings(t *testing.T) {
	good := notice.SMTPConfig{Host: "mail.example.com", From: "onefold@example.com"}
	for want, spoil := range map[string]func(*notice.SMTPConfig){
		"no host name":       func(c *notice.SMTPConfig) { c.Host = "mail.example.com:25" },
		"need a sender":      func(c *notice.SMTPConfig) { c.From = "Onefold <x@example.com>" },
		"starttls, tls":      func(c *notice.SMTPConfig) { c.TLS = "perhaps" },
		"both a user":        func(c *notice.SMTPConfig) { c.User = "x" },
		"without TLS":        func(c *notice.SMTPConfig) { c.TLS, c.User, c.Password = "none", "x", smtpPassword },
		"port 70000 is none": func(c *notice.SMTPConfig) { c.Port = 70000 },
	} {
		c := good
		spoil(&c)
		if _, err := notice.NewSMTP(c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), smtpPassword) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Neither a password nor a webhook's address is ever logged or kept.
func TestSecretsAreNotLogged(t *testing.T) {
	var log bytes.Buffer
	s := newSMTPServer(t)
	s.answer("AUTH", "535 wrong: "+smtpPassword)
	secret := "http://127.0.0.1:1/services/SECRET"
	hook, err := notice.NewWebhook(secret, []string{"127.0.0.1"}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, storetest.SQLite(t), func(c *notice.Config) {
		c.Mail, c.Webhooks, c.Log = sender(t, smtpConfig(s)), map[string]notice.Poster{"finance": hook}, slog.New(slog.NewTextHandler(&log, nil))
	})
	w.person("ada", work.Operator)
	w.held("INV-1")
	w.rounds(5 * time.Minute)
	all, err := w.Notices(t.Context(), 1, "", 10)
	if err != nil || len(all) != 2 || all[0].LastError == "" || all[1].LastError == "" {
		t.Fatalf("%+v %v", all, err)
	}
	for _, text := range []string{log.String(), all[0].LastError, all[1].LastError} {
		if strings.Contains(text, smtpPassword) || strings.Contains(text, "SECRET") {
			t.Errorf("a secret is told: %s", text)
		}
	}
}
