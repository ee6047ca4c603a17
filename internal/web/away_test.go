package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/store"
	"onefold/internal/work"
)

// awayError is how the store marks a database that cannot be asked.
type awayError struct{}

func (awayError) Error() string      { return "cannot reach the database" }
func (awayError) DatabaseAway() bool { return true }

// peopleDown is the people's database, which can be away.
type peopleDown struct {
	*store.Store
	down atomic.Bool
}

func (p *peopleDown) SessionByHash(ctx context.Context, hash string) (auth.Session, auth.User, error) {
	if p.down.Load() {
		return auth.Session{}, auth.User{}, awayError{}
	}
	return p.Store.SessionByHash(ctx, hash)
}

// itemsDown is the items' database, which can lose the connection in a change.
type itemsDown struct {
	*store.Store
	down atomic.Bool
}

func (i *itemsDown) Change(ctx context.Context, p work.Pick, f func(at time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	if i.down.Load() {
		return nil, awayError{}
	}
	return i.Store.Change(ctx, p, f)
}

// While the database is away, pages say so with 503, and a form says whether it can have been saved and gives back what was
// typed, but no password.
func TestNothingTypedIsLostWhileTheDatabaseIsAway(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "INV-AWAY")
	items := &itemsDown{Store: w.Store}
	people := &peopleDown{}
	s := newSite(t, Config{Store: items, Auth: accounts(t, func(c *auth.Config) {
		people.Store = c.Store.(*store.Store)
		c.Store = people
	})})
	b := s.signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "close"))
	form.Set("note", "the customer cancelled <b>by phone</b>")
	form.Set("why", "not_wanted")

	items.down.Store(true)
	a := b.post(itemPath(id, "close"), form)
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	a.shows(t, "The database cannot be reached", "It is not certain whether what you sent was saved", "the customer cancelled <b>by phone</b>")
	items.down.Store(false)

	people.down.Store(true)
	a = b.post(itemPath(id, "close"), form)
	if a.status != http.StatusServiceUnavailable {
		t.Errorf("%d", a.status)
	}
	a.shows(t, "Nothing of what you sent was saved", "the customer cancelled <b>by phone</b>")
	if strings.Contains(a.body, form.Get(csrfField)) || strings.Contains(a.visible(), "version") {
		t.Error("what nobody typed is shown")
	}
	a = b.post("/profile/password", url.Values{"password": {"new-secret-42"}, "repeat": {"new-secret-42"}, "note": {"n"}})
	if a.status != http.StatusServiceUnavailable || strings.Contains(a.body, "new-secret-42") {
		t.Errorf("%d: a password is shown", a.status)
	}
	if a := b.get("/"); a.status != http.StatusServiceUnavailable || strings.Contains(a.body, "saved") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	people.down.Store(false)
	if a := b.post(itemPath(id, "close"), form); a.status != http.StatusSeeOther {
		t.Errorf("the same form again: %d %s", a.status, a.visible())
	}
}

// A machine is told the same in its own form.
func TestTheAPISaysThatTheDatabaseIsAway(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store, Intake: awayIntake{}})
	r, err := http.NewRequest(http.MethodPost, s.URL+"/api/v1/items", strings.NewReader(`{"items":[{"system":"books","automation":"a","key":"K-1","invoice":{"customer_id":"C","customer_name":"C","total":{"number":"1","currency":"EUR"},"issue_date":"2026-11-30"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Content-Type", "application/json")
	a := s.browser().do(r)
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, `"code":"unavailable"`) {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}

type awayIntake struct{}

func (awayIntake) Record(context.Context, []work.New) ([]automation.Recorded, error) {
	return nil, awayError{}
}
