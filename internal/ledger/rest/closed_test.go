package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

const good = `{"id":"r1","reference":"INV-1","customer":"C-1","total":47.99,"currency":"EUR"}`

// A definition cannot make a meaning out of a server error, a web page, a redirect or rubble.
func TestNothingMakesAnUnreadableAnswerKnown(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"500":           says(500, "application/json", good),
		"500 page":      says(500, "text/html", "<html>"),
		"502":           says(502, "application/json", `{"reason":"rolled back"}`),
		"503":           says(503, "application/json", `{}`),
		"page":          says(200, "text/html", "<html>all is well</html>"),
		"hidden page":   says(201, "application/json", "<!DOCTYPE html><html>"),
		"redirect":      says(302, "application/json", good),
		"timeout":       says(408, "application/json", good),
		"half":          says(201, "application/json", good[:20]),
		"two documents": says(201, "application/json", good+good),
		"nothing":       says(200, "application/json", ""),
		"refusing page": says(422, "text/html", "<html>blocked</html>"),
		"refusing XML":  says(422, "application/xml", "<error/>"),
		"a list":        says(200, "application/json", "["+good+"]"),
		"a text":        says(200, "application/json", `"done"`),
	}
	for _, verdict := range []string{"accepted", "rejected", "duplicate", "in_progress", "wait", "login"} {
		replace := []string{"accepted: .status == 201", "accepted: \"false\"", "      rejected: .status == 422\n", ""}
		if verdict == "accepted" {
			replace[1] = `accepted: "true"`
		} else {
			replace[1] += "\n      " + verdict + `: "true"`
		}
		definition := changed(t, replace...)
		for name, h := range answers {
			t.Run(verdict+"/"+name, func(t *testing.T) {
				a := send(t, connected(t, definition, served(t, h).URL), "INV-1", invoice(t, "47.99", "EUR"))
				if a.Outcome != work.Unknown {
					t.Errorf("%s: %s", a.Outcome, a.Exchange.Error)
				}
			})
		}
	}
	absent := changed(t, "done: .status == 200", `done: "true"`, "records: .body.list", `records: "[]"`)
	for name, h := range answers {
		t.Run("absent/"+name, func(t *testing.T) {
			if l := find(t, connected(t, absent, served(t, h).URL), "INV-1", invoice(t, "47.99", "EUR")); l.Finding != work.CouldNotTell && l.Finding != work.FindDeferred {
				t.Errorf("%s: %+v", l.Finding, l)
			}
		})
	}
}

// Whatever an expression cannot say for sure is unknown.
func TestExpressionsFailClosed(t *testing.T) {
	bad := map[string]string{
		"an error": `error(\"x\")`, "no value": "empty", "several values": "true, false", "a number": "1", "null": "null", "a text": `\"true\"`, "a missing part": ".body.no.such",
		"without end": "last(repeat(1))", "too large": `\"x\" * 300000`, "a halt": "halt",
	}
	for name, e := range bad {
		for part, replace := range map[string][]string{
			"accepted": {"accepted: .status == 201", `accepted: "` + e + `"`},
			"rejected": {"rejected: .status == 422", `rejected: "` + e + `"`},
			"record":   {"      record: .body\n", "      record: \"" + e + "\"\n"},
			"total":    {"total: .total", `total: "` + e + `"`},
			"currency": {"currency: .currency", `currency: "` + e + `"`},
			"id":       {"  id: .id", `  id: "` + e + `"`},
		} {
			if part == "total" && name == "a number" {
				continue // it is one
			}
			t.Run(name+"/"+part, func(t *testing.T) {
				t.Parallel()
				s := connected(t, changed(t, replace...), served(t, says(201, "application/json", good)).URL)
				a := send(t, s, "INV-1", invoice(t, "47.99", "EUR"))
				if a.Outcome != work.Unknown {
					t.Errorf("%s: %s", a.Outcome, a.Exchange.Error)
				}
			})
		}
		for part, replace := range map[string][]string{
			"done":      {"done: .status == 200", `done: "` + e + `"`},
			"records":   {"records: .body.list", `records: "` + e + `"`},
			"last":      {"  one_page: true", "  last: \"" + e + "\"\n  next: .page + 1"},
			"next":      {"  one_page: true", "  last: \"false\"\n  next: \"" + e + "\""},
			"reference": {"reference: .reference", `reference: "` + e + `"`},
			"books":     {"books: .body.company", `books: "` + e + `"`},
		} {
			if part == "books" && name == "a text" {
				continue // it is one
			}
			t.Run(name+"/search/"+part, func(t *testing.T) {
				t.Parallel()
				s := connected(t, changed(t, replace...), served(t, says(200, "application/json", `{"list":[`+good+`]}`)).URL)
				if l := find(t, s, "INV-1", invoice(t, "47.99", "EUR")); l.Finding == work.NotFound || l.Finding == work.FoundMatching {
					t.Errorf("%s", l.Finding)
				}
			})
		}
	}
}

// An answer that is two things at once, or none, is unknown; so is a refusal with a record in it, and a success without 2xx.
func TestContradictionsAreUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		replace []string
		status  int
		body    string
	}{
		"both":                {[]string{"rejected: .status == 422", `rejected: "true"`}, 201, good},
		"neither":             {nil, 202, good},
		"a record in a no":    {[]string{"rejected: .status == 422", "rejected: .status == 200"}, 200, good},
		"accepted with a 404": {[]string{"accepted: .status == 201", "accepted: .status == 404"}, 404, good},
		"a number for an id":  {nil, 201, strings.Replace(good, `"r1"`, "17", 1)},
		"no total":            {nil, 201, strings.Replace(good, `"total":47.99,`, "", 1)},
		"a total of letters":  {nil, 201, strings.Replace(good, "47.99", `"4x"`, 1)},
		"a total as 4.799e1":  {nil, 201, strings.Replace(good, "47.99", "4.799e1", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			s := connected(t, changed(t, c.replace...), served(t, says(c.status, "application/json", c.body)).URL)
			if a := send(t, s, "INV-1", invoice(t, "47.99", "EUR")); a.Outcome != work.Unknown {
				t.Errorf("%s: %s", a.Outcome, a.Exchange.Error)
			}
		})
	}
}

// A page of a search that points elsewhere is not followed: the credentials would go with it.
func TestNextPageNeverLeavesTheAddress(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		w.Write([]byte(`{"list":[]}`)) //nolint:errcheck,gosec // a test
	}))
	t.Cleanup(other.Close)
	definition := changed(t, "one_page: true", "link: .body.next")
	for name, next := range map[string]string{"another host": other.URL + "/invoices?page=2", "a login in it": "http://u:p@HOST/books/invoices", "above the address": "/invoices?page=2",
		"up and away": "/books/../invoices", "another scheme": "ftp://HOST/books/invoices", "the same page": "http://HOST/books/invoices?reference=INV-1&page=1", "a number": "\x00"} {
		t.Run(name, func(t *testing.T) {
			var s *httptest.Server
			s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/books/company":
					w.Write([]byte(`{"company":"acme"}`)) //nolint:errcheck,gosec // a test
				case !strings.HasPrefix(r.URL.Path, "/books/"):
					elsewhere.Add(1)
				case next == "\x00":
					w.Write([]byte(`{"list":[],"next":2}`)) //nolint:errcheck,gosec // a test
				default:
					w.Write([]byte(`{"list":[],"next":"` + strings.Replace(next, "HOST", strings.TrimPrefix(s.URL, "http://"), 1) + `"}`)) //nolint:errcheck,gosec // a test
				}
			}))
			t.Cleanup(s.Close)
			if l := find(t, connected(t, definition, s.URL+"/books"), "INV-1", invoice(t, "47.99", "EUR")); l.Finding != work.CouldNotTell {
				t.Errorf("%s", l.Finding)
			}
			if elsewhere.Load() != 0 {
				t.Error("a request went elsewhere")
			}
		})
	}
}

// Expressions see no secret, no environment and no file, and no answer of the login.
func TestExpressionsSeeNoSecrets(t *testing.T) {
	t.Setenv("ONEFOLD_PROBE", "seen")
	for _, e := range []string{"$__prog_args", "input", "inputs", "input_filename", `import \"a\" as a; .`, "get_search_list", "$ENV.ONEFOLD_PROBE + null", "env.ONEFOLD_PROBE"} {
		definition := changed(t, "books: .body.company", `books: "`+e+`"`)
		if strings.Contains(e, "ENV") || strings.Contains(e, "env") {
			s := connected(t, definition, served(t, says(200, "application/json", "{}")).URL)
			if id, err := s.Identity(t.Context()); err == nil || strings.Contains(id, "seen") {
				t.Errorf("%s: %q", e, id)
			}
			continue
		}
		refusedOrFails(t, e, definition)
	}
	var body string
	srv := served(t, func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 1<<16)
		n, _ := r.Body.Read(b)
		body = string(b[:n])
		says(201, "application/json", good)(w, r)
	})
	s := connected(t, changed(t, "{reference: .reference,", "{everything: ([., $settings] | tostring), reference: .reference,"), srv.URL)
	send(t, s, "INV-1", invoice(t, "47.99", "EUR"))
	if !strings.Contains(body, "everything") || strings.Contains(body, ledgertest.Secret) {
		t.Errorf("the body is %s", body)
	}
}
