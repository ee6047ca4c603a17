package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/automation/events"
	"onefold/internal/automation/outcome"
	"onefold/internal/seal"
	"onefold/internal/store"
	"onefold/internal/work"
)

var chief = work.Actor{Kind: work.Person, ID: "1", Name: "Cora Chief", Roles: []work.Role{work.Admin}}

// posted is what an endpoint got.
type posted struct {
	mu    sync.Mutex
	got   []map[string]string
	fails error
	auth  []bool // of each, whether the signature was right
	key   string
	now   func() time.Time
}

func (p *posted) Post(_ context.Context, address string, header map[string]string, body []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil {
		return p.fails
	}
	var m struct {
		ID, Type string
		Item     struct{ Key, Status string }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	p.got = append(p.got, map[string]string{"to": address, "id": m.ID, "type": m.Type, "key": m.Item.Key, "status": m.Item.Status})
	p.auth = append(p.auth, events.Verify([]string{p.key}, header[events.SignatureHeader], body, p.now()) == nil && header["Onefold-Event-Id"] == m.ID)
	return nil
}

func newOutcomes(t *testing.T, s *store.Store, c *clock) (outcome.Service, *outcome.Loop, *posted) {
	t.Helper()
	keys, p := seal.Random(), &posted{now: c.Now}
	sv := outcome.Service{Store: s, Keys: keys}
	var err error
	p.key, err = sv.Connect(t.Context(), chief, outcome.Endpoint{Name: "Shop", Address: "https://shop.example/hook", Automation: "invoices"})
	must(t, err)
	return sv, outcome.NewLoop(outcome.Config{Store: s, Keys: keys, Post: p, Node: "a"}), p
}

func settle(t *testing.T, s *store.Store, key string) work.Item {
	t.Helper()
	it := record(t, s, key)
	it, err := apply(t, s, it.ID, work.Hold{By: ada, Note: "wait"})
	must(t, err)
	it, err = apply(t, s, it.ID, work.Close{By: ada, Note: "no"})
	must(t, err)
	return it
}

// An outcome is written with the move and sent once, signed; a look that changes nothing is no news.
func TestOutcomesAreToldOncePerNews(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		settle(t, s, "BEFORE-1") // nobody wanted to know
		sv, loop, p := newOutcomes(t, s, c)
		it := record(t, s, "INV-1")
		it, err := apply(t, s, it.ID, work.Hold{By: ada, Note: "wait"})
		must(t, err)
		_, err = apply(t, s, it.ID, work.Note{By: ada, Text: "a remark"})
		must(t, err)
		_, err = apply(t, s, it.ID, work.Check{By: ada})
		must(t, err)
		open, err := apply(t, s, it.ID, work.Claimed{Node: "a", SendBy: c.Now().Add(time.Second)})
		must(t, err)
		_, err = apply(t, s, it.ID, work.FindClosed{Attempt: open.OpenAttempt, Started: c.Now(), Ended: c.Now(), Lookup: work.Lookup{Finding: work.CouldNotTell}})
		must(t, err)
		_, err = apply(t, s, it.ID, work.Close{By: ada, Note: "no"})
		must(t, err)
		for range 3 {
			must(t, loop.RunOnce(t.Context()))
		}
		if len(p.got) != 2 || p.got[0]["type"] != "item.needs_person" || p.got[1]["type"] != "item.closed" || p.got[1]["key"] != "INV-1" || !p.auth[0] || !p.auth[1] {
			t.Fatalf("%v %v", p.got, p.auth)
		}
		log, err := sv.Log(t.Context(), chief, false, 10)
		must(t, err)
		if len(log) != 2 || log[0].State != outcome.Delivered || log[0].Tries != 1 {
			t.Errorf("%+v", log)
		}
		// Asked for again: the same message with the same id.
		must(t, sv.Again(t.Context(), chief, log[0].ID))
		must(t, loop.RunOnce(t.Context()))
		if len(p.got) != 3 || p.got[2]["id"] != p.got[1]["id"] {
			t.Errorf("%v", p.got)
		}
		if err := sv.Again(t.Context(), ada, log[0].ID); !errors.Is(err, outcome.ErrNotAdmin) {
			t.Error(err)
		}
	})
}

// A receiver that is away is asked again later and later, and not for ever; a removed one is not asked at all.
func TestOutcomesRetriesGrowAndEnd(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		sv, loop, p := newOutcomes(t, s, c)
		settle(t, s, "INV-1")
		p.fails = &outcome.NotTaken{Text: "it answered 503", Away: true}
		tries, last := 0, time.Duration(0)
		for range 40 {
			must(t, loop.RunOnce(t.Context()))
			log, err := sv.Log(t.Context(), chief, false, 10)
			must(t, err)
			d := log[len(log)-1]
			if d.State == outcome.Failed {
				break
			}
			if d.Tries > tries {
				wait := d.NextAt.Sub(c.Now())
				if wait < last || wait > 6*time.Hour {
					t.Fatalf("try %d: wait %s after %s", d.Tries, wait, last)
				}
				tries, last = d.Tries, wait
			}
			c.advance(d.NextAt.Sub(c.Now()))
		}
		failed, err := sv.Log(t.Context(), chief, true, 10)
		must(t, err)
		if tries != 13 || len(failed) == 0 || failed[0].Tries != 14 || failed[0].LastError != "it answered 503" {
			t.Fatalf("%d tries, %+v", tries, failed)
		}
		p.fails = nil
		must(t, sv.Again(t.Context(), chief, failed[0].ID))
		must(t, loop.RunOnce(t.Context()))
		if len(p.got) == 0 {
			t.Error("it was not sent again")
		}
		settle(t, s, "INV-2")
		list, err := sv.Endpoints(t.Context(), chief)
		must(t, err)
		must(t, sv.Remove(t.Context(), chief, list[0].ID))
		n := len(p.got)
		must(t, loop.RunOnce(t.Context()))
		settle(t, s, "INV-3")
		if log, err := sv.Log(t.Context(), chief, false, 100); err != nil || len(p.got) != n || log[0].State != outcome.Dropped || log[0].Item.BusinessKey != "INV-2" {
			t.Errorf("%d of %d, %+v %v", len(p.got), n, log[0], err)
		}
	})
}

// Two servers, one message: one of them sends it. A server that died holding it gives it up with its lease.
func TestOutcomesAreClaimedOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		sv, loop, p := newOutcomes(t, s, c)
		settle(t, s, "INV-1")
		list, err := sv.Endpoints(t.Context(), chief)
		must(t, err)
		d, err := s.ClaimOutcome(t.Context(), "dead", time.Minute, list[0].ID)
		must(t, err)
		first := d.ID
		if d, err = s.ClaimOutcome(t.Context(), "b", time.Minute, list[0].ID); err != nil || d == nil || d.ID == first {
			t.Fatal(d, err) // the other of the two
		}
		must(t, loop.RunOnce(t.Context()))
		if len(p.got) != 0 {
			t.Fatalf("%v", p.got)
		}
		c.advance(2 * time.Minute)
		must(t, loop.RunOnce(t.Context()))
		if len(p.got) != 2 {
			t.Fatalf("%v", p.got)
		}
		must(t, s.CloseOutcome(t.Context(), "dead", outcome.Delivery{ID: first, Tries: 1, State: outcome.Failed, NextAt: c.Now()})) // too late
		if log, err := sv.Log(t.Context(), chief, true, 10); err != nil || len(log) != 0 {
			t.Errorf("%+v %v", log, err)
		}
	})
}

// Trial 79: the same endpoint five times is one.
func TestTrial79_OneEndpointHoweverOften(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		sv, loop, p := newOutcomes(t, s, c)
		var err error
		for range 5 {
			p.key, err = sv.Connect(t.Context(), chief, outcome.Endpoint{Name: "Shop", Address: "https://shop.example/hook", Automation: "invoices"})
			must(t, err)
		}
		it := record(t, s, "INV-1")
		_, err = apply(t, s, it.ID, work.Hold{By: ada, Note: "wait"})
		must(t, err)
		must(t, loop.RunOnce(t.Context()))
		if list, err := sv.Endpoints(t.Context(), chief); err != nil || len(list) != 1 || len(p.got) != 1 || !p.auth[0] {
			t.Errorf("%v %v %v", list, p.got, err)
		}
	})
}

// No server is called that the operator did not mean.
func TestOutcomesStayOutside(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		hits := 0
		inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits++
			_, _ = io.Copy(io.Discard, r.Body)
			if r.URL.Path == "/moved" {
				http.Redirect(w, r, "/hook", http.StatusTemporaryRedirect)
			}
		}))
		defer inside.Close()
		for _, address := range []string{inside.URL, "https://127.0.0.1/x", "https://[::1]/x", "https://10.0.0.7/x", "https://169.254.169.254/latest", "http://shop.example/x",
			"ftp://shop.example/x", "https://user:pass@shop.example/x", "nonsense", "", "https://[::ffff:127.0.0.1]/"} {
			if (outcome.Hosts{}).Check(address) == nil {
				t.Errorf("%q is let through", address)
			}
		}
		keys := seal.Random()
		put := func(address string) {
			t.Helper()
			_, err := outcome.Service{Store: s, Keys: keys, Hosts: outcome.Hosts{"127.0.0.1", "localhost"}}.Connect(t.Context(), chief, outcome.Endpoint{Name: "x", Address: address, Automation: "invoices"})
			must(t, err)
		}
		put(strings.Replace(strings.Replace(inside.URL, "http://", "https://", 1), "127.0.0.1", "localhost", 1))
		put(inside.URL + "/moved")
		settle(t, s, "INV-1")
		// The name leads inside, which is found when it is called; the other host is not declared any more.
		must(t, outcome.NewLoop(outcome.Config{Store: s, Keys: keys, Node: "a"}).RunOnce(t.Context()))
		if hits != 0 {
			t.Errorf("%d calls", hits)
		}
		c.advance(time.Hour)
		must(t, outcome.NewLoop(outcome.Config{Store: s, Keys: keys, Node: "a", Hosts: outcome.Hosts{"127.0.0.1"}}).RunOnce(t.Context()))
		if hits == 0 || hits > 2 {
			t.Errorf("%d calls: a redirect was followed, or nothing was called", hits)
		}
		log, err := s.Outcomes(t.Context(), 1, false, 10)
		must(t, err)
		for _, d := range log {
			if d.State == outcome.Delivered || d.Tries > 0 && d.LastError == "" {
				t.Errorf("%+v", d)
			}
		}
	})
}

// What lets messages in and sends them out is on record, without the secrets.
func TestSendersAndReceiversAreOnRecord(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		keys := seal.Random()
		in, out := events.Service{Store: s, Keys: keys}, outcome.Service{Store: s, Keys: keys}
		sender := events.Sender{Kind: events.Orders, ID: "shop", Name: "Shop", SystemID: "books"}
		var secrets []string
		secret, err := in.Connect(t.Context(), chief, sender)
		must(t, err)
		secrets = append(secrets, secret)
		secret, err = in.NewSecret(t.Context(), chief, events.Orders, "shop")
		must(t, err)
		must(t, in.DropOld(t.Context(), chief, events.Orders, "shop"))
		must(t, in.Disconnect(t.Context(), chief, events.Orders, "shop"))
		must(t, in.Disconnect(t.Context(), chief, events.Orders, "shop")) // again changes nothing
		secrets = append(secrets, secret)
		secret, err = out.Connect(t.Context(), chief, outcome.Endpoint{Name: "Till", Address: "https://till.example/hook", Automation: "orders"})
		must(t, err)
		secrets = append(secrets, secret)
		list, err := out.Endpoints(t.Context(), chief)
		must(t, err)
		must(t, out.Remove(t.Context(), chief, list[0].ID))
		must(t, out.Remove(t.Context(), chief, list[0].ID))

		page, err := s.AuditPage(t.Context(), auth.AuditFilter{Limit: 50})
		must(t, err)
		var did []string
		for _, r := range page.Records {
			if strings.HasPrefix(r.What, "sender_") || strings.HasPrefix(r.What, "endpoint_") {
				did = append([]string{r.What}, did...)
				if r.By.ID != chief.ID {
					t.Errorf("%s by %v", r.What, r.By)
				}
			}
			for _, secret := range secrets {
				if strings.Contains(fmt.Sprint(r), secret) {
					t.Errorf("a secret is on record: %+v", r)
				}
			}
		}
		want := "sender_connected sender_secret_renewed sender_secret_ended sender_removed endpoint_connected endpoint_removed"
		if got := strings.Join(did, " "); got != want {
			t.Errorf("on record: %s", got)
		}
	})
}

// An order's event is not lost and not begun on a system that was never proven: it is refused with the reason, and counts
// when it comes again after a person agreed.
func TestNoOrderBeginsOnASystemThatWasNeverProven(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		sv := events.Service{Store: s, Keys: seal.Random(), Intake: automation.Intake{Store: s}}
		_, err := sv.Connect(t.Context(), chief, events.Sender{Kind: events.Orders, ID: "shop", Name: "Shop", SystemID: "books"})
		must(t, err)
		total, err := currency.NewAmount("10.00", "EUR")
		must(t, err)
		o := events.Order{EventID: "evt-1", Type: events.OrderConfirmed, Digest: "d", New: work.New{CompanyID: 1, Automation: events.OrdersAutomation, BusinessKey: "A-1", SystemID: "books",
			Invoice: work.Invoice{CustomerID: "C", Total: total}, By: events.OrdersActor(events.Sender{ID: "shop", Name: "Shop"})}}
		rec, err := sv.Receive(t.Context(), "shop", o)
		if err != nil || rec.Result != automation.IntakeOff || rec.Err == nil || !strings.Contains(rec.Err.Error(), "never proven") {
			t.Fatalf("%+v %v", rec, err)
		}
		must(t, s.AllowUnproven(t.Context(), 1, events.OrdersAutomation, []string{"books"}, chief))
		if rec, err = sv.Receive(t.Context(), "shop", o); err != nil || rec.Result != automation.IntakeNew {
			t.Fatalf("%+v %v", rec, err)
		}
	})
}
