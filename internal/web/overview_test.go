package web

import (
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// counts counts what has happened in the world so far.
func counts(t *testing.T, w *rt.World, zone *time.Location) {
	t.Helper()
	w.Later(5 * time.Minute)
	for more := true; more; {
		var err error
		if more, err = (review.FigureRunner{Store: w.Store, Node: "one", Zone: zone}).RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheOverviewCountsPreventedDuplicates(t *testing.T) {
	w := newWorld(t)
	in := newSite(t, Config{Store: w.Store}).signIn("vera")
	if a := in.get("/overview"); !strings.Contains(a.visible(), "Nothing has been counted yet.") {
		t.Errorf("before anything was counted: %s", a.visible())
	}
	for i, key := range []string{"INV-A", "INV-B", "INV-C"} { // sent without an answer, and found
		id := w.One(key)
		w.Send(id, rt.NoAnswer)
		w.Find(id, rt.FoundAs(40+i))
	}
	id := w.One("INV-D") // not found, and sent again: that is no prevented duplicate
	w.Send(id, rt.NoAnswer)
	for w.Get(id).Status == work.Pending {
		w.Find(id, rt.NotThere)
	}
	w.Send(id, rt.AcceptedAs(50))
	id = w.One("INV-E") // settled by a person: neither
	w.Send(id, rt.NoAnswer)
	w.Happen(id, work.Hold{By: ada, Note: "wait"})
	w.Happen(id, work.Resolve{By: ada, Reference: "INV/51", Note: "I looked"})
	w.Send(w.One("INV-F"), rt.NoAnswer) // open still
	counts(t, w, time.UTC)
	a := in.get("/overview?range=7d")
	for _, want := range []string{"Duplicates prevented33 of them in the last 7 days.", "Sends with unknown outcome that are open1", "A lookup found the invoice 3",
		"Proven not there, and sent again 1", "A person settled it 1", "Outcome unknown 6", "1 send 32 sends 1"} {
		if !strings.Contains(a.visible(), want) {
			t.Errorf("%q is missing:\n%s", want, a.visible())
		}
	}
	if a := in.get("/overview?range=<script>"); a.status != http.StatusOK || strings.Contains(a.body, "<script>") && strings.Contains(a.body, "range=<script>") {
		t.Errorf("a range that is none: %d", a.status)
	}
	file := in.get("/overview.csv?range=7d")
	if file.status != http.StatusOK || !strings.Contains(file.body, ",Duplicates prevented,,3,,") || !strings.Contains(file.body, ",Made,,1,,") {
		t.Errorf("%d\n%s", file.status, file.body)
	}
}

// On the night on which clocks are put back the hour between two and three comes twice, and the page tells them apart.
func TestTheHourThatComesTwiceIsTwoOnTheOverview(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.Later(time.Date(2027, 10, 31, 0, 10, 0, 0, time.UTC).Sub(w.Clock()))
	w.Send(w.One("INV-A"), rt.AcceptedAs(1)) // 02:10 summer time
	w.Later(time.Hour)
	w.Send(w.One("INV-B"), rt.AcceptedAs(2)) // 02:10 winter time
	w.Send(w.One("INV-C"), rt.AcceptedAs(3))
	counts(t, w, zone)
	in := newSite(t, Config{Store: w.Store, Zone: zone}).signIn("vera")
	for _, want := range []string{"31 Oct 02:00 CEST 110000", "31 Oct 02:00 CET 220000"} {
		if a := in.get("/overview"); !strings.Contains(a.visible(), want) {
			t.Errorf("%q is missing:\n%s", want, a.visible())
		}
	}
	if a := in.get("/overview?range=7d"); !strings.Contains(a.visible(), "31 Oct 2027 330000") {
		t.Errorf("the day of 25 hours:\n%s", a.visible())
	}
}

// fullFigures are many figures, as after a year.
func fullFigures(t *testing.T, w *rt.World) {
	t.Helper()
	at, held, err := w.HoldFigures(t.Context(), "one", time.Minute)
	if err != nil || !held {
		t.Fatal(held, err)
	}
	rnd := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test
	var list []review.Figure
	add := func(g review.Grain, begin time.Time, m review.Measure, bucket int, n int64) {
		if n > 0 {
			list = append(list, review.Figure{CompanyID: 1, Grain: g, StartsAt: begin, Measure: m, SystemID: rt.SystemID, Automation: "invoices", Bucket: bucket, Count: n})
		}
	}
	stretch := func(g review.Grain, begin time.Time, scale float64) {
		some := func(of float64) int64 { return int64(of * scale * (0.5 + rnd.Float64())) }
		add(g, begin, review.SentWith(work.Accepted), 0, some(400))
		add(g, begin, review.SentWith(work.Rejected), 0, some(25))
		add(g, begin, review.SentWith(work.Unknown), 0, some(30))
		add(g, begin, review.SentWith(work.Deferred), 0, some(40))
		add(g, begin, review.SentWith(work.AlreadyExists), 0, some(12))
		add(g, begin, review.LookedWith(work.FoundMatching), 0, some(30))
		add(g, begin, review.Limited, 0, some(20))
		for b := range 60 {
			add(g, begin, review.Confirmed, b+20, some(40*math.Exp(-math.Pow(float64(b-14)/9, 2))))
			add(g, begin, review.Answered, b+10, some(40*math.Exp(-math.Pow(float64(b-20)/6, 2))))
		}
		for i, how := range review.SettledWays {
			add(g, begin, review.SettledBy(how), 50+4*i, some(12/float64(1+i)))
		}
		for n, of := range []float64{3, 400, 30, 9, 3, 1} {
			add(g, begin, review.Sends, n, some(of))
		}
	}
	now := w.Clock()
	for i := range 24 {
		stretch(review.GrainHour, review.GrainHour.Begin(now.Add(-time.Duration(i)*time.Hour), time.UTC), math.Abs(math.Sin(float64(i)/5)))
	}
	for i := range 30 {
		stretch(review.GrainDay, review.GrainDay.Begin(now.AddDate(0, 0, -i), time.UTC), 20)
	}
	for i := range 12 {
		stretch(review.GrainMonth, time.Date(now.Year(), now.Month()-time.Month(i), 1, 0, 0, 0, 0, time.UTC), 800)
	}
	stretch(review.GrainAll, time.Unix(0, 0), 9000)
	if err := w.SaveFigures(t.Context(), "one", time.Minute, at, review.FigureBatch{Place: review.FigurePlace{CountedTo: now}}, list); err != nil {
		t.Fatal(err)
	}
}

func TestTheOverviewLooksRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	run(t, ctx, signInOn(s.URL, "admin"))
	shootFully(t, ctx, "overview-empty", s.URL+"/overview")
	stories(t, w)
	counts(t, w, time.UTC)
	shoot(t, ctx, "overview-few", s.URL+"/overview")
	fullFigures(t, w)
	for _, r := range review.Ranges {
		shootFully(t, ctx, "overview-"+string(r), s.URL+overviewAddress(r))
	}
	run(t, ctx, chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll(".chart-table")) d.open = true`))
	for _, l := range looks {
		shootThisFully(t, ctx, "overview-tables", l)
	}
}
