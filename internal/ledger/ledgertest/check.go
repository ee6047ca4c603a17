package ledgertest

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// checkAnswer holds an answer against what really happened: effects of this one request, and requests that arrived.
func checkAnswer(t *testing.T, a work.Answer, effects, writes int) {
	t.Helper()
	if effects > 0 && a.Outcome.SettlesAbsent() {
		t.Errorf("%s, but the request took effect", a.Outcome)
	}
	if effects == 0 && a.Outcome == work.Accepted {
		t.Error("accepted, but nothing took effect")
	}
	if effects > 1 {
		t.Errorf("one request took effect %d times", effects)
	}
	if writes > 1 {
		t.Errorf("one Send made %d writing requests", writes)
	}
	if writes == 0 && a.Outcome != work.NotSent && a.Outcome != work.Unknown {
		t.Errorf("%s, but no request arrived", a.Outcome)
	}
	if a.Outcome == work.NotSent && writes != 0 {
		t.Error("not sent, but a request arrived")
	}
	if a.Outcome == work.Accepted && !ledger.UsableID(a.Record.ID) {
		t.Errorf("accepted with the id %q", a.Record.ID)
	}
	if a.Outcome != work.Accepted && a.Exchange.Error == "" {
		t.Errorf("%s without a sentence for staff", a.Outcome)
	}
	checkExchange(t, a.Exchange)
}

// checkFinding holds a finding against what is there.
func checkFinding(t *testing.T, l work.Lookup, effects int) {
	t.Helper()
	if effects > 0 && l.Finding == work.NotFound {
		t.Errorf("not found, but it is there: %+v", l)
	}
	if effects == 0 && l.Finding.Found() {
		t.Errorf("%s, but nothing is there", l.Finding)
	}
	if l.Finding == work.CouldNotTell && l.Exchange.Error == "" {
		t.Error("could not tell, without a sentence for staff")
	}
	checkExchange(t, l.Exchange)
}

func checkExchange(t *testing.T, x work.Exchange) {
	t.Helper()
	for name, text := range map[string]string{"error": x.Error, "request": x.Request, "response": x.Response} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Errorf("the %s cannot be stored everywhere", name)
		}
		if len(text) > ledger.MaxExcerpt {
			t.Errorf("the %s has %d bytes", name, len(text))
		}
		for _, secret := range []string{Secret, "not-to-be-shown"} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s shows a secret: %s", name, text)
			}
		}
	}
	if utf8.RuneCountInString(x.Error) > ledger.MaxSentence || strings.ContainsAny(x.Error, "<>\n") {
		t.Errorf("no sentence for staff: %q", x.Error)
	}
}

// Secret must be the credential of every adapter under test; it may appear nowhere.
const Secret = "Onefold-Test-Secret-8471"

func checkOutcome(t *testing.T, a work.Answer, allowed ...work.Outcome) {
	t.Helper()
	if !slices.Contains(allowed, a.Outcome) {
		t.Errorf("outcome %s, allowed are %v: %s", a.Outcome, allowed, a.Exchange.Error)
	}
}
