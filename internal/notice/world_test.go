package notice_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/notice"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
	"onefold/web/templates"
)

// words are those that ship: the fields have the same names.
func words(t testing.TB) (w notice.Words) {
	t.Helper()
	text, err := json.Marshal(templates.Messages)
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Why = templates.Words.ReasonShort
	return w
}

// taken is one message that a recipient got.
type taken struct {
	to, id string
	notice.Message
}

// post takes messages, or refuses them as the test says.
type post struct {
	mu      sync.Mutex
	got     []taken
	refuse  error
	arrived chan struct{} // closed with the first message; nil: nobody waits
}

func (p *post) take(to, id string, m notice.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		return p.refuse
	}
	p.got = append(p.got, taken{to, id, m})
	if p.arrived != nil && len(p.got) == 1 {
		close(p.arrived)
	}
	return nil
}

func (p *post) Mail(_ context.Context, to, id string, m notice.Message, _ time.Time) error {
	return p.take(to, id, m)
}

func (p *post) Post(_ context.Context, m notice.Message) error { return p.take("webhook", "", m) }

// all returns and forgets what was taken.
func (p *post) all() []taken {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.got
	p.got = nil
	return got
}

// world is a database with people and a loop that tells them.
type world struct {
	*rt.World
	t    testing.TB
	mail *post
	loop *notice.Loop
	cfg  notice.Config
}

func newWorld(t testing.TB, db storetest.DB, set ...func(*notice.Config)) *world {
	t.Helper()
	w := &world{World: rt.New(t, db), t: t, mail: &post{}}
	w.cfg = notice.Config{Store: w.Store, Node: "one", Mail: w.mail, PublicURL: "https://onefold.example/", Words: words(t), Hour: -1}
	for _, f := range set {
		f(&w.cfg)
	}
	w.loop = notice.NewLoop(w.cfg)
	return w
}

// each runs the test on both databases.
func each(t *testing.T, test func(t *testing.T, w *world), set ...func(*notice.Config)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) { test(t, newWorld(t, db, set...)) })
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// person adds somebody who may be told.
func (w *world) person(login string, roles ...work.Role) auth.User {
	w.t.Helper()
	u, err := w.AddUser(w.t.Context(), auth.User{CompanyID: 1, Login: login, Name: strings.ToUpper(login[:1]) + login[1:] + " Brown", Email: login + "@example.com", Roles: roles,
		PasswordHash: "x", CreatedAt: w.Clock()}, false, auth.Change{})
	w.must(err)
	return u
}

// round lets the loop run once, a minute later.
func (w *world) round() {
	w.t.Helper()
	w.Later(time.Minute)
	w.must(w.loop.RunOnce(w.t.Context()))
}

// rounds lets it run each minute for so long.
func (w *world) rounds(d time.Duration) {
	w.t.Helper()
	for range int(d / time.Minute) {
		w.round()
	}
}

// coarse lets it run each half hour for so long, where minutes do not matter.
func (w *world) coarse(d time.Duration) {
	w.t.Helper()
	for range int(d / (30 * time.Minute)) {
		w.Later(29 * time.Minute)
		w.round()
	}
}

// held records an item and stops it, so that it waits for a person.
func (w *world) held(key string) int64 {
	w.t.Helper()
	id := w.One(key)
	w.Happen(id, work.Hold{By: rt.Recorder, Note: "stop"})
	return id
}

// holdAll records items and stops them, many in one go.
func (w *world) holdAll(keys ...string) {
	w.t.Helper()
	ids := w.Put("Acme Holdings Ltd", rt.Money(w.t, "1200.00", "EUR"), keys...)
	for len(ids) > 0 {
		n := min(len(ids), 1000)
		_, err := w.Change(w.t.Context(), work.Pick{IDs: ids[:n]}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
			moves := make([]work.Move, len(picked))
			for i, p := range picked {
				var err error
				if moves[i], err = work.Decide(p.Item, work.Hold{By: rt.Recorder, Note: "stop"}, p.Rules, now); err != nil {
					return nil, err
				}
			}
			return moves, nil
		})
		w.must(err)
		ids = ids[n:]
	}
}

func (w *world) save(u auth.User, change func(*notice.Settings)) {
	w.t.Helper()
	set := notice.Suggested(u.Roles)
	change(&set)
	w.must(w.SaveNoticeSettings(w.t.Context(), u.ID, set))
}

// want fails unless exactly these subjects were taken since the last look.
func (w *world) want(subjects ...string) []taken {
	w.t.Helper()
	got := w.mail.all()
	var seen []string
	for _, m := range got {
		seen = append(seen, m.to+": "+m.Subject)
	}
	if strings.Join(seen, "\n") != strings.Join(subjects, "\n") {
		w.t.Fatalf("told:\n%s\nwant:\n%s", strings.Join(seen, "\n"), strings.Join(subjects, "\n"))
	}
	return got
}
