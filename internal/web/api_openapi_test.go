package web

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"onefold/internal/automation/events"
	"onefold/internal/automation/outcome"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

func description(t *testing.T) (*v3.Document, validator.Validator) {
	t.Helper()
	doc, err := libopenapi.NewDocument(openAPIText)
	if err != nil {
		t.Fatal(err)
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc, config.WithFormatAssertions())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return &model.Model, v
}

func TestDescriptionIsValidOpenAPI31(t *testing.T) {
	model, v := description(t)
	if !strings.HasPrefix(model.Version, "3.1") {
		t.Errorf("version %s", model.Version)
	}
	if ok, errs := v.ValidateDocument(); !ok {
		for _, e := range errs {
			t.Errorf("%s: %s", e.Message, e.Reason)
		}
	}
}

var routeParameter = regexp.MustCompile(`:(\w+)`)

// Every route of the API is described, and nothing else is.
func TestDescriptionHasEveryRoute(t *testing.T) {
	model, _ := description(t)
	described := map[string]bool{}
	for path, item := range model.Paths.PathItems.FromOldest() {
		for method := range item.GetOperations().FromOldest() {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	s := newSite(t, Config{Store: newWorld(t).Store})
	for _, r := range s.Config.Handler.(*echo.Echo).Routes() {
		if !strings.HasPrefix(r.Path, "/api/") && !strings.HasPrefix(r.Path, "/hooks/") {
			continue
		}
		path := strings.Replace(routeParameter.ReplaceAllString(r.Path, "{$1}"), "/*", "/{key}", 1)
		if !described[r.Method+" "+path] {
			t.Errorf("%s %s is not described", r.Method, path)
		}
		delete(described, r.Method+" "+path)
	}
	for name := range described {
		t.Errorf("%s is described, but there is no such route", name)
	}
}

// exchange is a real request and what came back, both held to the description.
type exchange struct {
	method, path, kind, body, signature string
	noToken                             bool
	status                              int
	wrong                               bool // the request does not fit the description, on purpose
}

func TestRequestsAndAnswersFitTheDescription(t *testing.T) {
	_, v := description(t)
	w := newWorld(t)
	h := newHooks(t, w)
	shop, books := h.connect(t, events.Orders, "shop"), h.connect(t, events.System, rt.SystemID)
	sign := func(secret, body string) string { return events.Sign(secret, w.Clock(), []byte(body)) }
	const json, csv = "application/json", "text/csv"
	one := `{"key":"INV-1","system":"books","period":"2026-11","invoice":{"customer_id":"C-1","customer_name":"Acme","total":{"number":12.50,"currency":"EUR"},"issue_date":"2026-11-30","lines":[{"description":"x","quantity":1,"unit_price":"12.50","tax_code":"S"}]}}`
	order, notice := orderEvent("evt_1", "A-1", "9.00"), systemNotice("n-1", "paid", "2026-11-29T10:00:00Z", "INV-1")
	differs := strings.Replace(one, "12.50,", "13.50,", 1)
	for _, x := range []exchange{
		{method: post, path: "/api/v1/items", kind: json, body: one, status: 201},
		{method: post, path: "/api/v1/items", kind: json, body: one, status: 200},
		{method: post, path: "/api/v1/items", kind: json, body: strings.ReplaceAll(differs, `"12.50"`, `"13.50"`), status: 409},
		{method: post, path: "/api/v1/items", kind: json, body: strings.Replace(one, "INV-1", "INV-2", 1)[:40], status: 400, wrong: true},
		{method: post, path: "/api/v1/items", kind: json, body: strings.Replace(strings.Replace(one, "INV-1", "INV-2", 1), `"C-1"`, `""`, 1), status: 422, wrong: true},
		{method: post, path: "/api/v1/items", kind: json, body: "[" + one + "," + strings.Replace(one, "INV-1", "INV-3", 1) + "]", status: 200},
		{method: post, path: "/api/v1/items", kind: json, body: `{"items":[` + one + `,{"key":"x"}]}`, status: 207, wrong: true},
		{method: post, path: "/api/v1/items", kind: "text/plain", body: one, status: 415, wrong: true},
		{method: post, path: "/api/v1/items", kind: json, body: one, noToken: true, status: 401, wrong: true},
		{method: get, path: "/api/v1/items/INV-1", status: 200},
		{method: get, path: "/api/v1/items/NOBODY", status: 404},
		{method: get, path: "/api/v1/systems", status: 200},
		{method: get, path: "/api/v1/openapi.yaml", noToken: true, status: 200},
		{method: post, path: "/api/v1/import?system=books", kind: csv, body: csvFile, status: 200},
		{method: post, path: "/api/v1/import?system=books&check=1", kind: csv, body: csvFile, status: 200},
		{method: post, path: "/api/v1/import?system=books", kind: csv, body: "nonsense\n1\n", status: 422},
		{method: post, path: "/api/v1/events", kind: json, body: order, status: 201},
		{method: post, path: "/api/v1/events", kind: json, body: order, status: 200},
		{method: post, path: "/api/v1/events", kind: json, body: orderEvent("evt_2", "A-1", "10.00"), status: 409},
		{method: post, path: "/hooks/orders/shop", kind: json, body: order, signature: sign(shop, order), status: 200},
		{method: post, path: "/hooks/orders/shop", kind: json, body: order, signature: sign(books, order), status: 401},
		{method: post, path: "/hooks/systems/books", kind: json, body: notice, signature: sign(books, notice), status: 200},
		{method: post, path: "/hooks/systems/books", kind: json, body: `{"id":"n-2"}`, signature: sign(books, `{"id":"n-2"}`), status: 422, wrong: true},
	} {
		name := fmt.Sprintf("%s %s → %d", x.method, x.path, x.status)
		request := func() *http.Request {
			r, err := http.NewRequest(x.method, h.browser.site.URL+x.path, strings.NewReader(x.body))
			if err != nil {
				t.Fatal(err)
			}
			if x.kind != "" {
				r.Header.Set("Content-Type", x.kind)
			}
			if x.signature != "" {
				r.Header.Set(events.SignatureHeader, x.signature)
			} else if !x.noToken {
				r.Header.Set("Authorization", "Bearer "+testToken)
			}
			return r
		}
		ok, errs := v.ValidateHttpRequest(request())
		if ok == x.wrong {
			t.Errorf("%s: the request fits: %v", name, ok)
			for _, e := range errs {
				t.Logf("%s: %s %v", e.Message, e.Reason, e.SchemaValidationErrors)
			}
		}
		a := h.browser.do(request())
		if a.status != x.status {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		resp := &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body))}
		if ok, errs := v.ValidateHttpResponse(request(), resp); !ok {
			for _, e := range errs {
				t.Errorf("%s: the answer: %s: %s %v\n%s", name, e.Message, e.Reason, e.SchemaValidationErrors, a.body)
			}
		}
	}
}

// What is told outside is what the description says, and its lists are those of the code.
func TestOutcomesFitTheDescription(t *testing.T) {
	model, _ := description(t)
	schemas := schema_validation.NewSchemaValidator()
	hook, ok := model.Webhooks.Get("outcome")
	if !ok {
		t.Fatal("outcomes are not described")
	}
	media, _ := hook.Post.RequestBody.Content.Get("application/json")
	for _, status := range []work.Status{work.Confirmed, work.Resolved, work.Closed, work.Review} {
		it := work.Item{ID: 7, Version: 12, Status: status, BusinessKey: "A-1", Automation: "orders", SystemID: "books", Step: "create", Steps: []string{"create"}, Reference: "A-1"}
		if status == work.Review {
			it.Reason = work.ReasonRejected
		}
		_, body, err := outcome.Body(outcome.Delivery{ID: 3, MadeAt: newWorld(t).Clock(), Item: it})
		if err != nil {
			t.Fatal(err)
		}
		if ok, errs := schemas.ValidateSchemaBytes(media.Schema.Schema(), body); !ok {
			t.Errorf("%s: %v", body, errs)
		}
	}
	enum := func(name string) (list []string) {
		proxy, _ := model.Components.Schemas.Get(name)
		for _, n := range proxy.Schema().Enum {
			list = append(list, n.Value)
		}
		return list
	}
	for _, s := range work.Statuses {
		if !slices.Contains(enum("Status"), string(s)) || len(enum("Status")) != len(work.Statuses) {
			t.Errorf("statuses: %v", enum("Status"))
		}
	}
	for _, r := range work.Reasons {
		if !slices.Contains(enum("Reason"), string(r)) || len(enum("Reason")) != len(work.Reasons) {
			t.Errorf("reasons: %v", enum("Reason"))
		}
	}
}
