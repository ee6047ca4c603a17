package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"onefold/internal/notice"
)

// mailbox takes messages.
type mailbox struct{ got []notice.Message }

func (b *mailbox) Mail(_ context.Context, _, _ string, m notice.Message, _ time.Time) error {
	b.got = append(b.got, m)
	return nil
}

func TestNoticePagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w, s, _ := reachable(t)
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "notices-empty", s.URL+"/notices")
	add := func(recipient, name, address string, kind notice.Kind, subject string, status notice.Status, tries int, problem string) {
		d := notice.Delivery{CompanyID: 1, Recipient: recipient, Name: name, Address: address, Kind: kind, Message: notice.Message{Subject: subject}, Status: notice.Waits,
			MadeAt: w.Clock(), NextAt: w.Clock()}
		if _, err := w.AddNotice(t.Context(), d, w.Clock()); err != nil {
			t.Fatal(err)
		}
		for range tries {
			c, err := w.ClaimNotice(t.Context(), "one", time.Second, true, []string{"finance"})
			if err != nil || c == nil {
				t.Fatal(err)
			}
			c.Status, c.LastError, c.NextAt = notice.Waits, problem, w.Clock()
			if c.Tries == tries {
				c.Status = status
			}
			if c.Status != notice.Waits {
				c.ClosedAt = w.Clock()
			} else if c.Tries == tries {
				c.NextAt = w.Clock().Add(4 * time.Minute)
			}
			if err := w.CloseNotice(t.Context(), "one", *c); err != nil {
				t.Fatal(err)
			}
		}
		w.Later(7 * time.Minute)
	}
	add("person:1", "Admin", "admin@example.com", notice.Test, "Test message from Onefold", notice.Sent, 1, "")
	add("person:2", "Ada Brown", "ada@example.com", notice.Items, "10,001 invoices need a person", notice.Sent, 2, "")
	add("webhook:finance", "finance", "", notice.Items, "10,001 invoices need a person", notice.Sent, 1, "")
	add("person:1", "Admin", "admin@example.com", notice.AlertOn, "Books: the login is refused", notice.Failed, 1, "the mail server did not take it: 550 5.1.1 <admin@example.com>: Recipient address rejected: User unknown in virtual mailbox table")
	add("person:3", strings.Repeat("Donaudampfschifffahrt", 4), strings.Repeat("x", 60)+"@"+strings.Repeat("long-", 20)+"example.com", notice.Reminder,
		"INV-"+strings.Repeat("W", 100)+" still waits for a person", notice.Unclear, 2, "the mail server does not answer in time")
	add("person:2", "Ada Brown", "ada@example.com", notice.AlertOff, "All clear: Books", notice.Waits, 3, "the mail server cannot be reached: connection refused")
	shoot(t, ctx, "notices", s.URL+"/notices")
	shoot(t, ctx, "notices-profile", s.URL+"/profile")
	shoot(t, ctx, "notices-person", s.URL+"/people/2")
	s = newSite(t, Config{Store: w.Store})
	run(t, ctx, signInOn(s.URL, "ada"))
	shoot(t, ctx, "notices-profile-none", s.URL+"/profile")
}
