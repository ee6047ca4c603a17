package web

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
	"onefold/web/templates"
)

func TestTimesAsPeopleTypeThem(t *testing.T) {
	for typed, want := range map[string]time.Duration{"90s": 90 * time.Second, "90 s": 90 * time.Second, "2 min": 2 * time.Minute, "2m": 2 * time.Minute, "1 h": time.Hour,
		"1h30m": 90 * time.Minute, "1 h 30 min": 90 * time.Minute, "1 hour and 30 minutes": 90 * time.Minute, "1.5 h": 90 * time.Minute, "1,5 h": 90 * time.Minute,
		" 2 Days ": 48 * time.Hour, "500 ms": 500 * time.Millisecond, "0 s": 0, "0.3 s": 300 * time.Millisecond} {
		if got, err := durationOf(typed); err != nil || got != want {
			t.Errorf("%q is read as %v, %v", typed, got, err)
		}
		if again, err := durationOf(durationText(want)); err != nil || again != want {
			t.Errorf("%v is written as %q, and that is read as %v", want, durationText(want), again)
		}
	}
	for _, typed := range []string{"", "30", "h", "1 fortnight", "1:30", "-5 s", "5 s x", "1e9 s", "99999999999999 days", "5 s -3 s"} {
		if got, err := durationOf(typed); err == nil {
			t.Errorf("%q is read as %v", typed, got)
		}
	}
}

const limitsForm1 = limitsPath + "/" + rt.SystemID

func limitsSite(t *testing.T) (*rt.World, *site) {
	w := newWorld(t)
	w.One("INV-1")
	return w, newSite(t, Config{Store: w.Store})
}

// limits are the fields of the form that saves limits.
func (a answer) limits() url.Values {
	v := url.Values{}
	for _, form := range formPattern.FindAllString(a.body, -1) {
		if strings.Contains(form, `name="note"`) {
			for _, in := range inputPattern.FindAllStringSubmatch(form, -1) {
				v.Set(in[1], html.UnescapeString(in[2]))
			}
		}
	}
	return v
}

func policyOf(t *testing.T, w *rt.World) work.Policy {
	t.Helper()
	sys, err := w.System(t.Context(), rt.SystemID)
	if err != nil {
		t.Fatal(err)
	}
	return sys.Policy
}

func TestLimitsAreChangedAndUndone(t *testing.T) {
	w, s := limitsSite(t)
	b := s.signIn("admin")
	page := b.get(limitsForm1)
	f := page.limits()
	if page.status != http.StatusOK || f.Get("first_delay") != "30 s" || f.Get("jitter") != "20 %" || f.Get("longest_delay") != "2 h" {
		t.Fatalf("%d %v", page.status, f)
	}
	f.Set("sends", "3")
	f.Set("first_delay", "1 min 30 s")
	f.Set("jitter", "5")
	f.Set("note", "calmer at night")
	saved := b.post(limitsForm1, f)
	if saved.status != http.StatusSeeOther {
		t.Fatalf("%d %s", saved.status, saved.visible())
	}
	if p := policyOf(t, w); p.Sends != 3 || p.FirstDelay != 90*time.Second || p.Jitter != 0.05 || p.LongestDelay != 2*time.Hour {
		t.Errorf("%+v", p)
	}
	page = b.get(saved.location)
	for _, want := range []string{templates.Limits.Saved, "calmer at night", "First wait: 30 s 1 min 30 s", "Admin"} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	undo := formPattern.FindStringSubmatch(page.body[strings.Index(page.body, `action="`+limitsForm1+`/undo/`)-60:])[1]
	if a := b.post(undo, page.form(undo)); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if p := policyOf(t, w); p.Sends != 5 || p.FirstDelay != 30*time.Second {
		t.Errorf("undone: %+v", p)
	}
	if a := b.post(undo, page.form(undo)); a.status != http.StatusConflict || !strings.Contains(a.visible(), templates.Limits.StaleUndo) {
		t.Errorf("undone twice: %d", a.status)
	}
}

// What is refused loses nothing that was typed, says beside the field why, and changes nothing.
func TestLimitsOutOfBoundsAreRefused(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t), func(s *work.System) { s.Capabilities.Linger = 30 * time.Second })
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("admin")
	f := b.get(limitsForm1).limits()
	was := policyOf(t, w)
	for name, c := range map[string]struct{ typed, says string }{
		"settle":          {"29 s", "Books may still be at work 30 s after we hang up, so not below 30 s."},
		"first_delay":     {"30", templates.Limits.Code["time"]},
		"sends":           {"0", "At least 1."},
		"lookups":         {"2", "Not below 3: one more"},
		"jitter":          {"200 %", "At most 100 % with this growth"},
		"growth":          {"abc", templates.Limits.Code["factor"]},
		"approval_limit":  {"1000", templates.Limits.Code["money"]},
		"per_second":      {"-1", "Not below 0."},
		"request_timeout": {"", templates.Limits.Code["empty"]},
		"longest_delay":   {"<script>alert(1)</script>", templates.Limits.Code["time"]},
	} {
		typed := maps.Clone(f)
		typed.Set(name, c.typed)
		typed.Set("note", "a reason that must not be lost")
		for _, address := range []string{limitsForm1, limitsForm1 + "/preview"} {
			a := b.post(address, typed)
			again := a.limits()
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), c.says) {
				t.Errorf("%s %s=%q: %d, and it does not say %q", address, name, c.typed, a.status, c.says)
			}
			if again.Get(name) != c.typed || again.Get("note") != "a reason that must not be lost" || strings.Contains(a.body, "<script>alert") {
				t.Errorf("%s %s=%q: what was typed became %q", address, name, c.typed, again.Get(name))
			}
		}
	}
	money := maps.Clone(f)
	money.Set("approval_limit", "1,234")
	money.Set("approval_limit_currency", "EUR")
	if a := b.post(limitsForm1, money); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "“1,234” can be read in two ways: write 1234") {
		t.Errorf("a limit of 1,234: %d %s", a.status, a.visible())
	}
	// All faults are told at once, on top with the way to each.
	f.Set("settle", "29 s")
	f.Set("first_delay", "30")
	if a := b.post(limitsForm1, f); strings.Count(a.body, `class="problem" id="limit-`) != 2 {
		t.Errorf("two faults: %s", a.visible())
	} else {
		for _, name := range []string{"settle", "first_delay"} {
			id := "limit-" + name
			if !strings.Contains(a.body, `<a href="#`+id+`">`+templates.Limits.Name[name]+": ") || !regexp.MustCompile(`<input id="`+id+`"[^>]* aria-describedby="[^"]*`+id+`-problem"[^>]* aria-invalid="true"`).MatchString(a.body) {
				t.Errorf("nothing leads to %s: %s", name, a.body)
			}
		}
	}
	if is := policyOf(t, w); is != was {
		t.Errorf("changed: %+v", is)
	}
}

// Two admins: the second sees what the first changed next to what they typed, takes over what they did not touch, and may
// then save knowingly.
func TestTwoAdminsOnOneLimitsForm(t *testing.T) {
	w, s := limitsSite(t)
	first, second := s.signIn("admin"), s.signIn("admin")
	mine := second.get(limitsForm1).limits()
	theirs := first.get(limitsForm1).limits()
	theirs.Set("sends", "3")
	theirs.Set("growth", "2")
	if a := first.post(limitsForm1, theirs); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	mine.Set("sends", "9")
	mine.Set("lookups", "20")
	a := second.post(limitsForm1, mine)
	again := a.limits()
	if a.status != http.StatusConflict || policyOf(t, w).Sends != 3 || policyOf(t, w).Lookups != 12 {
		t.Fatalf("%d %+v", a.status, policyOf(t, w))
	}
	for _, want := range []string{"Admin changed these limits", "Is 3 now, was 5 when you opened it", "Changed to 2 meanwhile, was 2.5"} {
		if !strings.Contains(a.visible(), want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if again.Get("sends") != "9" || again.Get("growth") != "2" || again.Get("lookups") != "20" {
		t.Errorf("the form: %v", again)
	}
	if a := second.post(limitsForm1, again); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if p := policyOf(t, w); p.Sends != 9 || p.Growth != 2 || p.Lookups != 20 {
		t.Errorf("%+v", p)
	}
}

func TestAnAutomationsOwnLimits(t *testing.T) {
	w, s := limitsSite(t)
	b := s.signIn("admin")
	address := limitsOf(rt.SystemID, "invoices")
	page := b.get(address)
	f := page.limits()
	if f.Get("sends") != "" || f.Get("automation") != "invoices" || f.Has("in_flight") || !strings.Contains(page.visible(), "As Books has it: 5") {
		t.Fatalf("%v", f)
	}
	f.Set("sends", "2")
	f.Set("approval_limit", "1,500.00")
	f.Set("approval_limit_currency", "eur")
	if a := b.post(limitsForm1, f); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	sys, err := w.System(t.Context(), rt.SystemID)
	if err != nil {
		t.Fatal(err)
	}
	if p := sys.RulesFor("invoices").Policy; p.Sends != 2 || p.ApprovalLimit.String() != "1500.00 EUR" || sys.Policy.Sends != 5 || sys.RulesFor("orders").Policy.Sends != 5 {
		t.Errorf("%+v", p)
	}
	if list := b.get(limitsPath).visible(); !strings.Contains(list, "“Invoices sent in or typed in”: 2 limits of its own") {
		t.Errorf("the list: %s", list)
	}
	f = b.get(address).limits()
	f.Set("approval_limit", "None")
	if a := b.post(limitsForm1, f); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if f := b.get(address).limits(); f.Get("approval_limit") != templates.Limits.None {
		t.Errorf("shown again as %q", f.Get("approval_limit"))
	}
	if sys, err := w.System(t.Context(), rt.SystemID); err != nil || !sys.Overrides["invoices"].NoApproval {
		t.Errorf("%+v, %v", sys.Overrides, err)
	}
	page = b.get(address)
	remove := url.Values{}
	for _, m := range formPattern.FindAllString(page.body, -1) {
		if strings.Contains(m, templates.Limits.RemoveAll) {
			for _, in := range inputPattern.FindAllStringSubmatch(m, -1) {
				remove.Set(in[1], html.UnescapeString(in[2]))
			}
		}
	}
	if a := b.post(limitsForm1, remove); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if sys, _ = w.System(t.Context(), rt.SystemID); len(sys.Overrides) != 0 {
		t.Errorf("left: %+v", sys.Overrides)
	}
	if a := b.get(limitsOf(rt.SystemID, "never-heard-of")); a.status != http.StatusNotFound {
		t.Errorf("an automation that is not there: %d", a.status)
	}
	if a := b.get(limitsPath + "/none"); a.status != http.StatusNotFound {
		t.Errorf("a system that is not there: %d", a.status)
	}
}

// The preview says the same as the schedule does: it is made of the tested forecast, and saves nothing.
func TestLimitsPreviewSaysWhatTheyMean(t *testing.T) {
	w, s := limitsSite(t)
	b := s.signIn("admin")
	f := b.get(limitsForm1).limits()
	f.Set("jitter", "0")
	f.Set("growth", "3")
	f.Set("sends", "3")
	a := b.post(limitsForm1+"/preview", f)
	for _, want := range []string{"Sent at 0:00, 0:30, 2:00.", "A person gets it after 2 min: it is refused."} {
		if a.status != http.StatusOK || !strings.Contains(a.visible(), want) {
			t.Errorf("%d, it does not say %q: %s", a.status, want, a.visible())
		}
	}
	if !strings.Contains(a.body, "<polygon class=\"send\"") || policyOf(t, w).Sends != 5 {
		t.Error("nothing is drawn, or something was saved")
	}
}

func TestLimitsPreviewWhileTyping(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	_, s := limitsSite(t)
	has := func(text string) step {
		return chromedp.Poll[chromedp.Void](`document.getElementById("meaning").innerText.includes(` + strconv.Quote(text) + `)`)
	}
	run(t, ctx, signInOn(s.URL, "admin"), chromedp.Navigate(s.URL+limitsForm1), chromedp.WaitReady(chromedp.CSS("#meaning svg")), setLimit("sends", "2"), has("Sent at 0:00, 0:30–0:36."),
		setLimit("sends", "x"), has(templates.Limits.MeaningBroken), setLimit("sends", "1"), has("Sent at 0:00."))
}

// setLimit types a limit.
func setLimit(name, text string) step {
	return chromedp.Evaluate[chromedp.Void](`{ const i = document.getElementById("limit-` + name + `"); i.value = ` + strconv.Quote(text) + `; i.dispatchEvent(new Event("input", {bubbles: true})); }`)
}
