package work_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

func TestCleanKey(t *testing.T) {
	for in, want := range map[string]string{
		"  INV-1 ":                     "INV-1",
		"INV \t 1\n2":                  "INV 1 2",
		"Mu\u0308ller\u00a02026":       "Müller 2026",
		"請求書-11":                       "請求書-11",
		strings.Repeat("ä", 200):       strings.Repeat("ä", 200),
		"a" + strings.Repeat(" ", 500): "a",
	} {
		if got, err := work.CleanKey(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	for name, in := range map[string]string{"empty": "", "only spaces": " \t ", "too long": strings.Repeat("x", 201), "zero byte": "INV\x001",
		"control": "INV\x1b1", "zero-width space": "INV\u200b1", "direction mark": "INV\u202e1", "byte order mark": "\ufeffINV", "not UTF-8": "INV\xff"} {
		if got, err := work.CleanKey(in); !errors.Is(err, work.ErrKey) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// TestSameKeys: what people take for the same key is the same key (trials 40 and 41).
func TestSameKeys(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Müller-11", "Mu\u0308ller-11", true}, // trial 40: composed and decomposed
		{"inv-1", "INV-1", true},               // trial 41
		{"STRASSE", "straße", true},
		{" INV  1 ", "INV 1", true},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", true},
		{"Ꭰ-1", "ꭰ-1", true},
		{"KUNDE-Ä-2025-01", "KUNDE-A-2025-01", false}, // trial 40
		{"INV-1", "INV-2", false},
		{"INV-1", "INV1", false},
		{"INV-01", "INV-1", false},
		{"Ä", "A", false},
	} {
		if same := work.FoldKey(c.a) == work.FoldKey(c.b); same != c.same {
			t.Errorf("%q and %q: same is %t", c.a, c.b, same)
		}
	}
}

func TestFoldingIsStable(t *testing.T) {
	checkMany(t, 5000, 1, func(t *rapid.T) {
		s := rapid.String().Draw(t, "key")
		folded := work.FoldKey(s)
		if work.FoldKey(folded) != folded {
			t.Fatalf("%q folds to %q and that to %q", s, folded, work.FoldKey(folded))
		}
		if clean, err := work.CleanKey(s); err == nil {
			if work.FoldKey(clean) != folded {
				t.Fatalf("cleaning %q to %q changes what it folds to", s, clean)
			}
			if again, err := work.CleanKey(clean); err != nil || again != clean {
				t.Fatalf("%q is cleaned to %q and that to %q, %v", s, clean, again, err)
			}
		}
	})
}

var plainText = regexp.MustCompile(`^[A-Z0-9-]+$`)

// TestReferencesFit: for every limit a reference fits the system, two keys never share one, and one key always has the
// same (trial 42).
func TestReferencesFit(t *testing.T) {
	for limit := 14; limit <= 60; limit++ {
		for _, plain := range []bool{false, true} {
			c := work.Capabilities{MaxReference: limit, PlainReference: plain}
			owner := map[string]string{}
			for i := range 60 {
				long := fmt.Sprintf("Rechnung für Müller & Söhne, Auftrag 2026-11-%d", i)
				for _, key := range []string{fmt.Sprintf("INV-%d", i), long, long + "x", strings.Repeat("長", 30) + fmt.Sprint(i), fmt.Sprintf("%d", 1000+i), fmt.Sprintf("inv %d", i)} {
					ref := reference(t, "", key, c)
					if n := utf8.RuneCountInString(ref); n > limit || n == 0 {
						t.Fatalf("limit %d: %q for %q has %d characters", limit, ref, key, n)
					}
					if plain && !plainText.MatchString(ref) {
						t.Fatalf("%q for %q is not plain", ref, key)
					}
					if strings.Trim(ref, "0123456789") == "" {
						t.Fatalf("%q for %q looks like a row id", ref, key)
					}
					if strings.ToUpper(strings.TrimSpace(ref)) != ref && plain {
						t.Fatalf("%q does not survive trimming and upper-casing", ref)
					}
					if other, taken := owner[ref]; taken && other != key {
						t.Fatalf("limit %d: %q and %q share the reference %q", limit, other, key, ref)
					}
					owner[ref] = key
					if reference(t, "", key, c) != ref {
						t.Fatalf("%q has two references", key)
					}
				}
			}
		}
	}
	if _, err := work.Reference("", strings.Repeat("x", 30), work.Capabilities{MaxReference: 13}); !errors.Is(err, work.ErrKey) {
		t.Errorf("a limit too short for a hash gives %v", err)
	}
	limited := work.Capabilities{MaxReference: 20} // trial 42
	if a, b := reference(t, "", "SUBSCRIPTION-2025-000001", limited), reference(t, "", "SUBSCRIPTION-2025-000002", limited); a == b || !strings.HasPrefix(a, "SUBSCR") {
		t.Errorf("short forms %q and %q", a, b)
	}
	if ref := reference(t, "", "INV-2026-11-ACME", work.Capabilities{MaxReference: 21}); ref != "INV-2026-11-ACME" {
		t.Errorf("a key that fits is not the reference: %q", ref)
	}
	if ref := reference(t, "TEST-", "INV-1", work.Capabilities{}); ref != "TEST-INV-1" {
		t.Errorf("with a prefix: %q", ref)
	}
}

// TestNothingIsCut: keys that begin alike, however long, differ in reference and key.
func TestNothingIsCut(t *testing.T) {
	checkMany(t, 3000, 1, func(t *rapid.T) {
		c := work.Capabilities{MaxReference: rapid.IntRange(14, 60).Draw(t, "limit"), MaxKey: rapid.IntRange(18, 64).Draw(t, "key limit"),
			PlainReference: rapid.Bool().Draw(t, "plain")}
		head := rapid.StringMatching(`[A-Za-z0-9ÄÖéß -]{0,60}`).Draw(t, "head")
		a := head + rapid.StringMatching(`[A-Za-z0-9]{1,8}`).Draw(t, "a")
		b := head + rapid.StringMatching(`[A-Za-z0-9]{1,8}`).Draw(t, "b")
		if work.FoldKey(a) == work.FoldKey(b) {
			return
		}
		if ra, rb := reference(t, "", a, c), reference(t, "", b, c); strings.EqualFold(ra, rb) {
			t.Fatalf("%q and %q share the reference %q", a, b, ra)
		}
		ka, kb := idempotencyKey(t, a, "create", c), idempotencyKey(t, b, "create", c)
		if ka == kb {
			t.Fatalf("%q and %q share the key %q", a, b, ka)
		}
		for _, revision := range []int{1, 2, 99} {
			if k := work.RevisionKey(ka, revision); len(k) > c.MaxKey || !plainText.MatchString(k) {
				t.Fatalf("key %q is too long for %d or not plain", k, c.MaxKey)
			}
		}
	})
}

// TestKeysComeFromTheEvent: spelling, time, field order and who asks change nothing; step, automation and company do
// (trials 81 and 85).
func TestKeysComeFromTheEvent(t *testing.T) {
	c := work.Capabilities{MaxKey: 50}
	n := work.New{CompanyID: 1, Automation: "monthly", BusinessKey: "INV-1", SystemID: "books", Steps: []string{"create", "post"},
		Invoice: work.Invoice{CustomerID: "C1", Total: mustAmount("100", "EUR")}, By: anna}
	first, err := work.NewItem(n, c, noon)
	if err != nil {
		t.Fatal(err)
	}
	n.By, n.Source, n.BusinessKey = bert, "import:7", " inv-1 "
	second, err := work.NewItem(n, c, noon.Add(time.Hour))
	if err != nil || second.Key != first.Key {
		t.Errorf("another time, source or spelling gives another key: %q, %q, %v", first.Key, second.Key, err)
	}
	seen := map[string]bool{first.Key: true}
	for _, k := range []string{idempotencyKey(t, "INV-1", "post", c), idempotencyKey(t, "INV-2", "create", c)} {
		if seen[k] {
			t.Errorf("key %q twice", k)
		}
		seen[k] = true
	}
	for _, other := range []struct {
		company    int64
		automation string
	}{{2, "monthly"}, {1, "orders"}} {
		k, err := work.Key(other.company, other.automation, "INV-1", "create", c)
		if err != nil || seen[k] {
			t.Errorf("company %d, automation %s: key %q, %v", other.company, other.automation, k, err)
		}
	}
	if work.RevisionKey(first.Key, 1) != first.Key || work.RevisionKey(first.Key, 2) == first.Key {
		t.Error("the first revision has the plain key, the next ones a suffix")
	}
	// Values as stored by earlier versions: they must never change.
	for key, want := range map[string]string{"INV-1": "MONTHLY-INV-1-CREATE-U4ULV5LATOVDL"} {
		if got := idempotencyKey(t, key, "create", work.Capabilities{}); got != want {
			t.Errorf("the key of %s became %s, was %s", key, got, want)
		}
	}
}

// TestFingerprintIsStable (trial 85): the same facts in any order of fields and with any zeros have one fingerprint;
// every field counts.
func TestFingerprintIsStable(t *testing.T) {
	base := `{"customer_id":"C1","total":{"number":"100.00","currency":"EUR"},"issue_date":"2026-11-30","lines":[{"description":"a","quantity":"1","unit_price":"100.00"}]}`
	for _, same := range []string{
		`{"lines":[{"unit_price":"100.00","quantity":"1","description":"a"}],"issue_date":"2026-11-30","total":{"currency":"EUR","number":"100.00"},"customer_id":"C1"}`,
		`{"customer_id":"C1","total":{"number":"100","currency":"EUR"},"issue_date":"2026-11-30","lines":[{"description":"a","quantity":"1","unit_price":"100.00"}]}`,
	} {
		if fingerprint(t, base) != fingerprint(t, same) {
			t.Errorf("another fingerprint for %s", same)
		}
	}
	seen := map[string]string{fingerprint(t, base): base}
	for _, change := range [][2]string{{`"C1"`, `"C2"`}, {`100.00","currency`, `100.01","currency`}, {"EUR", "USD"}, {"2026-11-30", "2026-12-01"},
		{`"a"`, `"b"`}, {`"quantity":"1"`, `"quantity":"2"`}, {`"unit_price":"100.00"`, `"unit_price":"50.00"`}, {`"customer_id"`, `"note":"x","customer_id"`},
		{`"customer_id"`, `"due_date":"2026-12-31","customer_id"`}} {
		other := strings.Replace(base, change[0], change[1], 1)
		print := fingerprint(t, other)
		if before, taken := seen[print]; taken {
			t.Errorf("%s and %s have one fingerprint", before, other)
		}
		seen[print] = other
	}
	// Where one field ends and the next begins counts.
	a := work.Invoice{CustomerID: "C", CustomerName: "1X", Total: mustAmount("1", "EUR")}
	b := work.Invoice{CustomerID: "C1", CustomerName: "X", Total: mustAmount("1", "EUR")}
	if a.Fingerprint() == b.Fingerprint() {
		t.Error("fields run into each other")
	}
}

func fingerprint(t *testing.T, text string) string {
	t.Helper()
	var v work.Invoice
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	var again work.Invoice
	if err := json.Unmarshal(v.JSON(), &again); err != nil || again.Fingerprint() != v.Fingerprint() {
		t.Fatalf("storing changes the fingerprint of %s: %v", text, err)
	}
	return v.Fingerprint()
}

// fataler is what *testing.T and *rapid.T have in common here.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func reference(t fataler, prefix, key string, c work.Capabilities) string {
	t.Helper()
	ref, err := work.Reference(prefix, key, c)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func idempotencyKey(t fataler, key, step string, c work.Capabilities) string {
	t.Helper()
	k, err := work.Key(1, "monthly", key, step, c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
