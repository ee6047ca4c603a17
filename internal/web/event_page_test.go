package web

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"onefold/internal/automation/events"
	"onefold/internal/automation/outcome"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// refusing is an endpoint that takes nothing.
type refusing struct{}

func (refusing) Post(context.Context, string, map[string]string, []byte) error {
	return &outcome.NotTaken{Text: "it answered 503: <b>out of order</b>", Away: true}
}

func TestEventPagesShowSecretsOnceAndKeepWhatWasTyped(t *testing.T) {
	w := newWorld(t)
	h := newHooks(t, w)
	b := h.browser.site.signIn("admin")
	page := b.get("/events")
	form := page.form("/events/senders")
	for name, value := range map[string]string{"kind": "orders", "name": "Shop & Söhne", "id": "Not Good", "system": rt.SystemID} {
		form.Set(name, value)
	}
	if a := b.post("/events/senders", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `value="Not Good"`) || !strings.Contains(a.visible(), "small letters") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	form.Set("id", "shop")
	a := b.post("/events/senders", form)
	_, after, _ := strings.Cut(a.body, `<code class="secret">`)
	secret, _, _ := strings.Cut(after, "<")
	if a.status != http.StatusOK || !strings.HasPrefix(secret, "whsec_") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := h.sign("/hooks/orders/shop", secret, orderEvent("evt_1", "A-1001", "120.00")); a.status != http.StatusCreated {
		t.Errorf("%d %s", a.status, a.body)
	}
	again := b.get("/events")
	if strings.Contains(again.body, secret) || !strings.Contains(again.visible(), "/hooks/orders/shop") {
		t.Errorf("%s", again.visible())
	}
	_, example, _ := strings.Cut(html.UnescapeString(again.body), "BODY='")
	body, rest, _ := strings.Cut(example, "'\n")
	if !strings.Contains(rest, "/hooks/orders/shop' -H") {
		t.Errorf("the example goes elsewhere: %s", rest)
	}
	for _, want := range []int{http.StatusCreated, http.StatusOK} { // sent twice it becomes one invoice
		if a := h.sign("/hooks/orders/shop", secret, body); a.status != want {
			t.Errorf("the example is answered %d, not %d: %s", a.status, want, a.body)
		}
	}
	form = again.form("/events/endpoints")
	form.Set("name", "Shop")
	form.Set("address", "http://10.0.0.1/x")
	if a := b.post("/events/endpoints", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "http://10.0.0.1/x") {
		t.Errorf("%d", a.status)
	}
	form.Set("address", "https://shop.example/hook")
	form.Set("automation", "invoices")
	if a := b.post("/events/endpoints", form); a.status != http.StatusOK || !strings.Contains(a.body, "whsec_") {
		t.Errorf("%d", a.status)
	}
	id := w.One("INV-1")
	w.Happen(id, work.Hold{By: ada, Note: "wait"})
	loop := outcome.NewLoop(outcome.Config{Store: w.Store, Keys: h.Keys, Post: refusing{}, Node: "a"})
	if err := loop.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	log := b.get("/events/log")
	for _, want := range []string{"INV-1", "Needs a person", "It answered 503", "Send again", "A-1001", "Recorded", "evt_1"} {
		if !strings.Contains(log.visible(), want) {
			t.Errorf("%q is missing: %s", want, log.visible())
		}
	}
	if strings.Contains(log.body, "<b>out of order") {
		t.Error("what the other side said is not escaped")
	}
	if a := b.post("/events/outcomes/1/again", log.form("/events/outcomes/1/again")); a.location != "/events/log?did=again" {
		t.Errorf("%d %s", a.status, a.location)
	}
	if a := b.post("/events/outcomes/99/again", url.Values{csrfField: log.form("/events/outcomes/1/again")[csrfField]}); a.status != http.StatusNotFound {
		t.Errorf("%d", a.status)
	}
}

func TestEventPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	h := newHooks(t, w)
	s := h.browser.site
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "events-empty", s.URL+"/events")
	secret := h.connect(t, events.Orders, "shop")
	h.connect(t, events.Orders, "a-shop-with-a-rather-long-name")
	if _, err := h.NewSecret(t.Context(), chief, events.Orders, "shop"); err != nil {
		t.Fatal(err)
	}
	books := h.connect(t, events.System, rt.SystemID)
	told := outcome.Service{Store: w.Store, Keys: h.Keys}
	for _, address := range []string{"https://shop.example/hooks/onefold", "https://erp.example/" + strings.Repeat("a-long-path/", 12)} {
		if _, err := told.Connect(t.Context(), chief, outcome.Endpoint{Name: "Told " + address[8:12], Address: address, Automation: "invoices"}); err != nil {
			t.Fatal(err)
		}
	}
	shoot(t, ctx, "events", s.URL+"/events")
	ids := w.Put("Acme Holdings Ltd", rt.Money(t, "1200.00", "EUR"), "INV-2026-11-ACME", "INV-"+strings.Repeat("W", 80))
	for _, id := range ids {
		w.Happen(id, work.Hold{By: ada, Note: "wait"})
	}
	if err := outcome.NewLoop(outcome.Config{Store: w.Store, Keys: h.Keys, Post: refusing{}, Node: "a"}).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{orderEvent("evt_1", "A-1001", "120.00"), orderEvent("evt_1", "A-1001", "120.00"), orderEvent("evt_2", "A-1001", "121.00")} {
		h.sign("/hooks/orders/shop", secret, body)
	}
	h.sign("/hooks/systems/books", books, systemNotice("n-1", "invoice.paid", "2026-11-29T17:27:00Z", "INV-2026-11-ACME"))
	h.sign("/hooks/systems/books", books, systemNotice("n-2", "invoice.sent", "2026-11-29T17:25:00Z", "INV-2026-11-ACME"))
	shoot(t, ctx, "events-log", s.URL+"/events/log")
}
