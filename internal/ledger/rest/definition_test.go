package rest_test

import (
	"errors"
	"strings"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/rest"
	"onefold/internal/work"
)

// What is wrong with a definition is said with its line and its part when it is saved, not when an invoice is due.
func TestDefinitionErrorsNameLineAndPart(t *testing.T) {
	for name, c := range map[string]struct {
		replace []string
		says    []string
	}{
		"no text at all":           {[]string{small, "just words"}, []string{"line 1"}},
		"nothing":                  {[]string{small, "# nothing"}, []string{"line 1"}},
		"two documents":            {[]string{"search:\n", "---\nsearch:\n"}, []string{"one document"}},
		"broken text":              {[]string{"can:\n", "can: [\n"}, []string{"line"}},
		"an expression":            {[]string{".status == 201", ".status == = 201"}, []string{"line 23", "steps.create.answer.accepted", "no jq expression"}},
		"an unknown function":      {[]string{".status == 201", "lookup(.status)"}, []string{"line 23", "cannot be used"}},
		"an unknown part":          {[]string{"records: .body.list", "recrods: .body.list"}, []string{`no part "recrods"`, `"records" is missing`}},
		"a missing part":           {[]string{"  linger: 1m\n", "  misses: 2\n"}, []string{`"linger" is missing`}},
		"a method":                 {[]string{"method: POST", "method: GET"}, []string{"line 19", "POST, PUT, PATCH"}},
		"a time":                   {[]string{"linger: 1m", "linger: soon"}, []string{"line 5", "can.linger"}},
		"a secret of another name": {[]string{"secret: token", "secret: mine"}, []string{"line 3", "token, password"}},
		"a slash in a path":        {[]string{"path: [company]", "path: [my/company]"}, []string{"identity.request.path[1]", "write two parts"}},
		"dots in a path":           {[]string{"path: [company]", "path: [.., company]"}, []string{"identity.request.path[1]"}},
		"our own header":           {[]string{"path: [company]}", "path: [company], headers: {authorization: x}}"}, []string{"cannot be set here"}},
		"a reference to a part":    {[]string{"can:\n", "can: &can\n"}, []string{"line", "references inside the text"}},
		"no end of the search":     {[]string{"  one_page: true\n", ""}, []string{"how it comes to its end"}},
		"two ends of the search":   {[]string{"one_page: true", "one_page: true\n  link: .next"}, []string{"how it comes to its end"}},
		"nobody's books":           {[]string{"  login: true\n", ""}, []string{"how each answer is known"}},
		"no reference":             {[]string{"{reference: .reference, customer", "{reference: .refrence, customer"}, []string{"our reference", "nowhere"}},
		"no reference in search":   {[]string{"reference: =.reference, page", "reference: everything, page"}, []string{"search.request", "nowhere"}},
		"no customer":              {[]string{"customer: .invoice.customer_id,", ""}, []string{"the customer", "nowhere"}},
		"no amount":                {[]string{"total: (.invoice.total | decimal)", "total: 1"}, []string{"the amount", "nowhere"}},
		"no key":                   {[]string{"linger: 1m", "linger: 1m\n  keys: 24h\n  max_key: 64"}, []string{"the key", "nowhere"}},
		"a body of text":           {[]string{`body: "{reference`, `body: "\"x\" + .reference" #`}, []string{"an object or a list"}},
		"two steps of a name":      {[]string{"search:\n", "  - name: create\n    request: {method: POST, path: [x]}\n    answer: {accepted: .status == 200}\n    done: .done\nsearch:\n"}, []string{"two steps"}},
		"no read for a later step": {[]string{"search:\n", "  - name: post\n    request: {method: POST, path: [=.previous, post]}\n    answer: {accepted: .status == 200}\n    done: .done\nsearch:\n"}, []string{"read", "missing"}},
		"no sign of a later step":  {[]string{"search:\n", "  - name: post\n    request: {method: POST, path: [=.previous, post]}\n    answer: {accepted: .status == 200}\nsearch:\n"}, []string{`"done" is missing`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rest.Adapter.Connect(ledger.Connection{System: work.System{Address: "https://books.example.com", Settings: map[string]string{"definition": changed(t, c.replace...)}}})
			var field *ledger.FieldError
			if !errors.As(err, &field) || field.Field != "definition" {
				t.Fatalf("%v", err)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// JSON is YAML: the same definition may be written so.
func TestDefinitionMayBeJSON(t *testing.T) {
	const text = `{"name":"J","auth":{"none":"true"},"can":{"linger":"1m"},"identity":{"request":{"method":"GET","path":["company"]},"books":".body.company","login":"true"},
"record":{"id":".id","reference":".ref","total":".total","currency":".cur"},"steps":[{"name":"create","request":{"method":"POST","path":["i"],
"form":{"ref":"=.reference","customer":"=.invoice.customer_id","total":"=.invoice.total"}},"answer":{"accepted":".status == 200","record":".body"}}]}`
	s := connected(t, text, "https://books.example.com")
	if caps := s.Capabilities(); caps.Searchable || caps.HonoursKeys {
		t.Errorf("more is declared than was said: %+v", caps)
	}
}

// Settings are asked for by their names; what is missing or unknown is said in the field where it is typed.
func TestSettingsOfADefinition(t *testing.T) {
	definition := "settings:\n  company: {help: \"the company's id\", required: true}\n" + small
	for typed, says := range map[string]string{"": "company is missing: the company's id", "company: 42\nother: 1": `no setting "other"`, "company": "one setting in a line", "company: [1]": "must be one text"} {
		_, err := rest.Adapter.Connect(ledger.Connection{System: work.System{Address: "https://books.example.com", Settings: map[string]string{"definition": definition, "values": typed}}})
		var field *ledger.FieldError
		if !errors.As(err, &field) || field.Field != "values" || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

// A document that must stay a draft is refused where the definition has no drafts, and ends at the draft where it has.
func TestDraftsOnly(t *testing.T) {
	sys := work.System{Address: "https://books.example.com", Settings: map[string]string{"definition": small}}
	if _, err := rest.Adapter.Connect(ledger.Connection{System: sys, DraftsOnly: true}); err == nil || !strings.Contains(err.Error(), "draft") {
		t.Errorf("%v", err)
	}
	sys.Settings["definition"] = sandboxDefinition(t)
	s, err := rest.Adapter.Connect(ledger.Connection{System: sys, DraftsOnly: true})
	if err != nil || len(s.Steps()) != 1 || s.Steps()[0] != "create" {
		t.Errorf("%v: %v", s, err)
	}
}
