package web

import (
	"encoding/csv"
	"regexp"
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
	"onefold/web/templates"
)

var figureCell = regexp.MustCompile(`data-label="([^"]*)">([^<]*)<`)

// figureRowOf returns the cells of the row of a table with this name, "name: value" each.
func figureRowOf(t *testing.T, body, name string) string {
	t.Helper()
	for row := range strings.SplitSeq(body, "<tr>") {
		if strings.Contains(row, "<bdi>"+name+"</bdi>") {
			var cells []string
			for _, m := range figureCell.FindAllStringSubmatch(row, -1) {
				cells = append(cells, m[1]+": "+strings.ReplaceAll(m[2], "\u00a0", " "))
			}
			return strings.Join(cells, "; ")
		}
	}
	t.Fatalf("there is no row %q", name)
	return ""
}

// busyBooks is a system that answered seven calls in all ways, and then stood still.
func busyBooks(t *testing.T) *rt.World {
	t.Helper()
	w := newWorld(t)
	call := func(key string, took time.Duration, a work.Answer) {
		id := w.One(key)
		it := w.Claim(id)
		w.Later(took)
		w.Happen(id, work.SendClosed{Attempt: it.OpenAttempt, Ended: w.Clock(), Answer: a})
	}
	with := func(o work.Outcome, status int) work.Answer {
		return work.Answer{Outcome: o, Exchange: work.Exchange{HTTPStatus: status}}
	}
	for i, took := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 10 * time.Second} {
		a := rt.AcceptedAs(i + 1)
		a.Exchange.HTTPStatus = 201
		call("INV-A"+string(rune('1'+i)), took, a)
	}
	call("INV-B", 15*time.Second, rt.NoAnswer)
	call("INV-C", 2*time.Second, with(work.Deferred, 429))
	call("INV-D", 2*time.Second, with(work.Deferred, 401))
	call("INV-E", 2*time.Second, with(work.Deferred, 503))
	counts(t, w, time.UTC)
	return w
}

// The row of a system says what its calls came to, and a pause does not hide that it is not reached.
func TestTheRowOfASystemSaysWhatItsCallsCameTo(t *testing.T) {
	w := busyBooks(t)
	in := newSite(t, Config{Store: w.Store}).signIn("vera")
	a := in.get("/overview")
	// Of seven answers the fourth took 2 s, the last 10 s; what is read is off by less than 9.1 percent.
	const want = "Calls: 8; Without a clear answer: 1 (12.5 %); Asked us to wait: 1; Login refused: 1; Put off otherwise: 1; Answer: half within: 1.9 s; Answer: 95 of 100 within: 11 s"
	if got := figureRowOf(t, a.body, "Books"); got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
	if got := figureRowOf(t, a.body, "1 send"); got != "How many: 4" {
		t.Errorf("confirmed after one send: %s", got)
	}
	if n := strings.Count(a.body, `class="figure-parts"`); n != 1 || !strings.Contains(a.visible(), "Answered clearly") {
		t.Errorf("%d rows are drawn", n)
	}
	if err := w.SetBreaker(t.Context(), rt.SystemID, w.Clock().Add(time.Hour), "no answer"); err != nil {
		t.Fatal(err)
	}
	if err := w.Pause(t.Context(), rt.SystemID, ada, "The books are closed"); err != nil {
		t.Fatal(err)
	}
	says := templates.Words.SystemSays
	if a := in.get("/overview"); !strings.Contains(a.visible(), says["paused"]) || !strings.Contains(a.visible(), says["breaker"]) {
		t.Errorf("%q and %q are not both said:\n%s", says["paused"], says["breaker"], a.visible())
	}
}

// The item that has waited for a person for the longest is named, not one that came later or is done.
func TestTheOldestWaitingItemIsNamed(t *testing.T) {
	w := newWorld(t)
	in := newSite(t, Config{Store: w.Store}).signIn("vera")
	if a := in.get("/overview"); !strings.Contains(a.visible(), "Nothing waits for a person") {
		t.Errorf("nobody is waited for: %s", a.visible())
	}
	done, old, young := w.One("INV-DONE"), w.One("INV-OLD"), w.One("INV-YOUNG")
	for _, id := range []int64{done, old, young} {
		w.Later(time.Hour)
		w.Happen(id, work.Hold{By: ada, Note: "wait"})
	}
	w.Happen(done, work.Close{By: ada, Note: "not needed"})
	a := in.get("/overview")
	if link := `<a href="` + itemPath(old) + `"><bdi>INV-OLD</bdi></a>`; !strings.Contains(a.body, link) || strings.Contains(a.body, "INV-YOUNG") || strings.Contains(a.body, "INV-DONE") {
		t.Errorf("the oldest is not the one named:\n%s", a.visible())
	}
}

// The file holds what the page shows, in numbers that a spreadsheet reads.
func TestTheFileOfTheOverviewHasAllFigures(t *testing.T) {
	w := busyBooks(t)
	slow := w.One("INV-SLOW") // confirmed three hours after it was recorded
	w.Later(3 * time.Hour)
	w.Send(slow, rt.AcceptedAs(9))
	w.Happen(w.One("=INV-HELD"), work.Hold{By: ada, Note: "wait"})
	counts(t, w, time.UTC)
	in := newSite(t, Config{Store: w.Store}).signIn("vera")
	rows, err := csv.NewReader(strings.NewReader(in.get("/overview.csv?range=7d").body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	found := map[string][]string{}
	for _, row := range rows[1:] {
		found[row[2]+"|"+row[3]] = row
		for _, cell := range row[4:7] {
			if cell != "" && !plain.MatchString(cell) {
				t.Errorf("%q is no number that is read everywhere: %v", cell, row)
			}
		}
	}
	for what, want := range map[string]string{
		"Duplicates prevented, ever|": "0,,,", "Sends with unknown outcome that are open|": "1,,,", "Waiting for a person for the longest|": ",,,'=INV-HELD",
		"Counted up to|": ",,,", "State now|Books": ",,," + templates.Words.SystemSays["ok"], "Calls|Books": "9,,,", "Calls whose login was refused|Books": "1,,,",
		"Calls put off otherwise|Books": "1,,,", "Calls asked to wait (429)|Books": "1,,,", "Confirmed after sends: 1 send|": "5,,,",
	} {
		if row := found[what]; len(row) == 0 || strings.Join(row[4:], ",") != want {
			t.Errorf("%s is %v, not %s", what, row, want)
		}
	}
	if row := found["Recorded to confirmed|"]; len(row) == 0 || row[4] != "5" || len(row[6]) < 5 { // three hours, in seconds
		t.Errorf("recorded to confirmed: %v", row)
	}
}

// What is drawn is told apart without colour: every code has a pattern of its own, and every way of settling has a name.
func TestPatternsDifferWithoutColour(t *testing.T) {
	w := busyBooks(t)
	body := newSite(t, Config{Store: w.Store}).signIn("vera").get("/overview").body
	colour := regexp.MustCompile(`(class|id)="[^"]*"`)
	seen := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)<pattern id="fill-([a-z_]+)"(.*?)</pattern>`).FindAllStringSubmatch(body, -1) {
		shape := colour.ReplaceAllString(m[2], "")
		if other, is := seen[shape]; is {
			t.Errorf("%s looks like %s", m[1], other)
		}
		seen[shape] = m[1]
	}
	codes := append([]string(nil), callGroups...)
	for _, g := range sendGroups {
		codes = append(codes, g.code)
	}
	for _, code := range codes {
		if n := strings.Count(body, `<pattern id="fill-`+code+`"`); n != 1 {
			t.Errorf("%s has %d patterns", code, n)
		}
	}
	for _, how := range review.SettledWays {
		if templates.Overviews.Way[string(how)] == "" {
			t.Errorf("%s has no name", how)
		}
	}
}
