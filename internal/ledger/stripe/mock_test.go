package stripe_test

import (
	"bufio"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/stripe"
	"onefold/internal/work"
)

// stripeMock starts Stripe's own mock, which checks requests against the API description that it carries. It keeps no
// state and does not know the header with the key: it shows only whether requests have the right shape.
func stripeMock(t *testing.T) (address string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "stripe-mock")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../../tools", "-o", program, "github.com/stripe/stripe-mock")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("stripe-mock does not build: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), program, "-http-addr", "127.0.0.1:", "-strict-version-check")
	said, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Process.Kill() //nolint:errcheck // it may be gone
		run.Wait()         //nolint:errcheck // it was killed
	})
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if _, at, ok := strings.Cut(lines.Text(), "address: "); ok {
			return "http://" + at
		}
	}
	t.Fatal("stripe-mock did not say where it listens")
	return ""
}

func TestRequestsHaveTheShapeOfStripesDescription(t *testing.T) {
	address := stripeMock(t)
	settings := map[string]map[string]string{
		"plain":     {},
		"connected": {"account": "acct_1", "days_until_due": "14", "tax_rate": "txr_1"},
		"product":   {"product": "prod_1", "time_zone": "Europe/Berlin"},
	}
	invoices := map[string]work.Invoice{
		"total only": {CustomerID: "cus_1", Total: amount(t, "47.99", "EUR")},
		"all": {CustomerID: "cus_1", Total: amount(t, "47.99", "EUR"), IssueDate: "2026-11-30", DueDate: "2026-12-31", Note: "Thank you & äöü", Lines: []work.Line{
			{Description: "Advice", Quantity: "2.5", UnitPrice: "16.00", TaxCode: "txr_2"}, {Description: "Travel", Quantity: "1", UnitPrice: "7.99"}}},
		"yen": {CustomerID: "cus_1", Total: amount(t, "5000", "JPY")},
	}
	for name, typed := range settings {
		c := connect(t, address, ledgertest.Setup{Timeout: longEnough}, func(c *ledger.Connection) {
			for field, v := range typed {
				c.System.Settings[field] = v
			}
		})
		for what, v := range invoices {
			for _, step := range c.Steps() {
				req := request(step, "INV-1", v)
				req.PreviousRecordID = "in_1"
				if a := c.Send(t.Context(), req); a.Exchange.HTTPStatus != http.StatusOK {
					t.Errorf("%s, %s, %s: %s\n%s\n%s", name, what, step, a.Exchange.Error, a.Exchange.Request, a.Exchange.Response)
				}
			}
			if f := c.Find(t.Context(), ledger.Query{Step: stripe.StepCreate, Reference: "INV-1", Customer: "cus_1", Since: noon}); f.Exchange.HTTPStatus != http.StatusOK {
				t.Errorf("%s: the list: %+v", name, f.Exchange)
			}
			if f := c.Find(t.Context(), ledger.Query{Step: stripe.StepLines, Reference: "INV-1", PreviousRecordID: "in_1"}); f.Exchange.HTTPStatus != http.StatusOK {
				t.Errorf("%s: one invoice: %+v", name, f.Exchange)
			}
		}
	}
}

// Without it the test above could not fail.
func TestTheMockRefusesAWrongShape(t *testing.T) {
	address := stripeMock(t)
	for _, body := range []string{"customers=cus_1", "customer=cus_1&auto_advance=perhaps", "customer=cus_1&days_until_due=soon"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/v1/invoices", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d, %v", body, resp.StatusCode, err)
		}
	}
}
