package ledgertest

import (
	"slices"
	"strings"
	"testing"

	"onefold/internal/work"
)

// findCase is one fault met by a lookup of a record that is there.
type findCase struct {
	name    string
	fault   Fault
	allowed []work.Finding
	setup   Setup
	bounded bool
}

var blind = []work.Finding{work.CouldNotTell}

var findCases = []findCase{
	{name: "LineBreaks", fault: "drop_before", allowed: blind},
	{name: "Trial13_ErrorCodeUnder200", fault: "search_error", allowed: blind},
	{name: "Trial14_Forbidden", fault: "search_forbidden", allowed: blind},
	{name: "Error", fault: "error_before", allowed: blind},
	{name: "Trial13_Unavailable", fault: "unavailable", allowed: []work.Finding{work.CouldNotTell, work.FindDeferred}},
	{name: "LoginRefused", fault: "login", allowed: []work.Finding{work.FindDeferred, work.CouldNotTell}},
	{name: "Trial97_AskedToWait", fault: "wait:120", allowed: []work.Finding{work.FindDeferred}},
	{name: "Trial96_GatewayPage", fault: "gateway_page", allowed: blind},
	{name: "Trial87_Page", fault: "page_before", allowed: blind},
	{name: "NothingAsAnAnswer", fault: "empty_before", allowed: blind},
	{name: "HalfAnAnswer", fault: "garbage", allowed: blind},
	{name: "CutInTheAnswer", fault: "cut_answer", allowed: blind},
	{name: "RightAnswerUnderAnotherType", fault: "wrong_type", allowed: []work.Finding{work.FoundMatching}},
	{name: "Redirect301", fault: "redirect_301", allowed: blind},
	{name: "Redirect302", fault: "redirect_302", allowed: blind},
	{name: "Redirect308", fault: "redirect_308", allowed: blind},
	{name: "Trial95_OneByteAtATime", fault: "drip", allowed: blind, setup: Setup{Timeout: briefly}},
	{name: "Trial95_HeadersOneByteAtATime", fault: "drip_headers", allowed: blind, setup: Setup{Timeout: briefly}},
	{name: "Trial94_AnswerWithoutEnd", fault: "endless", allowed: blind, bounded: true},
	{name: "Trial94_UnpacksWithoutEnd", fault: "huge_gzip", allowed: blind, bounded: true},
	{name: "LaterPageFails", fault: "search_broken_page", allowed: blind},
}

// afterwardsCases are faults met by the create: what a healthy lookup must say of the record then.
var afterwardsCases = []struct {
	name      string
	fault     Fault
	reference string
	allowed   []work.Finding
}{
	{"FoundVoid", "voided", "INV-1", []work.Finding{work.FoundVoid}},
	{"Trial66_DeletedButStillInTheSearch", "deleted", "INV-1", []work.Finding{work.FoundVoid}},
	{"ReferenceTrimmed", "trim_reference", "INV-1 ", []work.Finding{work.FoundDifferent, work.CouldNotTell}},
	{"ReferenceInCapitals", "upper_reference", "inv-1", []work.Finding{work.FoundDifferent, work.CouldNotTell}},
	{"Trial58_HundredTimesTheTotal", "total_times_100", "INV-1", []work.Finding{work.FoundDifferent}},
	{"Trial60_OneMore", "total_plus_one", "INV-1", []work.Finding{work.FoundDifferent}},
	{"AnotherCustomer", "other_customer", "INV-1", []work.Finding{work.FoundDifferent}},
}

func testFinds(t *testing.T, target Target) {
	if !newBench(t, target, Setup{}).sys.Capabilities().Searchable {
		t.Skip("cannot be searched")
	}
	there := target.once(t, func(b *bench, step string) { // a lookup changes nothing
		b.reach(step, "INV-1")
		b.issue(step, "INV-1")
	})
	for _, c := range findCases {
		t.Run(c.name, func(t *testing.T) {
			if c.setup.Timeout > 0 {
				t.Parallel() // it only waits
			}
			for _, step := range newBench(t, target, Setup{}).steps {
				t.Run(step, func(t *testing.T) { runFind(t, target, c, step, there[step]) })
			}
		})
	}
	for _, c := range afterwardsCases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, target, Setup{})
			b.misbehave(work.Send, c.fault)
			b.send(b.steps[0], c.reference)
			b.out.Misbehave(work.Send, NoFault)
			b.out.Advance(b.sys.Capabilities().SearchLag)
			l := b.find(b.steps[0], c.reference)
			checkFinding(t, l, b.out.Effects(b.steps[0], c.reference))
			if !slices.Contains(c.allowed, l.Finding) || l.Remark == "" {
				t.Errorf("%s (%s), allowed are %v", l.Finding, l.Remark, c.allowed)
			}
		})
	}
	t.Run("Trial64_NotYetFindable", func(t *testing.T) { testLag(t, target) })
	t.Run("SearchSilentlySeesNothing", func(t *testing.T) { testSilent(t, target) })
	t.Run("OtherBooksAnswer", func(t *testing.T) { testOtherBooks(t, target) })
	t.Run("SeveralOverManyPages", func(t *testing.T) { testPages(t, target) })
	t.Run("LaterStepIsNotThereYet", func(t *testing.T) { testLaterStep(t, target) })
}

// runFind looks for what is there, or makes it.
func runFind(t *testing.T, target Target, c findCase, step string, there *bench) {
	b := newBench(t, target, c.setup)
	if there != nil {
		b.sameAs(there)
	} else {
		b.reach(step, "INV-1")
		b.issue(step, "INV-1")
	}
	b.out.Advance(b.sys.Capabilities().SearchLag)
	b.misbehave(work.Find, c.fault)
	writes := len(b.out.Writes())
	_, before := b.out.Traffic()
	l := b.find(step, "INV-1")
	_, after := b.out.Traffic()
	b.out.Misbehave(work.Find, NoFault)
	checkFinding(t, l, 1)
	if !slices.Contains(c.allowed, l.Finding) && (!target.cautious(c.name) || l.Finding != work.CouldNotTell) {
		t.Errorf("%s, allowed are %v: %s", l.Finding, c.allowed, l.Exchange.Error)
	}
	if c.bounded && after-before > mostBytes {
		t.Errorf("%d bytes were taken in", after-before)
	}
	if n := len(b.out.Writes()); n != writes {
		t.Error("a lookup wrote")
	}
	b.out.Wait()
	if n := b.out.Effects(step, "INV-1"); n != 1 {
		t.Errorf("%d effects after a lookup", n)
	}
}

// testLag: a miss is allowed only within the lag that the adapter declares.
func testLag(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	step := b.steps[0]
	b.issue(step, "INV-1")
	lag := b.sys.Capabilities().SearchLag
	if l := b.find(step, "INV-1"); lag == 0 && l.Finding != work.FoundMatching {
		t.Errorf("no lag is declared, but a new record is %s", l.Finding)
	}
	b.out.Advance(lag)
	if l := b.find(step, "INV-1"); l.Finding != work.FoundMatching {
		t.Errorf("after the lag: %s", l.Finding)
	}
}

// testSilent: an adapter cannot notice this by itself, but a control lookup of a known record must.
func testSilent(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	step := b.steps[0]
	b.issue(step, "KNOWN-1")
	b.out.Advance(b.sys.Capabilities().SearchLag)
	b.misbehave(work.Find, "search_empty")
	if l := b.find(step, "KNOWN-1"); l.Finding.Found() {
		t.Errorf("the control lookup goes another way than the search: %s", l.Finding)
	}
}

func testOtherBooks(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	b.issue(b.steps[0], "INV-1")
	b.out.Advance(b.sys.Capabilities().SearchLag)
	b.misbehave(work.Find, "other_books")
	l := b.find(b.steps[0], "INV-1")
	if l.Finding.Found() {
		t.Errorf("%s in books that do not hold it", l.Finding)
	}
	if l.Finding == work.NotFound && !strings.Contains(l.Exchange.Identity, "somebody-else") {
		t.Errorf("a miss in other books that are not named: %q", l.Exchange.Identity)
	}
}

func testPages(t *testing.T, target Target) {
	b := newBench(t, target, Setup{PageSize: 2})
	caps := b.sys.Capabilities()
	if caps.UniqueReferences || caps.HonoursKeys || !target.Lists {
		t.Skip("this system cannot hold two records with one reference")
	}
	for range 7 {
		b.send(b.steps[0], "INV-1")
	}
	b.out.Advance(caps.SearchLag)
	if l := b.find(b.steps[0], "INV-1"); l.Finding != work.FoundSeveral || l.Count != 7 {
		t.Errorf("%s, %d records of 7", l.Finding, l.Count)
	}
	b.out.Misbehave(work.Find, "search_broken_page")
	checkFinding(t, b.find(b.steps[0], "INV-1"), 7)
}

// testLaterStep: the record of the step before is there, the later step's effect is not.
func testLaterStep(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	for _, step := range b.steps[1:] {
		b.reach(step, "INV-1")
		b.out.Advance(b.sys.Capabilities().SearchLag)
		if l := b.find(step, "INV-1"); l.Finding != work.NotFound {
			t.Errorf("%s was not done, but is %s", step, l.Finding)
		}
		b.issue(step, "INV-1")
		if l := b.find(step, "INV-1"); l.Finding != work.FoundMatching {
			t.Errorf("%s was done, but is %s", step, l.Finding)
		}
	}
}
