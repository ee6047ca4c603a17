package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"onefold/internal/automation"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// api is a program that has the token.
type api struct{ browser *browser }

func newAPI(t *testing.T, w *rt.World) api {
	t.Helper()
	w.LetBegin(invoicesAutomation)
	intake := automation.Intake{Store: w.Store}
	return api{newSite(t, Config{Store: w.Store, Intake: intake, Importer: automation.Importer{Intake: intake, TempDir: t.TempDir()}}).browser()}
}

func (a api) call(method, path, kind string, body io.Reader) answer {
	a.browser.site.t.Helper()
	r, err := http.NewRequest(method, a.browser.site.URL+path, body)
	if err != nil {
		a.browser.site.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Content-Type", kind)
	return a.browser.do(r)
}

func (a api) post(body string) answer {
	a.browser.site.t.Helper()
	return a.call(http.MethodPost, "/api/v1/items", "application/json", strings.NewReader(body))
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%d: %s", a.status, a.body)
	}
	return v
}

// message is the sentence of a refusal.
func (a answer) message(t *testing.T) (code, message string) {
	t.Helper()
	e, _ := a.json(t)["error"].(map[string]any)
	code, _ = e["code"].(string)
	message, _ = e["message"].(string)
	return code, message
}

func item(key, number string) string {
	return fmt.Sprintf(`{"key":%q,"invoice":{"customer_id":"C-1","customer_name":"Acme","total":{"number":%q,"currency":"EUR"}}}`, key, number)
}

func TestAPIRecordsOnce(t *testing.T) {
	w := newWorld(t)
	a := newAPI(t, w)
	first := a.post(item("INV-1", "100.00"))
	if first.status != http.StatusCreated || first.location != "/api/v1/items/INV-1" || first.json(t)["status"] != "queued" {
		t.Fatalf("%d %s %s", first.status, first.location, first.body)
	}
	for _, same := range []string{item("INV-1", "100.00"), item(" INV-1 ", "100"),
		`{"invoice":{"total":{"currency":"EUR","number":100.0},"customer_name":"Acme","customer_id":"C-1"},"system":"books","automation":"invoices","key":"INV-1"}`} {
		if again := a.post(same); again.status != http.StatusOK || again.json(t)["id"] != first.json(t)["id"] {
			t.Errorf("%s: %d %s", same, again.status, again.body)
		}
	}
	other := a.post(item("INV-1", "120.00"))
	code, message := other.message(t)
	if other.status != http.StatusConflict || code != "conflict" || !strings.Contains(message, "100.00") || !strings.Contains(message, "120.00") || other.json(t)["item"] == nil {
		t.Errorf("%d %s", other.status, other.body)
	}
	spelt := a.post(item("inv-1", "100.00"))
	code, message = spelt.message(t)
	if spelt.status != http.StatusConflict || code != "spelling" || !strings.Contains(message, `"INV-1"`) || !strings.Contains(message, `"inv-1"`) {
		t.Errorf("%d %s", spelt.status, spelt.body)
	}
	if n, err := w.Counts(t.Context(), 1); err != nil || n["all"] != 1 {
		t.Errorf("%v items, %v", n, err)
	}
}

func TestAPIKnowsEveryRevision(t *testing.T) {
	w := newWorld(t)
	a := newAPI(t, w)
	a.post(item("INV-1", "100.00"))
	list, err := w.Search(t.Context(), reviewQuery("INV-1"))
	if err != nil || len(list.Items) != 1 {
		t.Fatal(err)
	}
	invoice := w.Get(list.Items[0].ID).Invoice
	invoice.Total = rt.Money(t, "120.00", "EUR")
	w.Happen(list.Items[0].ID, work.Correct{By: ada, Invoice: invoice, Note: "price"})
	for _, number := range []string{"100.00", "120.00"} {
		if got := a.post(item("INV-1", number)); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", number, got.status, got.body)
		}
	}
	if got := a.post(item("INV-1", "130.00")); got.status != http.StatusConflict {
		t.Errorf("%d", got.status)
	}
}

func TestAPISaysWhatIsWrong(t *testing.T) {
	a := newAPI(t, newWorld(t))
	total := `"total":{"number":"1","currency":"EUR"}`
	for body, want := range map[string]struct {
		status int
		says   string
	}{
		``:               {400, "this is not JSON"},
		`{"key":`:        {400, "this is not JSON"},
		`"text"`:         {400, "must be an object"},
		`[1]`:            {207, "must be an object"},
		`{"key":"K"} {}`: {400, "something follows"},
		`{"key":"K","invoice":{"customer_id":"C",` + total + `},"colour":"red"}`:                  {400, `unknown field "colour"`},
		`{"key":"K","invoice":{"customer_id":"C",` + total + `,"vat":1}}`:                         {400, `unknown field "vat"`},
		`{"key":"K","invoice":{"customer_id":"C","total":{"number":"1","currency":"EUR","x":1}}}`: {400, `unknown field "x"`},
		`{"items":[],"key":"K"}`: {400, `unknown field "key"`},
		`{"key":7}`:              {400, `"key" must be a text, not a number`},
		`{"invoice":{"customer_id":"C",` + total + `}}`: {400, `"key" is missing`},
		`{"key":"K"}`: {400, `"invoice.total" needs`},
		`{"key":"K","invoice":{"customer_id":"C","total":{"number":"1,5","currency":"EUR"}}}`:    {400, `"1,5" is not a number`},
		`{"key":"K","invoice":{"customer_id":"C","total":{"number":"NaN","currency":"EUR"}}}`:    {400, `"NaN" is not a number`},
		`{"key":"K","invoice":{"customer_id":"C","total":{"number":1e3,"currency":"EUR"}}}`:      {400, `"1e3" is not a number`},
		`{"key":"K","invoice":{"customer_id":"C","total":{"number":"1","currency":"EURO"}}}`:     {400, `currency "EURO" is not known`},
		`{"key":"K","invoice":{"customer_id":"C","total":{"number":"1.005","currency":"EUR"}}}`:  {422, "more decimals"},
		`{"key":"K","invoice":{"customer_id":"C","total":{"number":"-1","currency":"EUR"}}}`:     {422, "negative"},
		`{"key":"K","invoice":{` + total + `}}`:                                                  {422, "customer is missing"},
		`{"key":"K\u0007","invoice":{"customer_id":"C",` + total + `}}`:                          {422, "invisible character"},
		`{"key":"` + strings.Repeat("K", 201) + `","invoice":{"customer_id":"C",` + total + `}}`: {422, "at most 200"},
		`{"key":"K","system":"nothing","invoice":{"customer_id":"C",` + total + `}}`:             {400, `no accounting system "nothing"`},
	} {
		got := a.post(body)
		if got.status != want.status || !strings.Contains(strings.ReplaceAll(got.body, `\"`, `"`), want.says) {
			t.Errorf("%.90s: %d %s", body, got.status, got.body)
		}
	}
	if got := a.post("[" + strings.Repeat(item("K", "1")+",", maxBatch) + item("K", "1") + "]"); got.status != http.StatusRequestEntityTooLarge || !strings.Contains(got.body, "at most 1000 items") {
		t.Errorf("a large batch: %d %.200s", got.status, got.body)
	}
	if got := a.post(strings.Repeat(" ", apiSize+1)); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d %.200s", got.status, got.body)
	}
}

func TestAPIBatchKeepsTheGoodOnes(t *testing.T) {
	for name, wrap := range map[string]string{"list": "[%s]", "object": `{"items":[%s]}`} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := newAPI(t, w)
			a.post(item("OLD", "5"))
			got := a.post(fmt.Sprintf(wrap, strings.Join([]string{item("A", "1"), `{"key":"B","nonsense":1}`, item("OLD", "5"), item("OLD", "6"), item("C", "-1"), item("a", "1"), item("D", "2")}, ",")))
			if got.status != http.StatusMultiStatus {
				t.Fatalf("%d %s", got.status, got.body)
			}
			var statuses []int
			for _, r := range got.json(t)["items"].([]any) {
				r := r.(map[string]any)
				statuses = append(statuses, int(r["status"].(float64)))
				if failed := r["error"] != nil; failed != (int(r["status"].(float64)) >= 400) {
					t.Errorf("%v", r)
				}
			}
			if fmt.Sprint(statuses) != "[201 400 200 409 422 409 201]" {
				t.Errorf("%v", statuses)
			}
			if n, err := w.Counts(t.Context(), 1); err != nil || n["all"] != 3 {
				t.Errorf("%v items, %v", n, err)
			}
			if again := a.post(fmt.Sprintf(wrap, item("A", "1")+","+item("D", "2"))); again.status != http.StatusOK {
				t.Errorf("repeated: %d %s", again.status, again.body)
			}
		})
	}
}

func TestAPIReadsByKey(t *testing.T) {
	w := newWorld(t, func(s *work.System) { s.Steps = []string{"create", "post"} })
	a := newAPI(t, w)
	const key = "Ä/2026 11%_#1"
	a.post(item(key, "100.00"))
	list, err := w.Search(t.Context(), reviewQuery(key))
	if err != nil || len(list.Items) != 1 {
		t.Fatal(err)
	}
	w.Send(list.Items[0].ID, rt.AcceptedAs(7))
	for _, asked := range []string{key, "ä/2026  11%_#1", "A\u0308/2026 11%_#1"} {
		got := a.call(http.MethodGet, "/api/v1/items/"+url.PathEscape(asked), "", nil)
		v := got.json(t)
		if got.status != http.StatusOK || v["key"] != key || v["step"] != "post" || v["status"] != "queued" || v["attempts"] != 0.0 {
			t.Fatalf("%q: %d %s", asked, got.status, got.body)
		}
		first := v["steps"].([]any)[0].(map[string]any)
		if first["status"] != "confirmed" || first["external_id"] != "inv_00007" || first["attempts"] != 1.0 {
			t.Errorf("%v", first)
		}
	}
	for _, asked := range []string{"Ä/2026 11", "A/2026 11%_#1", "nothing"} {
		if got := a.call(http.MethodGet, "/api/v1/items/"+url.PathEscape(asked), "", nil); got.status != http.StatusNotFound {
			t.Errorf("%q: %d %s", asked, got.status, got.body)
		}
	}
}

// One record outside belongs to one item: another automation cannot claim the same reference.
func TestAPIRefusesATakenReference(t *testing.T) {
	w := newWorld(t)
	w.LetBegin("orders")
	a := newAPI(t, w)
	a.post(item("K", "1"))
	got := a.post(strings.Replace(item("K", "1"), `"key"`, `"automation":"orders","key"`, 1))
	if code, message := got.message(t); got.status != http.StatusConflict || code != "taken" || !strings.Contains(message, "already in use") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestAPINeedsTheToken(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	signedIn := s.signIn("admin")
	for _, b := range []*browser{s.browser(), signedIn} { // a session is no token: the API has no form guard
		r, err := http.NewRequest(http.MethodPost, s.URL+"/api/v1/items", strings.NewReader(item("K", "1")))
		if err != nil {
			t.Fatal(err)
		}
		got := b.do(r)
		if code, _ := got.message(t); got.status != http.StatusUnauthorized || code != "unauthorized" || got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

const csvFile = "key;customer_id;customer_name;amount;currency\nINV-1;C-1;Acme;100,00;EUR\nINV-2;C-2;Globex;250,50;EUR\nINV-3;;Nobody;1,00;EUR\n"

func TestAPIImport(t *testing.T) {
	w := newWorld(t)
	a := newAPI(t, w)
	got := a.call(http.MethodPost, "/api/v1/import?system=books", "text/csv", strings.NewReader(csvFile)).json(t)
	if got["new"] != 2.0 || got["bad"] != 1.0 || len(got["problems"].([]any)) != 1 {
		t.Fatalf("%v", got)
	}
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	part, err := m.CreateFormFile("file", "invoices.csv")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(part, csvFile)
	_ = m.Close()
	got = a.call(http.MethodPost, "/api/v1/import", m.FormDataContentType(), &form).json(t)
	if got["new"] != 0.0 || got["known"] != 2.0 {
		t.Errorf("%v", got)
	}
	refused := a.call(http.MethodPost, "/api/v1/import", "text/csv", strings.NewReader("nonsense\n1\n"))
	if code, message := refused.message(t); refused.status != http.StatusUnprocessableEntity || code != "refused" || message == "" {
		t.Errorf("%d %s", refused.status, refused.body)
	}
}
