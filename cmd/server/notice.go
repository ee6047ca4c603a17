package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/notice"
	"onefold/internal/store"
	"onefold/internal/web"
)

// noticeFlags say how people are told.
type noticeFlags struct {
	smtp       notice.SMTPConfig
	webhooks   string
	plainHosts []string
	digest     time.Duration
	hour       int
}

func (n *noticeFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&n.smtp.Host, "smtp-host", "", "the mail server that takes our messages; empty: no e-mails")
	f.IntVar(&n.smtp.Port, "smtp-port", 0, "its port (default: 587, or 465 with --smtp-tls tls)")
	f.StringVar(&n.smtp.TLS, "smtp-tls", "starttls", "starttls, tls, or none for a mail server in a closed network that asks for no password")
	f.StringVar(&n.smtp.User, "smtp-user", "", "our name at the mail server")
	f.StringVar(&n.smtp.Password, "smtp-password", "", "our password there; better given as ONEFOLD_SMTP_PASSWORD or ONEFOLD_SMTP_PASSWORD_FILE")
	f.StringVar(&n.smtp.From, "mail-from", "", "the address that our e-mails come from")
	f.StringVar(&n.smtp.Name, "mail-name", "Onefold", "the name that they come from")
	f.StringVar(&n.webhooks, "webhooks", "", "chat channels that are told, one a line or with spaces: finance=https://…; the addresses are secrets: better given as ONEFOLD_WEBHOOKS_FILE")
	f.StringSliceVar(&n.plainHosts, "webhook-plain-hosts", nil, "hosts of webhooks that may be reached without TLS, with commas")
	f.DurationVar(&n.digest, "notice-digest", 30*time.Minute, "least time between two messages to one recipient about new items")
	f.IntVar(&n.hour, "notice-hour", notice.DefaultHour, "hour of the daily message in chat channels, in the firm's zone; -1: none")
}

// config checks the settings. Nothing set: nobody is told, and pages say so.
func (n *noticeFlags) config(publicURL string) (notice.Config, error) {
	c := notice.Config{PublicURL: publicURL, Digest: n.digest, Hour: n.hour}
	if n.digest < time.Minute || n.digest > 24*time.Hour {
		return c, errors.New("--notice-digest must be between a minute and a day")
	}
	if n.hour < -1 || n.hour > 23 {
		return c, errors.New("--notice-hour must be an hour from 0 to 23, or -1")
	}
	if n.smtp.Host != "" {
		mailer, err := notice.NewSMTP(n.smtp)
		if err != nil {
			return c, err
		}
		c.Mail = mailer
	}
	for _, one := range strings.Fields(n.webhooks) {
		name, address, _ := strings.Cut(one, "=")
		if name == "" || strings.Contains(name, "/") || len(name) > 60 {
			return c, errors.New("--webhooks: write each channel as name=https://…")
		}
		hook, err := notice.NewWebhook(address, n.plainHosts, 0)
		if err != nil {
			return c, fmt.Errorf("--webhooks: %s: %w", name, err)
		}
		if c.Webhooks == nil {
			c.Webhooks = map[string]notice.Poster{}
		}
		if c.Webhooks[name] != nil {
			return c, fmt.Errorf("--webhooks: two channels are called %s", name)
		}
		c.Webhooks[name] = hook
	}
	if (c.Mail != nil || c.Webhooks != nil) && !strings.HasPrefix(publicURL, "https://") && !strings.HasPrefix(publicURL, "http://") {
		return c, errors.New("messages need --public-url, the address under which people reach these pages, for their links")
	}
	return c, nil
}

// noticeLoop is the loop that tells people, and what pages know of it.
func noticeLoop(st *store.Store, o serverOptions) (*notice.Loop, notice.Setup) {
	c, wake := o.notices, make(chan struct{}, 1)
	c.Store, c.Node, c.Zone, c.Log, c.Wake, c.Words = st, o.node, o.zone, o.log, wake, web.MessageWords()
	setup := notice.Setup{Mail: c.Mail != nil, PublicURL: o.publicURL, Wake: func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}}
	for name := range c.Webhooks {
		setup.Webhooks = append(setup.Webhooks, name)
	}
	return notice.NewLoop(c), setup
}
