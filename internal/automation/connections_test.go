package automation_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/seal"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

const (
	goodToken  = "s3cret-token-of-the-books"
	otherToken = "another-s3cret-token"
)

var boss = work.Actor{Kind: work.Person, ID: "9", Name: "Boss", Roles: []work.Role{work.Admin}}

// bureau is a database without systems beside a sandbox that asks for a token.
type bureau struct {
	t       *testing.T
	db      storetest.DB
	clock   *clock
	store   *store.Store
	keys    seal.Keys
	con     *automation.Connections
	outside *sandboxserver.Server
	url     string
	env     map[string]string
	log     bytes.Buffer
}

func newBureau(t *testing.T, db storetest.DB) *bureau {
	t.Helper()
	b := &bureau{t: t, db: db, clock: newClock(), keys: seal.Random(), env: map[string]string{}}
	var err error
	if b.outside, err = sandboxserver.New(sandboxserver.Options{Token: goodToken}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.outside.Close() })
	h := httptest.NewServer(b.outside)
	t.Cleanup(h.Close)
	b.url = h.URL
	b.store = db.Open(t, store.Config{Clock: b.clock.Now})
	b.con = &automation.Connections{Store: b.store, Adapters: []ledger.Adapter{sandbox.Adapter}, Keys: b.keys, Now: b.clock.Now,
		Environment: func(name string) string { return b.env[name] }, Log: slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	return b
}

func (b *bureau) draft(name, books, token string) automation.Draft {
	return automation.Draft{Adapter: "sandbox", Name: name, Address: b.url + "/" + books, Settings: map[string]string{"personality": books},
		Secrets: map[string]string{"token": token}}
}

func (b *bureau) add(name, books string) string {
	b.t.Helper()
	id, tried, err := b.con.Add(b.t.Context(), boss, b.draft(name, books, goodToken))
	if err != nil || tried.Problem != automation.TryWorks {
		b.t.Fatalf("%q %+v %v", id, tried, err)
	}
	return id
}

func (b *bureau) mark(id string) string {
	b.t.Helper()
	s, err := b.store.System(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return automation.ConnectionMark(s)
}

func (b *bureau) engine() *automation.Engine {
	return automation.NewEngine(automation.Config{Store: b.store, Connect: b.con.Connect, Node: "a", Now: b.clock.Now, Log: b.con.Log})
}

func eachBureau(t *testing.T, test func(t *testing.T, b *bureau)) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) { test(t, newBureau(t, db)) })
}

// Only what was seen to work is connected, and only admins connect it.
func TestOnlyWhatWorksIsConnected(t *testing.T) {
	eachBureau(t, func(t *testing.T, b *bureau) {
		for _, by := range []work.Actor{{}, ada, {Kind: work.Person, ID: "3", Roles: []work.Role{work.Viewer, work.Ops}}} {
			_, _, addErr := b.con.Add(t.Context(), by, b.draft("Books", "search", goodToken))
			_, tryErr := b.con.Try(t.Context(), by, "", b.draft("Books", "search", goodToken))
			_, setupErr := b.con.Setup(t.Context(), by, "books")
			_, storedErr := b.con.TryStored(t.Context(), by, "books")
			_, changeErr := b.con.Change(t.Context(), by, "books", automation.Draft{})
			for _, err := range []error{addErr, tryErr, setupErr, storedErr, changeErr, b.con.Remove(t.Context(), by, "books")} {
				if !errors.Is(err, automation.ErrNotAdmin) {
					t.Errorf("%+v may: %v", by, err)
				}
			}
		}
		with := func(f func(*automation.Draft)) automation.Draft {
			d := b.draft("Books", "search", goodToken)
			f(&d)
			return d
		}
		for name, c := range map[string]struct {
			d     automation.Draft
			want  automation.TryProblem
			field string
		}{
			"wrong token":     {d: b.draft("Books", "search", otherToken), want: automation.TryBooks},
			"no such books":   {d: b.draft("Books", "nothing", goodToken), field: "personality"},
			"nobody there":    {d: with(func(d *automation.Draft) { d.Address = "http://127.0.0.1:1/search" }), want: automation.TryBooks},
			"no name":         {d: with(func(d *automation.Draft) { d.Name = " " }), field: "name"},
			"no address":      {d: with(func(d *automation.Draft) { d.Address = "books" }), field: "address"},
			"login in it":     {d: with(func(d *automation.Draft) { d.Address = "http://u:p@host/x" }), field: "address"},
			"no duration":     {d: with(func(d *automation.Draft) { d.Settings["search_lag"] = "soon" }), field: "search_lag"},
			"split header":    {d: with(func(d *automation.Draft) { d.Secrets["token"] = "a\r\nX-Evil: 1" }), field: "token"},
			"too many misses": {d: with(func(d *automation.Draft) { d.Settings["misses"] = "50" }), want: automation.TrySettings},
		} {
			id, tried, err := b.con.Add(t.Context(), boss, c.d)
			var bad automation.BadFields
			switch {
			case c.field != "" && (!errors.As(err, &bad) || bad[c.field] == ""):
				t.Errorf("%s: %+v %v", name, tried, err)
			case c.field == "" && (err != nil || tried.Problem != c.want || tried.Text == ""):
				t.Errorf("%s: %q %+v %v", name, id, tried, err)
			}
		}
		if all, err := b.store.Systems(t.Context()); err != nil || len(all) != 0 {
			t.Fatalf("something was connected all the same: %+v %v", all, err)
		}
		if id := b.add("Acme's Books", "search"); id != "acme-s-books" {
			t.Errorf("its id is %q", id)
		}
		if b.outside.Requests("search", sandboxserver.Create) != 0 {
			t.Error("a test wrote something")
		}
		_, tried, err := b.con.Add(t.Context(), boss, b.draft("The same again", "search", goodToken))
		if err != nil || tried.Problem != automation.TryTwice || tried.Same != "Acme's Books" {
			t.Errorf("the same books twice: %+v %v", tried, err)
		}
		_, _, err = b.con.Add(t.Context(), boss, b.draft("ACME's  books", "keys", goodToken))
		var bad automation.BadFields
		if !errors.As(err, &bad) || bad["name"] == "" {
			t.Errorf("the same name twice: %v", err)
		}
	})
}

// Other books are another system; credentials never go to a new place unseen; an old page overwrites nothing.
func TestAConnectionIsChangedWithCare(t *testing.T) {
	eachBureau(t, func(t *testing.T, b *bureau) {
		id := b.add("Books", "search")
		mark := b.mark(id)
		d := b.draft("Books", "search", "")
		d.Mark = mark
		d.Settings["search_lag"] = "5s"
		if tried, err := b.con.Change(t.Context(), boss, id, d); err != nil || tried.Problem != automation.TryWorks {
			t.Fatalf("%+v %v", tried, err)
		}
		if _, err := b.con.Change(t.Context(), boss, id, d); !errors.Is(err, automation.ErrConnectionChanged) {
			t.Errorf("an old page was obeyed: %v", err)
		}
		s, err := b.store.System(t.Context(), id)
		if err != nil || s.Capabilities.SearchLag != 5*time.Second || s.Identity == "" {
			t.Fatalf("%+v %v", s, err)
		}
		d.Mark, d.Address = b.mark(id), b.url+"/unique"
		if tried, err := b.con.Change(t.Context(), boss, id, d); err != nil || tried.Problem != automation.TryOtherBooks {
			t.Errorf("other books: %+v %v", tried, err)
		}
		seen := ""
		evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen += r.Header.Get("Authorization") }))
		defer evil.Close()
		d.Address = evil.URL
		for _, set := range []func(automation.Draft) error{
			func(d automation.Draft) error { _, err := b.con.Try(t.Context(), boss, id, d); return err },
			func(d automation.Draft) error { _, err := b.con.Change(t.Context(), boss, id, d); return err },
		} {
			var bad automation.BadFields
			if err := set(d); !errors.As(err, &bad) || bad["token"] == "" || seen != "" {
				t.Errorf("stored credentials went to %s: %v", evil.URL, err)
			}
		}
		d.Address, d.Secrets["token"] = b.url+"/search", otherToken
		if tried, err := b.con.Change(t.Context(), boss, id, d); err != nil || tried.Problem != automation.TryBooks {
			t.Errorf("credentials that do not work were taken: %+v %v", tried, err)
		}
		if tried, err := b.con.TryStored(t.Context(), boss, id); err != nil || tried.Problem != automation.TryWorks {
			t.Errorf("the connection that works is lost: %+v %v", tried, err)
		}
		if _, err := b.con.Change(t.Context(), boss, "nothing", d); !errors.Is(err, automation.ErrUnknownSystem) {
			t.Errorf("no such system: %v", err)
		}
	})
}

// Running servers take up other credentials within a poll, without a restart.
func TestRunningServersTakeUpCredentials(t *testing.T) {
	eachBureau(t, func(t *testing.T, b *bureau) {
		b.clock.advance(time.Since(b.clock.Now())) // the adapter's own clock is the machine's
		id := b.add("Books", "search")
		engine := b.engine()
		once := func() {
			t.Helper()
			if _, err := engine.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		once()
		record := func(key string) {
			t.Helper()
			if err := b.store.AllowUnproven(t.Context(), 1, "monthly", []string{id}, boss); err != nil {
				t.Fatal(err)
			}
			_, err := automation.Intake{Store: b.store}.Record(t.Context(), []work.New{{Automation: "monthly", BusinessKey: key, SystemID: id, Source: "test",
				By: boss, Invoice: work.Invoice{CustomerID: "C-1", CustomerName: "Acme", Total: euros(t, "10.00")}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		// The token is renewed there; ours is refused until an admin enters the new one.
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer "+otherToken {
				r.Header.Set("Authorization", "Bearer "+goodToken)
			} else {
				r.Header.Set("Authorization", "Bearer none")
			}
			b.outside.ServeHTTP(w, r)
		}))
		defer h.Close()
		if err := b.store.DeclareSystem(t.Context(), func() work.System {
			s, err := b.store.System(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			s.Address = h.URL + "/search"
			return s
		}()); err != nil {
			t.Fatal(err)
		}
		record("INV-1")
		once()
		s, err := b.store.System(t.Context(), id)
		if err != nil || s.Rules().NoSends == false {
			t.Fatalf("it goes on with a refused login: %+v %v", s, err)
		}
		d := automation.Draft{Name: s.Name, Address: s.Address, Settings: s.Settings, Mark: b.mark(id), Secrets: map[string]string{"token": otherToken}}
		if tried, err := b.con.Change(t.Context(), boss, id, d); err != nil || tried.Problem != automation.TryWorks {
			t.Fatalf("%+v %v", tried, err)
		}
		for range 20 {
			once()
			b.clock.advance(time.Second)
		}
		if n := b.outside.Requests("search", sandboxserver.Create); n != 1 {
			s, _ = b.store.System(t.Context(), id)
			t.Errorf("%d invoices were made with the new credentials: %q %q\n%s", n, s.LoginProblem, s.BreakerReason, b.log.String())
		}
	})
}

// Nothing tells a stored secret: not the database, the log, the record of changes, an error or a test's words.
func TestSecretsAreNowhere(t *testing.T) {
	eachBureau(t, func(t *testing.T, b *bureau) {
		id := b.add("Books", "search")
		var said strings.Builder
		note := func(v any, err error) { fmt.Fprintf(&said, "%+v %v\n", v, err) }
		d := b.draft("Books", "search", otherToken)
		note(b.con.Change(t.Context(), boss, id, d))
		d.Secrets["token"] = goodToken + "\x00"
		note(b.con.Try(t.Context(), boss, id, d))
		echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // says it back in every way
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code": "login", "reason": "`+r.Header.Get("Authorization")+` is wrong"}`)
		}))
		defer echo.Close()
		d = b.draft("Echo", "search", goodToken)
		d.Address = echo.URL
		note(b.con.Try(t.Context(), boss, "", d))
		_, tried, err := b.con.Add(t.Context(), boss, d)
		note(tried, err)
		note(b.con.TryStored(t.Context(), boss, id))
		note(b.con.Setup(t.Context(), boss, id))
		note(b.store.SystemChanges(t.Context(), id, 100))
		note(b.store.Systems(t.Context()))
		d = b.draft("Books", "search", "")
		d.Forget, d.Secrets = []string{"token"}, map[string]string{}
		note(b.con.Change(t.Context(), boss, id, d)) // does not work without
		kept := b.con.KeepTyped(boss, map[string]string{"token": goodToken})
		said.WriteString(kept)
		if got := b.con.Typed(boss, kept); got["token"] != goodToken || len(got) != 1 {
			t.Errorf("what was typed is lost: %v", got)
		}
		if b.con.Typed(ada, kept) != nil {
			t.Error("somebody else gets what was typed")
		}
		b.clock.advance(20 * time.Minute)
		if b.con.Typed(boss, kept) != nil {
			t.Error("what was typed is kept for ever")
		}
		said.WriteString(b.log.String())
		said.WriteString(dump(t, b.db))
		for _, secret := range []string{goodToken, otherToken} {
			if i := strings.Index(said.String(), secret); i >= 0 {
				t.Errorf("a secret is told: …%s…", said.String()[max(0, i-200):i])
			}
		}
		if !strings.Contains(said.String(), "API token: entered") && !strings.Contains(said.String(), "system added") {
			t.Error("nothing is on record")
		}
	})
}

// dump is everything in the tables that could hold it, as text.
func dump(t *testing.T, db storetest.DB) string {
	t.Helper()
	driver, url := "pgx", db.URL
	if db.Name == "sqlite" {
		driver, url = "sqlite", strings.TrimPrefix(db.URL, "sqlite:")
	}
	c, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out strings.Builder
	for _, table := range []string{"systems", "setting_changes", "audit", "alerts", "attempts", "saved_forms", "system_logins", "login_trips"} {
		rows, err := c.QueryContext(t.Context(), "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				fmt.Fprintf(&out, "%s|", *(v.(*any)))
			}
			out.WriteByte('\n')
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// Keys are changed by putting a new one in front: what an old one sealed is sealed anew, and then the old one can go. A
// server without the key says so instead of sending without a login.
func TestCredentialsFollowTheKeys(t *testing.T) {
	eachBureau(t, func(t *testing.T, b *bureau) {
		id := b.add("Books", "search")
		before, err := b.store.System(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		works := func(keys seal.Keys) error {
			c := *b.con
			c.Keys = keys
			s, err := b.store.System(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			sys, err := c.Connect(s)
			if err != nil {
				return err
			}
			_, err = sys.Identity(t.Context())
			return err
		}
		newer := seal.Random()
		both := append(newer[:1:1], b.keys...)
		if err := works(both); err != nil {
			t.Fatal(err)
		}
		if err := works(newer); err == nil || !strings.Contains(err.Error(), "key is not among this server's keys") {
			t.Errorf("without the key: %v", err)
		}
		c := *b.con
		c.Keys = both
		for _, want := range []int{1, 0} {
			if n, err := c.Reseal(t.Context()); err != nil || n != want {
				t.Errorf("sealed anew: %d, %v; want %d", n, err, want)
			}
		}
		if err := works(newer); err != nil {
			t.Errorf("after the old key is gone: %v", err)
		}
		after, err := b.store.System(t.Context(), id)
		if err != nil || automation.ConnectionMark(after) != automation.ConnectionMark(before) || after.Version != before.Version {
			t.Errorf("to seal anew is no change of the connection: %v", err)
		}
	})
}

// A secret that the operator gives to the server counts where none is stored.
func TestTheEnvironmentIsTheFallback(t *testing.T) {
	eachBureau(t, func(t *testing.T, b *bureau) {
		b.env["ONEFOLD_SYSTEM_ACME_BOOKS_TOKEN"] = goodToken
		id, tried, err := b.con.Add(t.Context(), boss, b.draft("Acme Books", "search", ""))
		if err != nil || tried.Problem != automation.TryWorks || id != "acme-books" {
			t.Fatalf("%q %+v %v", id, tried, err)
		}
		setup, err := b.con.Setup(t.Context(), boss, id)
		if err != nil || setup.Secrets["token"] != automation.SecretGiven {
			t.Errorf("%+v %v", setup.Secrets, err)
		}
		if sealed, err := b.store.Credentials(t.Context(), id); err != nil || sealed != "" {
			t.Errorf("what is given was stored: %v", err)
		}
		b.env["ONEFOLD_SYSTEM_ACME_BOOKS_TOKEN"] = "wrong"
		if tried, err := b.con.TryStored(t.Context(), boss, id); err != nil || tried.Problem != automation.TryBooks {
			t.Fatalf("%+v %v", tried, err)
		}
		d := b.draft("Acme Books", "search", goodToken)
		if tried, err := b.con.Change(t.Context(), boss, id, d); err != nil || tried.Problem != automation.TryWorks {
			t.Fatalf("%+v %v", tried, err)
		}
		if setup, err = b.con.Setup(t.Context(), boss, id); err != nil || setup.Secrets["token"] != automation.SecretStored {
			t.Errorf("what is stored does not win: %+v %v", setup.Secrets, err)
		}
	})
}

// A test of a system that lies says so.
func TestASearchThatCannotBeTrustedIsNotConnected(t *testing.T) {
	eachBureau(t, func(t *testing.T, b *bureau) {
		liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.HasSuffix(r.URL.Path, "/identity"):
				_, _ = io.WriteString(w, `{"books": "liar"}`)
			default:
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, `{"code": "forbidden", "reason": "no right to search"}`)
			}
		}))
		defer liar.Close()
		d := b.draft("Liar", "search", goodToken)
		d.Address = liar.URL
		if _, tried, err := b.con.Add(t.Context(), boss, d); err != nil || tried.Problem != automation.TrySearch || tried.Identity != "liar" {
			t.Fatalf("%+v %v", tried, err)
		}
	})
}
