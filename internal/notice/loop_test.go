package notice_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/notice"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func TestFirstAtOnceThenADigest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("ada", work.Operator)
		w.rounds(2 * time.Minute)
		w.want() // quiet when nothing waits
		id := w.held("INV-1")
		w.rounds(2 * time.Minute)
		got := w.want("ada@example.com: INV-1 needs a person")
		if l := got[0].Lines; len(l) != 1 || l[0].Link != fmt.Sprintf("https://onefold.example/items/%d", id) || !strings.Contains(l[0].Note, "Acme Holdings Ltd, 1200.00 EUR") {
			t.Errorf("says %+v", l)
		}
		w.held("INV-2")
		w.held("INV-3")
		w.rounds(25 * time.Minute)
		w.want()
		w.rounds(6 * time.Minute)
		got = w.want("ada@example.com: 2 invoices need a person")
		if !strings.Contains(got[0].Lead, "In all 3 wait") || !strings.Contains(got[0].Lines[0].Link, "reason=held") || !strings.Contains(got[0].Lines[0].Link, "system=books") {
			t.Errorf("says %+v", got[0].Message)
		}
		w.rounds(2 * time.Hour)
		w.want() // nothing new: no more digests
		w.held("INV-4")
		w.rounds(2 * time.Minute)
		w.want("ada@example.com: INV-4 needs a person") // at once again
	})
}

// An outage is one message with one line for each kind of trouble.
func TestTenThousandItemsAreOneMessage(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("ada", work.Operator)
		keys := make([]string, 10_000)
		for i := range keys {
			keys[i] = fmt.Sprintf("ORDER-%05d", i)
		}
		w.holdAll(keys...)
		refused := w.One("INV-BAD")
		w.Until(refused, func() { w.Send(refused, rt.Refused) })
		w.rounds(20 * time.Minute)
		got := w.want("ada@example.com: 10,001 invoices need a person")
		l := got[0].Lines
		if len(l) != 2 || !strings.HasPrefix(l[0].Text, "10,000 × Books: Stopped") || !strings.Contains(l[0].Note, "ORDER-00000") ||
			!strings.HasPrefix(l[1].Text, "1 × Books: Refused (") || !strings.Contains(l[1].Note, "INV-BAD") {
			t.Errorf("says %+v", l)
		}
	})
}

// A check on behalf of a person, a note or an assignment makes nothing new of what was told.
func TestWhatWasToldIsNotNewAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("ada", work.Operator)
		id := w.One("INV-1")
		w.Send(id, rt.NoAnswer)
		w.Until(id, func() { w.Find(id, rt.CannotTell) })
		w.rounds(2 * time.Minute)
		w.want("ada@example.com: INV-1 needs a person")
		w.Happen(id, work.Check{By: rt.Recorder})
		w.Claim(id) // being looked up
		w.round()
		it := w.Get(id)
		w.Happen(id, work.FindClosed{Attempt: it.OpenAttempt, Started: w.Clock(), Ended: w.Clock(), Lookup: rt.CannotTell})
		w.Happen(id, work.Assign{By: rt.Recorder, To: "Somebody"})
		w.rounds(40 * time.Minute)
		w.want()
		w.Happen(id, work.Close{By: rt.Recorder, Note: "no"})
		w.rounds(40 * time.Minute)
		w.Happen(id, work.Reopen{By: rt.Recorder, Note: "yes"})
		w.rounds(2 * time.Minute)
		w.want("ada@example.com: INV-1 needs a person") // this is news
	})
}

// trial 39: how often the tick comes does not matter.
func TestTrial39_OneReminderADay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.person("ada", work.Operator)
		w.save(u, func(s *notice.Settings) { s.Items = notice.Daily })
		w.held("INV-1")
		w.Later(24 * time.Hour) // 10:00 on the 30th
		w.rounds(24 * time.Hour)
		// One for the 30th, made late, and one for the 1st at 8:00.
		w.want("ada@example.com: INV-1 still waits for a person", "ada@example.com: INV-1 still waits for a person")
		all, err := w.Notices(t.Context(), 1, "", 10)
		if err != nil || len(all) != 2 || all[0].MadeAt.Format("02 15:04") != "01 08:00" || all[1].MadeAt.Format("02 15:04") != "30 10:01" {
			t.Errorf("%+v %v", all, err)
		}
	})
}

func TestReminderComesAtTheChosenHourOfTheZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, w *world) {
		u := w.person("ada", work.Operator)
		id := w.held("INV-1")
		w.rounds(2 * time.Minute)
		w.want("ada@example.com: INV-1 needs a person") // 11:02 in Berlin
		w.save(u, func(s *notice.Settings) { s.Items, s.Hour = notice.Daily, 9 })
		w.coarse(21*time.Hour + 30*time.Minute)
		w.rounds(25 * time.Minute) // 8:57 in Berlin
		w.want()
		w.rounds(10 * time.Minute)
		w.want("ada@example.com: INV-1 still waits for a person")
		w.Happen(id, work.Close{By: rt.Recorder, Note: "no"})
		w.coarse(25 * time.Hour)
		w.want() // nothing waits, so nothing is said
	}, func(c *notice.Config) { c.Zone = berlin })
}

// trial 20: from a part that lives when nothing is carried out, one alert to the finance role, which names the account and
// links to the list; and one word when it is over.
func TestTrial20_OneAlertToFinance(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("ada", work.Operator)
		w.person("vera", work.Viewer)
		w.person("root", work.Admin)
		ids := w.Put("Acme", rt.Money(t, "1", "EUR"), "INV-1", "INV-2", "INV-3")
		watch := automation.Watch{Store: w.Store, Log: slog.New(slog.DiscardHandler)}
		w.round()
		w.Later(24 * time.Hour)
		for range 120 {
			_, err := watch.RunOnce(t.Context())
			w.must(err)
			w.round()
		}
		got := w.want("ada@example.com: Books: invoices are late", "root@example.com: Books: invoices are late")
		if l := got[0].Lines; len(l) != 1 || !strings.Contains(l[0].Text, "Books: 3 not settled in time") || !strings.HasPrefix(l[0].Link, "https://onefold.example/?") {
			t.Errorf("says %+v", l)
		}
		for i, id := range ids {
			w.Send(id, rt.AcceptedAs(i))
		}
		_, err := watch.RunOnce(t.Context())
		w.must(err)
		w.rounds(5 * time.Minute)
		w.want("ada@example.com: All clear: Books", "root@example.com: All clear: Books")
	})
}

// An alert that comes and goes is not told each time.
func TestFlappingAlertIsNotAFlood(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("root", work.Admin)
		for range 60 {
			_, err := w.RaiseAlert(t.Context(), rt.SystemID, "disconnected", "Books: reconnect")
			w.must(err)
			w.round()
			w.must(w.ClearAlerts(t.Context(), rt.SystemID, "disconnected"))
			w.round()
		}
		on, off := 0, 0
		for _, m := range w.mail.all() {
			if strings.HasPrefix(m.Subject, "All clear") {
				off++
			} else {
				on++
			}
		}
		if on < 2 || on > 5 || off > on {
			t.Errorf("%d alerts and %d all clear in two hours", on, off)
		}
	})
}

// trial 22: the message has a state and retries of its own, and touches no item.
func TestTrial22_MailFailingAffectsNoItem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("ada", work.Operator)
		id := w.held("INV-1")
		before := w.Get(id)
		w.mail.refuse = &notice.NotTaken{Text: "the mail server did not take it: 451 later"}
		w.rounds(3 * time.Hour)
		if after := w.Get(id); after.Version != before.Version || after.Status != before.Status {
			t.Errorf("the item changed: %+v", after)
		}
		all, err := w.Notices(t.Context(), 1, "", 10)
		w.must(err)
		if len(all) != 1 || all[0].Status != notice.Waits || all[0].Tries < 6 || all[0].Tries > 9 || !strings.Contains(all[0].LastError, "451 later") {
			t.Fatalf("%+v", all)
		}
		w.held("INV-2") // no pile grows behind the one that cannot be sent
		w.rounds(time.Hour)
		w.mail.refuse = nil
		w.coarse(5 * time.Hour)
		w.want("ada@example.com: INV-1 needs a person", "ada@example.com: INV-2 needs a person")
		// Refused for good: tried once, and not again.
		w.mail.refuse = &notice.NotTaken{Text: "no such mailbox", Permanent: true}
		w.held("INV-3")
		w.rounds(time.Hour)
		if all, err = w.Notices(t.Context(), 1, "", 10); err != nil || all[0].Status != notice.Failed || all[0].Tries != 1 {
			t.Errorf("%+v %v", all[0], err)
		}
	})
}

func TestTriesEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("ada", work.Operator)
		w.held("INV-1")
		w.mail.refuse = errors.New("nonsense")
		w.coarse(30 * time.Hour)
		all, err := w.Notices(t.Context(), 1, "", 10)
		if err != nil || all[len(all)-1].Status != notice.Failed || all[len(all)-1].Tries != 10 {
			t.Errorf("%+v %v", all, err)
		}
	})
}

// Several servers on one database make and send each message once.
func TestOneServerSends(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i := range 5 {
			w.person(fmt.Sprintf("p%d", i), work.Operator)
		}
		w.held("INV-1")
		w.Later(time.Minute)
		_, err := w.NoticeRound(t.Context(), 1)
		w.must(err)
		w.Later(time.Minute)
		var wg sync.WaitGroup
		for i := range 4 {
			c := w.cfg
			c.Node = fmt.Sprintf("node-%d", i)
			wg.Go(func() {
				if err := notice.NewLoop(c).RunOnce(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		w.round()
		count := map[string]int{}
		for _, m := range w.mail.all() {
			count[m.to]++
		}
		if len(count) != 5 {
			t.Errorf("told %v", count)
		}
		for who, n := range count {
			if n != 1 {
				t.Errorf("%s was told %d times", who, n)
			}
		}
	})
}

// A server that dies after it sent and before it recorded that: one repeat under the same id, and no more, even if the
// next one dies as well.
func TestAfterACrashAtMostOneRepeat(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("ada", work.Operator)
		w.held("INV-1")
		w.mail.refuse = &notice.NotTaken{Text: "not yet"}
		w.round()
		w.round()
		w.mail.refuse = nil
		die := func(node string) {
			w.Later(time.Hour)
			d, err := w.ClaimNotice(t.Context(), node, 3*time.Minute, true, nil)
			if err != nil || d == nil {
				t.Fatalf("%s: %+v %v", node, d, err)
			}
			w.must(w.mail.Mail(t.Context(), "ada@example.com", "", d.Message, d.MadeAt)) // sent, and nothing is recorded
		}
		die("two")
		w.round()
		w.want("ada@example.com: INV-1 needs a person") // while the lease lasts nobody sends it
		die("three")
		w.Later(time.Hour)
		w.rounds(time.Hour)
		w.want("ada@example.com: INV-1 needs a person") // the one repeat
		all, err := w.Notices(t.Context(), 1, "", 10)
		if err != nil || len(all) != 1 || all[0].Status != notice.Unclear {
			t.Errorf("%+v %v", all, err)
		}
	})
}

// A result that comes after the lease was taken over changes nothing.
func TestLateResultOfAMessageIsIgnored(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.person("ada", work.Operator)
		d := notice.Delivery{CompanyID: 1, Recipient: notice.PersonKey(u.ID), Kind: notice.Test, Status: notice.Waits, MadeAt: w.Clock(), NextAt: w.Clock()}
		added, err := w.AddNotice(t.Context(), d, w.Clock().Add(-time.Minute))
		if err != nil || !added {
			t.Fatal(added, err)
		}
		if added, err = w.AddNotice(t.Context(), d, w.Clock().Add(-time.Minute)); err != nil || added {
			t.Errorf("two clicks made two messages: %v", err)
		}
		first, err := w.ClaimNotice(t.Context(), "one", time.Minute, true, nil)
		w.must(err)
		if second, err := w.ClaimNotice(t.Context(), "two", time.Minute, true, nil); err != nil || second != nil {
			t.Fatalf("claimed twice: %v", err)
		}
		w.Later(2 * time.Minute)
		second, err := w.ClaimNotice(t.Context(), "two", time.Minute, true, nil)
		if err != nil || second == nil || second.Unclear != 1 {
			t.Fatalf("%+v %v", second, err)
		}
		first.Status = notice.Failed
		w.must(w.CloseNotice(t.Context(), "one", *first))
		all, err := w.Notices(t.Context(), 1, "", 10)
		if err != nil || all[0].Status != notice.Waits {
			t.Errorf("%+v %v", all, err)
		}
	})
}

func TestOnlyWhatIsAssignedToMe(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.person("ada", work.Operator)
		w.save(u, func(s *notice.Settings) { s.Mine = true })
		one, two := w.held("INV-1"), w.held("INV-2")
		w.rounds(3 * time.Minute)
		w.want()
		w.Happen(one, work.Assign{By: rt.Recorder, To: "Ada Brown"})
		w.Happen(two, work.Assign{By: u.Actor(), To: "Ada Brown"}) // taken by herself: no news
		w.rounds(3 * time.Minute)
		w.want("ada@example.com: INV-1 needs a person")
	})
}

func TestOnlyTheChosenSystems(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.save(w.person("ada", work.Operator), func(s *notice.Settings) { s.Systems = []string{"other"} })
		w.save(w.person("ben", work.Operator), func(s *notice.Settings) { s.Systems = []string{"other", rt.SystemID} })
		w.held("INV-1")
		w.rounds(3 * time.Minute)
		w.want("ben@example.com: INV-1 needs a person")
	})
}

// Whoever is kept out, lost the right to read or has no address gets nothing, not even what was on its way.
func TestWhoMayNotSeeIsNotTold(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.person("ada", work.Operator)
		w.held("INV-1")
		w.mail.refuse = &notice.NotTaken{Text: "later"}
		w.rounds(3 * time.Minute)
		_, err := w.ChangeUser(t.Context(), u.ID, func(u *auth.User) (auth.Change, error) {
			u.DisabledAt = w.Clock()
			return auth.Change{}, nil
		})
		w.must(err)
		w.mail.refuse = nil
		w.rounds(time.Hour)
		w.want()
		all, err := w.Notices(t.Context(), 1, "", 10)
		if err != nil || len(all) != 1 || all[0].Status != notice.Dropped {
			t.Errorf("%+v %v", all, err)
		}
	})
}

// What nobody needs to hear any more is not sent late.
func TestLateMessageIsDroppedWhenNothingWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.person("ada", work.Operator)
		id := w.held("INV-1")
		w.mail.refuse = &notice.NotTaken{Text: "later"}
		w.rounds(3 * time.Minute)
		w.Happen(id, work.Close{By: rt.Recorder, Note: "no"})
		w.mail.refuse = nil
		w.rounds(time.Hour)
		w.want()
		all, err := w.Notices(t.Context(), 1, "", 10)
		if err != nil || len(all) != 1 || all[0].Status != notice.Dropped {
			t.Errorf("%+v %v", all, err)
		}
	})
}

func TestSuggestedSettings(t *testing.T) {
	for role, want := range map[work.Role]notice.Settings{work.Operator: {Items: notice.AtOnce, Alerts: true, Hour: 8}, work.Viewer: {Items: notice.Off, Hour: 8},
		work.Admin: {Items: notice.Off, Alerts: true, Hour: 8}} {
		if got := notice.Suggested([]work.Role{role}); got.Items != want.Items || got.Alerts != want.Alerts || got.Hour != want.Hour {
			t.Errorf("%s: %+v", role, got)
		}
	}
}

func TestWebhookIsToldToo(t *testing.T) {
	hook := &post{}
	each(t, func(t *testing.T, w *world) {
		w.held("INV-1")
		w.rounds(3 * time.Minute)
		if got := hook.all(); len(got) != 1 || got[0].Subject != "INV-1 needs a person" {
			t.Errorf("%+v", got)
		}
	}, func(c *notice.Config) { c.Mail, c.Webhooks = nil, map[string]notice.Poster{"finance": hook} })
}

// Whoever asks for a test message does not wait for the next tick.
func TestRunIsWoken(t *testing.T) {
	wake := make(chan struct{}, 1)
	w := newWorld(t, storetest.SQLite(t), func(c *notice.Config) { c.Wake = wake })
	u := w.person("ada", work.Operator)
	arrived := make(chan struct{})
	w.mail.arrived = arrived
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.loop.Run(ctx) }()
	service := notice.NewService(w.Store, 1, words(t), notice.Setup{Mail: true, PublicURL: "https://onefold.example", Wake: func() { wake <- struct{}{} }})
	p := notice.Person{ID: u.ID, Name: u.Name, Email: u.Email, Roles: u.Roles}
	if err := service.Test(t.Context(), u.Actor(), p); err != nil {
		t.Fatal(err)
	}
	select {
	case <-arrived:
	case <-time.After(10 * time.Second):
		t.Error("the loop was not woken")
	}
	stop()
	w.must(<-done)
	// Nobody has messages sent to somebody else, or to nowhere.
	if err := service.Test(t.Context(), rt.Recorder, p); !errors.Is(err, review.ErrForbidden) {
		t.Errorf("for somebody else: %v", err)
	}
	if err := service.Save(t.Context(), rt.Recorder, p, notice.Settings{Items: notice.Off}); !errors.Is(err, review.ErrForbidden) {
		t.Errorf("somebody else's settings: %v", err)
	}
	if _, err := service.All(t.Context(), u.Actor(), 10); !errors.Is(err, review.ErrForbidden) {
		t.Errorf("an operator sees what others were told: %v", err)
	}
}
