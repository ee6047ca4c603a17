package ledger

import (
	"strings"
	"testing"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

func amount(t *testing.T, number, code string) currency.Amount {
	t.Helper()
	a, err := currency.NewAmount(number, code)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestJudge(t *testing.T) {
	asked := work.Invoice{CustomerID: "C-1", Total: amount(t, "47.99", "EUR")}
	good := work.Record{ID: "a", Number: "N-1", Reference: "INV-1", Customer: "C-1", Total: asked.Total, State: work.StatePosted}
	with := func(change func(*work.Record)) work.Record { r := good; change(&r); return r }
	void := with(func(r *work.Record) { r.State = work.StateVoid })
	tolerant := work.Capabilities{Tolerance: 1}
	for name, c := range map[string]struct {
		records []work.Record
		caps    work.Capabilities
		want    work.Finding
		remark  string
	}{
		"nothing":                    {nil, tolerant, work.NotFound, ""},
		"the same":                   {[]work.Record{good}, tolerant, work.FoundMatching, ""},
		"a draft":                    {[]work.Record{with(func(r *work.Record) { r.State = work.StateDraft })}, tolerant, work.FoundMatching, ""},
		"on two pages":               {[]work.Record{good, good}, tolerant, work.FoundMatching, ""},
		"60 rounding":                {[]work.Record{with(func(r *work.Record) { r.Total = amount(t, "48.00", "EUR") })}, tolerant, work.FoundMatching, "0.01 rounding"},
		"60 rounding down":           {[]work.Record{with(func(r *work.Record) { r.Total = amount(t, "47.98", "EUR") })}, tolerant, work.FoundMatching, "0.01 rounding"},
		"60 no tolerance":            {[]work.Record{with(func(r *work.Record) { r.Total = amount(t, "48.00", "EUR") })}, work.Capabilities{}, work.FoundDifferent, "EUR 48.00"},
		"60 two units":               {[]work.Record{with(func(r *work.Record) { r.Total = amount(t, "48.01", "EUR") })}, tolerant, work.FoundDifferent, "EUR 48.01"},
		"a part of the unit":         {[]work.Record{with(func(r *work.Record) { r.Total = amount(t, "47.995", "EUR") })}, tolerant, work.FoundMatching, "0.005 rounding"},
		"60 off by one":              {[]work.Record{with(func(r *work.Record) { r.Total = amount(t, "48.99", "EUR") })}, tolerant, work.FoundDifferent, "EUR 48.99"},
		"58 a hundred times":         {[]work.Record{with(func(r *work.Record) { r.Total = amount(t, "4799.00", "EUR") })}, tolerant, work.FoundDifferent, "EUR 4799.00"},
		"another currency":           {[]work.Record{with(func(r *work.Record) { r.Total = amount(t, "47.99", "USD") })}, tolerant, work.FoundDifferent, "USD"},
		"another customer":           {[]work.Record{with(func(r *work.Record) { r.Customer = "C-2" })}, tolerant, work.FoundDifferent, "customer"},
		"in capitals":                {[]work.Record{with(func(r *work.Record) { r.Reference = "inv-1" })}, tolerant, work.FoundDifferent, "reference"},
		"with a blank":               {[]work.Record{with(func(r *work.Record) { r.Reference = "INV-1 " })}, tolerant, work.FoundDifferent, "reference"},
		"without reference":          {[]work.Record{with(func(r *work.Record) { r.Reference = "" })}, tolerant, work.FoundDifferent, "does not tell"},
		"without total":              {[]work.Record{with(func(r *work.Record) { r.Total = currency.Amount{} })}, tolerant, work.FoundDifferent, "does not tell"},
		"without customer":           {[]work.Record{with(func(r *work.Record) { r.Customer = "" })}, tolerant, work.FoundMatching, "does not tell the customer"},
		"without id":                 {[]work.Record{with(func(r *work.Record) { r.ID = "0" })}, tolerant, work.FoundDifferent, "no usable id"},
		"two":                        {[]work.Record{good, with(func(r *work.Record) { r.ID = "b" })}, tolerant, work.FoundSeveral, "2 records"},
		"two without ids":            {[]work.Record{with(func(r *work.Record) { r.ID = "" }), with(func(r *work.Record) { r.ID = "" })}, tolerant, work.FoundSeveral, "2 records"},
		"void":                       {[]work.Record{void}, tolerant, work.FoundVoid, "void"},
		"two void":                   {[]work.Record{void, with(func(r *work.Record) { r.ID = "b"; r.State = work.StateVoid })}, tolerant, work.FoundVoid, "void"},
		"a void one beside":          {[]work.Record{with(func(r *work.Record) { r.ID = "b"; r.State = work.StateVoid }), good}, tolerant, work.FoundMatching, "beside 1 void"},
		"66 void when read again":    {[]work.Record{good, void}, tolerant, work.FoundVoid, "void"},
		"different and a void other": {[]work.Record{with(func(r *work.Record) { r.Customer = "C-2" }), with(func(r *work.Record) { r.ID = "b"; r.State = work.StateVoid })}, tolerant, work.FoundDifferent, "customer"},
	} {
		t.Run(name, func(t *testing.T) {
			l := Judge(asked, "INV-1", Found{Searched: true, Records: c.records}, c.caps)
			if l.Finding != c.want || !strings.Contains(l.Remark, c.remark) || (c.remark == "" && l.Remark != "") {
				t.Errorf("%s (%q), want %s (%q)", l.Finding, l.Remark, c.want, c.remark)
			}
		})
	}
	if l := Judge(asked, "INV-1", Found{Records: []work.Record{good}}, tolerant); l.Finding != work.CouldNotTell {
		t.Errorf("a search that was not carried out to the end: %s", l.Finding)
	}
	if l := Judge(asked, "INV-1", Found{Deferred: true, Searched: true, RetryAfter: 7, Login: true}, tolerant); l.Finding != work.FindDeferred || l.RetryAfter != 7 || !l.Login {
		t.Errorf("deferred: %+v", l)
	}
}

func TestTrial58_YenAreNotScaled(t *testing.T) {
	asked := work.Invoice{CustomerID: "C-1", Total: amount(t, "5000", "JPY")}
	for stored, want := range map[string]work.Finding{"5000": work.FoundMatching, "5001": work.FoundMatching, "500000": work.FoundDifferent, "50": work.FoundDifferent} {
		r := work.Record{ID: "a", Reference: "INV-1", Customer: "C-1", Total: amount(t, stored, "JPY")}
		l := Judge(asked, "INV-1", Found{Searched: true, Records: []work.Record{r}}, work.Capabilities{Tolerance: 1})
		if l.Finding != want {
			t.Errorf("%s stored: %s, want %s", stored, l.Finding, want)
		}
	}
}

func TestTrial90_UnusableIDs(t *testing.T) {
	for _, id := range []string{"", " ", "0", "000", "00000000-0000-0000-0000-000000000000", "{00000000}", "null", "NULL", "None", "undefined", "nil", "NaN",
		"false", "-", "[object Object]", "a\x00b", "a\nb", "\xff", strings.Repeat("a", 201)} {
		if UsableID(id) {
			t.Errorf("%q is taken for an id", id)
		}
		a := JudgeAnswer(work.Invoice{}, "INV-1", work.Answer{Outcome: work.Accepted, Record: work.Record{ID: id}}, work.Capabilities{})
		if a.Outcome != work.Unknown || !a.Positive || a.Record.ID != "" || a.Exchange.Error == "" {
			t.Errorf("%q: %+v", id, a)
		}
	}
	for _, id := range []string{"1", "10", "inv_000001", "00000000-0000-0000-0000-000000000001", "請求書-7", "nullified", "A0"} {
		if !UsableID(id) {
			t.Errorf("%q is not taken for an id", id)
		}
	}
}

func TestJudgeAnswer(t *testing.T) {
	asked := work.Invoice{CustomerID: "C-1", Total: amount(t, "47.99", "EUR")}
	for name, c := range map[string]struct {
		record work.Record
		want   work.Match
	}{
		"id only":   {work.Record{ID: "a"}, work.MatchIDOnly},
		"same":      {work.Record{ID: "a", Reference: "INV-1", Customer: "C-1", Total: asked.Total}, work.MatchSame},
		"some":      {work.Record{ID: "a", Total: asked.Total}, work.MatchSame},
		"void":      {work.Record{ID: "a", State: work.StateVoid}, work.MatchDifferent},
		"total":     {work.Record{ID: "a", Total: amount(t, "4799.00", "EUR")}, work.MatchDifferent},
		"currency":  {work.Record{ID: "a", Total: amount(t, "47.99", "USD")}, work.MatchDifferent},
		"customer":  {work.Record{ID: "a", Customer: "c-1"}, work.MatchDifferent},
		"reference": {work.Record{ID: "a", Reference: "inv-1"}, work.MatchDifferent},
	} {
		t.Run(name, func(t *testing.T) {
			a := JudgeAnswer(asked, "INV-1", work.Answer{Outcome: work.Accepted, Record: c.record}, work.Capabilities{})
			if a.Outcome != work.Accepted || a.Match != c.want || (c.want == work.MatchDifferent) != (a.Remark != "") {
				t.Errorf("%s %s (%q), want %s", a.Outcome, a.Match, a.Remark, c.want)
			}
		})
	}
	if a := JudgeAnswer(asked, "INV-1", work.Answer{}, work.Capabilities{}); a.Outcome != work.Unknown {
		t.Errorf("an empty answer is %q", a.Outcome)
	}
	if a := JudgeAnswer(asked, "INV-1", work.Answer{Outcome: "done", Record: work.Record{ID: "a"}}, work.Capabilities{}); a.Outcome != work.Unknown {
		t.Errorf("an invented outcome is %q", a.Outcome)
	}
	if a := JudgeAnswer(asked, "INV-1", work.Answer{Outcome: work.AlreadyExists, Record: work.Record{ID: "null"}}, work.Capabilities{}); a.Outcome != work.AlreadyExists || a.Record.ID != "" {
		t.Errorf("already there without id: %+v", a)
	}
}
