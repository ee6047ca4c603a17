package main

import (
	"strings"
	"testing"
	"time"

	"onefold/internal/notice"
)

func TestNoticeFlags(t *testing.T) {
	good := func() noticeFlags {
		return noticeFlags{digest: 30 * time.Minute, hour: 8, smtp: notice.SMTPConfig{Host: "mail.example.com", From: "onefold@example.com", User: "onefold", Password: "s3cret"},
			webhooks: "finance=https://hooks.example.com/services/s3cret\nit=http://chat.internal/s3cret\n", plainHosts: []string{"chat.internal"}}
	}
	f := good()
	c, err := f.config("https://onefold.example.com/")
	if err != nil || c.Mail == nil || len(c.Webhooks) != 2 {
		t.Fatalf("%+v %v", c, err)
	}
	if c, err = (&noticeFlags{digest: time.Hour}).config(""); err != nil || c.Mail != nil || c.Webhooks != nil {
		t.Errorf("nothing set up: %+v %v", c, err)
	}
	for want, spoil := range map[string]func(*noticeFlags){
		"--notice-digest":   func(n *noticeFlags) { n.digest = time.Second },
		"--notice-hour":     func(n *noticeFlags) { n.hour = 24 },
		"need a sender":     func(n *noticeFlags) { n.smtp.From = "" },
		"both a user":       func(n *noticeFlags) { n.smtp.User = "" },
		"name=https":        func(n *noticeFlags) { n.webhooks = "https://hooks.example.com/services/s3cret" },
		"it: the address":   func(n *noticeFlags) { n.plainHosts = nil },
		"two channels":      func(n *noticeFlags) { n.webhooks = "a=https://x.example/s3cret a=https://y.example/s3cret" },
		"a: the address is": func(n *noticeFlags) { n.webhooks = "a=s3cret" },
	} {
		f := good()
		spoil(&f)
		if _, err := f.config("https://onefold.example.com"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", want, err)
		}
	}
	f = good()
	if _, err := f.config(""); err == nil || !strings.Contains(err.Error(), "--public-url") {
		t.Errorf("links without an address: %v", err)
	}
}
