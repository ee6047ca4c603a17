package web

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/events"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

var chief = work.Actor{Kind: work.Person, ID: "chief", Name: "Cora Chief", Roles: []work.Role{work.Admin}}

// hooks is a site that takes events in, with what admins may do about it.
type hooks struct {
	api
	*events.Service
	w *rt.World
}

func newHooks(t *testing.T, w *rt.World) hooks {
	t.Helper()
	people, intake := accounts(t), automation.Intake{Store: w.Store}
	w.LetBegin(events.OrdersAutomation)
	w.LetBegin(invoicesAutomation)
	site := newSite(t, Config{Store: w.Store, Auth: people, Intake: intake, Importer: automation.Importer{Intake: intake, TempDir: t.TempDir()}})
	return hooks{api{site.browser()}, &events.Service{Store: w.Store, Intake: intake, Keys: people.Keys}, w}
}

func (h hooks) connect(t *testing.T, kind events.Kind, id string) (secret string) {
	t.Helper()
	secret, err := h.Connect(t.Context(), chief, events.Sender{Kind: kind, ID: id, Name: "Shop " + id, SystemID: rt.SystemID})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// sign posts a body with a signature of now.
func (h hooks) sign(path, secret, body string) answer {
	return h.signed(path, events.Sign(secret, h.w.Clock(), []byte(body)), body)
}

func (h hooks) signed(path, signature, body string) answer {
	h.browser.site.t.Helper()
	r, err := http.NewRequest(http.MethodPost, h.browser.site.URL+path, strings.NewReader(body))
	if err != nil {
		h.browser.site.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(events.SignatureHeader, signature)
	return h.browser.do(r)
}

func orderEvent(id, reference, total string) string {
	return fmt.Sprintf(`{"id":%q,"type":"order.confirmed","occurred_at":"2026-11-29T09:59:00Z","order":{"reference":%q,"invoice":{"customer_id":"C-1001","customer_name":"Acme Holdings Ltd","total":{"number":%q,"currency":"EUR"}}}}`,
		id, reference, total)
}

func systemNotice(id, kind, at, reference string) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"occurred_at":%q,"reference":%q,"more":{"is":["not","read"]}}`, id, kind, at, reference)
}

// orders are the items of order events.
func (h hooks) orders(t *testing.T) (n int) {
	t.Helper()
	log, err := h.Store.Events(t.Context(), 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[int64]bool{}
	for _, e := range log {
		if e.ItemID != 0 {
			ids[e.ItemID] = true
		}
	}
	return len(ids)
}

// Trial 74.
func TestTrial74_TenCopiesAtTheSameInstant(t *testing.T) {
	h := newHooks(t, newWorld(t))
	secret := h.connect(t, events.Orders, "shop")
	var wg sync.WaitGroup
	answers := make([]answer, 10)
	for i := range answers {
		wg.Go(func() { answers[i] = h.sign("/hooks/orders/shop", secret, orderEvent("evt_1", "A-1001", "120.00")) })
	}
	wg.Wait()
	created := 0
	for _, a := range answers {
		if a.status/100 != 2 {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a.status == http.StatusCreated {
			created++
		}
		if a.json(t)["key"] != "A-1001" || a.json(t)["automation"] != "orders" {
			t.Errorf("%s", a.body)
		}
	}
	if created != 1 || h.orders(t) != 1 {
		t.Errorf("%d were created, %d are on record", created, h.orders(t))
	}
	log, err := h.Log(t.Context(), chief, 100)
	if err != nil || len(log) != 1 || log[0].Times != 10 {
		t.Errorf("%+v %v", log, err)
	}
}

// Trial 75.
func TestTrial75_TheOlderNoticeChangesNothing(t *testing.T) {
	w := newWorld(t)
	h := newHooks(t, w)
	secret := h.connect(t, events.System, rt.SystemID)
	id := w.One("INV-1")
	w.Send(id, rt.NoAnswer)
	ref := w.Get(id).Reference
	result := func(body string) any {
		t.Helper()
		a := h.sign("/hooks/systems/books", secret, body)
		if a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return a.json(t)["result"]
	}
	if got := result(systemNotice("n-2", "paid", "2026-11-29T17:27:00Z", ref)); got != "looking" {
		t.Fatal(got)
	}
	if it := w.Get(id); it.Status != work.Pending || it.LookAsked == "" || it.DueAt.After(w.Clock()) {
		t.Fatalf("a notice is a wish to look and no status: %s, asked %q, due %s", it.Status, it.LookAsked, it.DueAt)
	}
	w.Find(id, rt.FoundAs(7))
	before := w.Get(id)
	if before.Status != work.Confirmed {
		t.Fatal(before.Status)
	}
	if got := result(systemNotice("n-1", "pending", "2026-11-29T17:25:00Z", ref)); got != "outdated" {
		t.Error(got)
	}
	if after := w.Get(id); after.Status != work.Confirmed || after.Version != before.Version {
		t.Errorf("the late notice changed the item: %s", after.Status)
	}
	// A newer one makes us look again, and only what is found there counts.
	if got := result(systemNotice("n-3", "deleted", "2026-11-29T17:30:00Z", ref)); got != "looking" {
		t.Error(got)
	}
	if it := w.Get(id); it.Status != work.Confirmed || it.ExternalID == "" {
		t.Errorf("a notice unconfirmed an item: %s", it.Status)
	}
	w.Find(id, rt.FoundAs(7))
	if it := w.Get(id); it.Status != work.Confirmed {
		t.Error(it.Status)
	}
	for body, want := range map[string]string{systemNotice("n-4", "paid", "2026-11-29T17:31:00Z", "NOBODY-1"): "unknown",
		`{"id":"n-5","type":"paid","record_id":"` + w.Get(id).ExternalID + `"}`: "looking"} {
		if got := result(body); got != want {
			t.Errorf("%s: %v, not %s", body, got, want)
		}
	}
}

// Trial 77: the accounting system takes its time, and the sender gives up and repeats.
func TestTrial77_TheAnswerDoesNotWaitForTheWork(t *testing.T) {
	w := newWorld(t)
	h := newHooks(t, w)
	secret := h.connect(t, events.Orders, "shop")
	began := time.Now()
	var id int64
	for n := range 3 {
		if a := h.sign("/hooks/orders/shop", secret, orderEvent("evt_1", "A-1001", "120.00")); a.status/100 != 2 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if n == 0 { // the work begins, and is still on its way while the sender repeats
			found, err := w.ItemsNamed(t.Context(), 1, rt.SystemID, "A-1001", "")
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			if id = found[0]; w.Claim(id).OpenKind != work.Send {
				t.Fatal("nothing is on its way")
			}
		}
		w.Later(5 * time.Second)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("three answers took %s", took)
	}
	if it := w.Get(id); it.Sends != 1 || h.orders(t) != 1 {
		t.Errorf("%d sends, %d items", it.Sends, h.orders(t))
	}
}

// Trial 79.
func TestTrial79_ConnectingAgainReplaces(t *testing.T) {
	w := newWorld(t)
	h := newHooks(t, w)
	var secrets []string
	for range 5 {
		secrets = append(secrets, h.connect(t, events.Orders, "shop"))
		if err := h.Disconnect(t.Context(), chief, events.Orders, "shop"); err != nil {
			t.Fatal(err)
		}
	}
	secrets = append(secrets, h.connect(t, events.Orders, "shop"), h.connect(t, events.Orders, "shop"))
	senders, err := h.Senders(t.Context(), chief)
	if err != nil || len(senders) != 1 {
		t.Fatal(senders, err)
	}
	for i, secret := range secrets {
		want := http.StatusUnauthorized
		if i == len(secrets)-1 {
			want = http.StatusCreated
		}
		if a := h.sign("/hooks/orders/shop", secret, orderEvent("evt_1", "A-1001", "120.00")); a.status != want {
			t.Errorf("registration %d: %d %s", i, a.status, a.body)
		}
	}
	if h.orders(t) != 1 {
		t.Errorf("%d items", h.orders(t))
	}
}

// Trial 28: two senders bring the same orders.
func TestTrial28_TwoSendersOneOrder(t *testing.T) {
	h := newHooks(t, newWorld(t))
	for i, id := range []string{"shop", "shop-again"} {
		a := h.sign("/hooks/orders/"+id, h.connect(t, events.Orders, id), orderEvent("evt_"+id, "A-1001", "120.00"))
		if want := []int{http.StatusCreated, http.StatusOK}[i]; a.status != want {
			t.Errorf("%s: %d %s", id, a.status, a.body)
		}
	}
	log, err := h.Log(t.Context(), chief, 100)
	if err != nil || len(log) != 2 || log[0].Result != "known" || log[1].Result != "new" || log[0].ItemID != log[1].ItemID {
		t.Errorf("%+v %v", log, err)
	}
}

func TestOnlyWhatIsSignedCounts(t *testing.T) {
	w := newWorld(t)
	h := newHooks(t, w)
	secret, body := h.connect(t, events.Orders, "shop"), orderEvent("evt_1", "A-1001", "120.00")
	other := h.connect(t, events.Orders, "other")
	notice := h.connect(t, events.System, rt.SystemID)
	now := w.Clock()
	good := events.Sign(secret, now, []byte(body))
	for name, signature := range map[string]string{"none": "", "nonsense": "t=x,v1=y", "no time": strings.SplitN(good, ",", 2)[1], "no sum": strings.SplitN(good, ",", 2)[0],
		"another body": events.Sign(secret, now, []byte(body+" ")), "another sender": events.Sign(other, now, []byte(body)), "a system": events.Sign(notice, now, []byte(body)),
		"too old": events.Sign(secret, now.Add(-6*time.Minute), []byte(body)), "too new": events.Sign(secret, now.Add(6*time.Minute), []byte(body)),
		"another time": strings.Replace(good, "t=", "t=1", 1), "an empty secret": events.Sign("", now, []byte(body))} {
		if a := h.signed("/hooks/orders/shop", signature, body); a.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := h.signed("/hooks/orders/nobody", events.Sign("", now, []byte(body)), body); a.status != http.StatusUnauthorized {
		t.Errorf("nobody: %d %s", a.status, a.body)
	}
	if h.orders(t) != 0 {
		t.Fatal("something was recorded")
	}
	// While the secret is being changed both count, in any order; then only the new one.
	fresh, err := h.NewSecret(t.Context(), chief, events.Orders, "shop")
	if err != nil {
		t.Fatal(err)
	}
	for i, secret := range []string{secret, fresh} {
		if a := h.sign("/hooks/orders/shop", secret, body); a.status/100 != 2 {
			t.Errorf("secret %d: %d %s", i, a.status, a.body)
		}
	}
	both := good + ",v1=" + strings.SplitN(events.Sign(fresh, now, []byte(body)), "v1=", 2)[1]
	if a := h.signed("/hooks/orders/shop", both, body); a.status != http.StatusOK {
		t.Errorf("both: %d", a.status)
	}
	if err := h.DropOld(t.Context(), chief, events.Orders, "shop"); err != nil {
		t.Fatal(err)
	}
	if a := h.sign("/hooks/orders/shop", secret, body); a.status != http.StatusUnauthorized {
		t.Errorf("the old secret: %d", a.status)
	}
	// Another content under an id that had its effect is no repeat, and no change either.
	if a := h.sign("/hooks/orders/shop", fresh, orderEvent("evt_1", "A-1002", "1.00")); a.status != http.StatusConflict {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.sign("/hooks/orders/shop", fresh, orderEvent("evt_2", "A-1001", "121.00")); a.status != http.StatusConflict || !strings.Contains(a.body, `"item"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, bad := range []string{`{}`, `[]`, `nonsense`, orderEvent("", "A-9", "1.00"), orderEvent("evt_9", "", "1.00"), orderEvent("evt_9", "A-9", "a lot"),
		strings.Replace(orderEvent("evt_9", "A-9", "1.00"), "order.confirmed", "order.cancelled", 1), strings.Replace(orderEvent("evt_9", "A-9", "1.00"), "EUR", "EURO", 1)} {
		if a := h.sign("/hooks/orders/shop", fresh, bad); a.status != http.StatusBadRequest && a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", bad, a.status, a.body)
		}
	}
	if h.orders(t) != 1 {
		t.Errorf("%d items", h.orders(t))
	}
}

func TestOrderEventByToken(t *testing.T) {
	h := newHooks(t, newWorld(t))
	for _, want := range []int{http.StatusCreated, http.StatusOK} {
		if a := h.call(http.MethodPost, "/api/v1/events", "application/json", strings.NewReader(orderEvent("evt_1", " a-1001 ", "120.00"))); a.status != want {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if a := h.call(http.MethodGet, "/api/v1/items/a-1001", "", nil); a.status != http.StatusOK || a.json(t)["automation"] != "orders" {
		t.Errorf("%d %s", a.status, a.body)
	}
}
