package web

import (
	"html"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/rest"
	"onefold/internal/ledger/sandbox"
)

// sandboxDefinition is the example of the documents: how the sandbox is spoken to.
func sandboxDefinition(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../ledger/rest/testdata/sandbox.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var textPattern = regexp.MustCompile(`(?s)<textarea[^>]*name="([^"]*)"[^>]*>(.*?)</textarea>`)

// typedText is what stands in a field of many lines.
func (a answer) typedText(name string) string {
	for _, m := range textPattern.FindAllStringSubmatch(a.body, -1) {
		if m[1] == name {
			return strings.TrimPrefix(html.UnescapeString(m[2]), "\n")
		}
	}
	return ""
}

// An admin writes a definition, sees what is wrong with it by line, tries it out, and connects. No secret is ever shown.
func TestDefinitionIsWrittenTriedOutAndConnected(t *testing.T) {
	e := newEmptySite(t)
	e.con.Adapters = []ledger.Adapter{sandbox.Adapter, rest.Adapter}
	b := e.signIn("admin")
	all := &strings.Builder{}
	note := func(a answer) answer { all.WriteString(a.body); return a }
	fill := func(form answer, fields ...string) answer {
		if text := form.typedText("set.definition"); text != "" {
			fields = append([]string{"set.definition", text}, fields...)
		}
		return note(b.post("/systems/new", form.filled("/systems/new", fields...)))
	}
	form := note(b.get("/systems/new?kind=rest"))
	definition := sandboxDefinition(t)
	broken := strings.Replace(definition, "method: GET", "method: FETCH", 1)
	page := fill(form, "name", "Own books", "address", e.url+"/search", "set.definition", broken, "secret.token", booksToken, "do", "test")
	if page.status != http.StatusUnprocessableEntity || !strings.Contains(page.visible(), "line ") || !strings.Contains(page.visible(), "FETCH") {
		t.Fatalf("%d %s", page.status, page.visible())
	}
	if page.typedText("set.definition") != broken {
		t.Errorf("what was typed became %q", page.typedText("set.definition"))
	}
	page = fill(page, "set.definition", definition, "do", "tryout")
	if page.status != http.StatusUnprocessableEntity || !strings.Contains(page.visible(), "Type a reference to search for.") {
		t.Fatalf("%d %s", page.status, page.visible())
	}
	page = fill(page, "tryout.reference", "NOT-THERE", "do", "tryout")
	for _, want := range []string{"The search was carried out to its end. No record has this reference.", "search.records", "identity.books"} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("the try-out does not show %q:\n%s", want, page.visible())
		}
	}
	if !strings.Contains(page.body, "GET /search/api/invoices?page=1&amp;reference=NOT-THERE") {
		t.Error("the try-out does not show what was asked")
	}
	if len(e.outside.Log()) != 0 {
		t.Error("a try-out wrote")
	}
	page = fill(page, "do", "save")
	if page.status != http.StatusSeeOther {
		t.Fatalf("%d %s", page.status, page.visible())
	}
	edit := note(b.get("/systems/own-books/edit"))
	if got := edit.typedText("set.definition"); got != strings.TrimSpace(definition) {
		t.Errorf("the definition became %q", got)
	}
	if strings.Contains(all.String(), booksToken) {
		t.Error("a page shows the token")
	}
}

// A preset fills an empty definition, and what was typed is never replaced.
func TestPresetFillsOnlyAnEmptyDefinition(t *testing.T) {
	e := newEmptySite(t)
	e.con.Adapters = []ledger.Adapter{rest.Adapter}
	b := e.signIn("admin")
	form := b.get("/systems/new?kind=rest")
	page := b.post("/systems/new", form.filled("/systems/new", "name", "Ninja", "address", e.url, "set.preset", "invoice-ninja", "secret.token", booksToken, "do", "test"))
	if got := page.typedText("set.definition"); !strings.Contains(got, "name: Invoice Ninja") {
		t.Fatalf("the definition is %q", got)
	}
	if !strings.Contains(page.visible(), "currency is missing") {
		t.Errorf("nothing is said of the setting that is missing: %s", page.visible())
	}
	page = b.post("/systems/new", page.filled("/systems/new", "set.definition", "name: Mine", "do", "test"))
	if got := page.typedText("set.definition"); strings.TrimSpace(got) != "name: Mine" {
		t.Errorf("the definition became %q", got)
	}
}

// Only admins may try out.
func TestTryOutIsForAdmins(t *testing.T) {
	e := newEmptySite(t)
	e.con.Adapters = []ledger.Adapter{rest.Adapter}
	b := e.signIn("ada")
	if a := b.post("/systems/new", b.get("/").filled("/systems/new", "kind", "rest", "do", "tryout", "tryout.reference", "X")); a.status != http.StatusForbidden {
		t.Errorf("%d", a.status)
	}
}
