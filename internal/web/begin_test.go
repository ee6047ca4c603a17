package web

import (
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// Where nothing was ever recorded the list must not say that all is well: it says what to do first, to those who may.
func TestAnEmptyHouseSaysWhatToDoFirst(t *testing.T) {
	e := newEmptySite(t)
	admin := e.signIn("admin").get("/")
	if !strings.Contains(admin.visible(), "First connect an accounting system") || !strings.Contains(admin.body, `href="/systems/new"`) {
		t.Error(admin.visible())
	}
	vera := e.signIn("vera").get("/")
	if !strings.Contains(vera.visible(), "An administrator connects it") || strings.Contains(vera.body, `href="/systems/new"`) {
		t.Error("a viewer is offered what only an administrator may:", vera.visible())
	}
	for _, page := range []answer{admin, vera, e.signIn("ada").get("/?tab=waiting")} {
		if strings.Contains(page.visible(), "All is well") {
			t.Error("all is called well where nothing can be sent")
		}
	}

	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	if page := s.signIn("ada").get("/"); !strings.Contains(page.visible(), "Nothing is recorded yet") || strings.Contains(page.visible(), "All is well") {
		t.Error(page.visible())
	}
	w.Put("Acme", rt.Money(t, "10", "EUR"), "INV-1")
	if page := s.signIn("ada").get("/"); !strings.Contains(page.visible(), "All is well: nothing needs a person") {
		t.Error(page.visible())
	}
}

// The list says how a record differs, once, and what is due now is not called over.
func TestTheListSaysHowARecordDiffersAndNothingTwice(t *testing.T) {
	it := work.Item{Status: work.Review, Reason: work.ReasonMismatch, LastError: "the record differs from what was asked for: the total is EUR 15.98, asked was EUR 15.99"}
	if got := lastError(it); got != "the total is EUR 15.98, asked was EUR 15.99" {
		t.Errorf("%q", got)
	}
	it.Reason = work.ReasonRejected
	if got := lastError(it); got != it.LastError {
		t.Errorf("another error lost its beginning: %q", got)
	}
	w := newWorld(t)
	v := view{now: w.Clock(), zone: w.Clock().Location()}
	if got := v.ahead(w.Clock()).Text; got != "in a moment" {
		t.Errorf("what is due now happens %q", got)
	}
	if got := v.ahead(w.Clock().Add(-1e12)).Text; got != "in a moment" {
		t.Errorf("what is overdue happens %q", got)
	}
}

// Who marks a step as done is told by name which steps would be taken as done with it.
func TestTheStepsThatFollowAreNamed(t *testing.T) {
	it := work.Item{Step: "create", Steps: []string{"create", "post", "email"}}
	want := stepName("post") + ", " + stepName("email")
	if got := stepsAfter(it); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	it.Step = "email"
	if got := stepsAfter(it); got != "" {
		t.Errorf("after the last one: %q", got)
	}
}

// What look-first hands to a person was never sent, as far as this database knows: nobody may be told that it was.
func TestWhatWasNeverSentIsNotToldAsSent(t *testing.T) {
	v := view{now: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), zone: time.UTC}
	d := review.Detail{System: work.System{Name: "Books"}, Item: work.Item{Status: work.Review, Reason: work.ReasonCannotLookUp, LastLook: work.LastLookMissed}}
	says := func() (all string) {
		for _, s := range v.known(d) {
			all += s.String() + " "
		}
		return all
	}
	if got := says(); strings.Contains(got, "It was sent") || !strings.Contains(got, "It may have been sent before the database was put back, and Books cannot be searched") {
		t.Error(got)
	}
	d.Item.Sends = 1
	if got := says(); !strings.Contains(got, "It was sent, no clear answer came") {
		t.Error(got)
	}
}
