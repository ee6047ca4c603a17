package server_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/sandbox/server"
)

func do(t *testing.T, method, address, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func TestTrial121_TheBooksPageShowsNamesLiterally(t *testing.T) {
	s, url := start(t, server.Options{})
	inv := invoice(t, "12.00", "EUR")
	inv.CustomerName = `</td><script>alert(1)</script><img onerror="x">`
	c := connect(t, s, url, "blind")
	issue(t, c, "INV-1", inv)
	ledger.DoSend(t.Context(), c, request(sandbox.StepCreate, "INV-1", inv), nil)
	resp, body := do(t, "GET", url+"/blind?q=inv-1", "", nil)
	if strings.Contains(body, "<script") || strings.Contains(body, "<img") || !strings.Contains(body, "&lt;script&gt;") {
		t.Errorf("not literal:\n%s", body)
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("CSP %q", csp)
	}
	if !strings.Contains(body, "(twice)") || !strings.Contains(body, "24.00") {
		t.Errorf("two records with one reference are not shown:\n%s", body)
	}
	if _, body := do(t, "GET", url+"/blind?q=nowhere", "", nil); !strings.Contains(body, "Nothing is held for “nowhere”") {
		t.Error("an empty result does not repeat what was searched")
	}
	if resp, _ := do(t, "GET", url+"/nobody", "", nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("unknown books: %d", resp.StatusCode)
	}
}

func TestFaultsCanBeSetByPageAndByAPI(t *testing.T) {
	s, address := start(t, server.Options{Token: "tok"})
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": address}
	rule := url.Values{"fault": {"drop_after"}, "kind": {"create"}, "times": {"3"}}.Encode()
	if resp, _ := do(t, "POST", address+"/control/rule", rule, form); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("form: %d", resp.StatusCode)
	}
	if p := s.Plan(); len(p.Rules) != 1 || p.Rules[0] != (server.Rule{Fault: server.DropAfter, Kind: server.Create, Times: 3}) {
		t.Errorf("%+v", p)
	}
	form["Origin"] = "https://evil.example"
	if resp, _ := do(t, "POST", address+"/control/rule", rule, form); resp.StatusCode != http.StatusForbidden || len(s.Plan().Rules) != 1 {
		t.Errorf("a form of another site: %d", resp.StatusCode)
	}
	token := map[string]string{"Authorization": "Bearer tok"}
	if resp, body := do(t, "PUT", address+"/control/plan", `{"seed":4,"rules":[{"fault":"reject","probability":0.5,"each_times":1}]}`, token); resp.StatusCode != http.StatusOK {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if p := s.Plan(); p.Seed != 4 || len(p.Rules) != 1 || p.Rules[0].EachTimes != 1 {
		t.Errorf("%+v", p)
	}
	for _, bad := range []string{`{"rules":[{"fault":"nonsense"}]}`, `{"rules":[{"fault":"reject","probability":2}]}`, `{"rulez":[]}`, `{`} {
		if resp, body := do(t, "PUT", address+"/control/plan", bad, token); resp.StatusCode != http.StatusBadRequest || len(s.Plan().Rules) != 1 {
			t.Errorf("%s: %d %s", bad, resp.StatusCode, body)
		}
	}
	if resp, _ := do(t, "PUT", address+"/control/outage?seconds=60", "", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without token: %d", resp.StatusCode)
	}
	if resp, _ := do(t, "PUT", address+"/control/outage?seconds=60", "", token); resp.StatusCode != http.StatusOK || s.OutageUntil().IsZero() {
		t.Errorf("outage: %d", resp.StatusCode)
	}
}
