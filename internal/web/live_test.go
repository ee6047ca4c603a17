package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
)

// stream is one open page's stream of events.
type stream struct {
	t     *testing.T
	resp  *http.Response
	lines *bufio.Scanner
}

// open asks for a stream; each header is a name and a value.
func (b *browser) stream(t *testing.T, query string, headers ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), stepTime)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.site.URL+livePath+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &stream{t, resp, bufio.NewScanner(resp.Body)}
}

// next waits for an event; false if the stream has ended.
func (s *stream) next() (n news, ok bool) {
	s.t.Helper()
	for s.lines.Scan() {
		if data, found := strings.CutPrefix(s.lines.Text(), "data: "); found {
			if err := json.Unmarshal([]byte(data), &n); err != nil {
				s.t.Fatal(err)
			}
			return n, true
		}
	}
	return n, false
}

// beats waits for the next sign of life; false if the stream has ended.
func (s *stream) beats() bool {
	for s.lines.Scan() {
		if s.lines.Text() == ":" {
			return true
		}
	}
	return false
}

// version is what the page of an item knows.
func version(it work.Item) string { return strconv.FormatInt(it.Version, 10) }

var benActs = work.Actor{Kind: work.Person, ID: "900", Name: "Ben Stone", Roles: []work.Role{work.Operator}}

func TestStreamTellsWhatHappenedToAnItem(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One("INV-2026-11-ACME")
	ada := s.signIn("ada").stream(t, "?item=1&knows="+version(w.Get(id)))
	if got := ada.resp.Header; !strings.HasPrefix(got.Get("Content-Type"), "text/event-stream") || got.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", got)
	}
	w.One("INV-OTHER") // nothing of hers
	it := w.Happen(id, work.Hold{By: benActs, Note: "The customer has called"})
	if n, ok := ada.next(); !ok || n.State != version(it) || !n.Colleague || n.Say != "Ben Stone acted 10:00: stopped it." {
		t.Errorf("%+v", n)
	}
	it = w.Happen(id, work.Check{By: benActs})
	if n, ok := ada.next(); !ok || n.State != version(it) || !n.Colleague {
		t.Errorf("%+v", n)
	}
}

// What happens between the making of a page and its listening must not be lost.
func TestStreamTellsWhatHappenedBeforeItBegan(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	id := w.One("INV-2026-11-ACME")
	was, b := version(w.Get(id)), s.signIn("ada")
	page := b.get("/?tab=all")
	_, mark, _ := strings.Cut(page.body, `data-mark="`)
	mark, _, _ = strings.Cut(mark, `"`)
	if mark == "" {
		t.Fatal("the page does not say what it knows")
	}
	it := w.Happen(id, work.Hold{By: ada, Note: "The customer has called"})
	if n, ok := b.stream(t, "?item=1&knows="+was).next(); !ok || n.State != version(it) {
		t.Errorf("the item's page: %+v", n)
	}
	if n, ok := b.stream(t, "?knows="+url.QueryEscape(mark)).next(); !ok || n.State == mark || n.State == "" {
		t.Errorf("the list: %+v", n)
	}
}

// Whoever leaves a page open over night has signed out in the morning, however often the page asked by itself.
func TestOpenPageDoesNotKeepTheSession(t *testing.T) {
	w := newWorld(t)
	beat := make(chan time.Time)
	s := newSite(t, Config{Store: w.Store, beat: beat, Auth: accounts(t, func(c *auth.Config) { c.Now = w.Clock })})
	id := w.One("INV-2026-11-ACME")
	b := s.signIn("ada")
	open := b.stream(t, "?item=1&knows="+version(w.Get(id)))
	for range 5 { // 100 minutes
		w.Later(20 * time.Minute)
		beat <- time.Time{}
		if !open.beats() {
			t.Fatal("the stream ended before the session")
		}
		if a := b.with(http.MethodGet, itemPath(id), nil, liveHeader, "1"); a.status != http.StatusOK || a.header.Get("Set-Cookie") != "" {
			t.Fatalf("%d %q", a.status, a.header.Get("Set-Cookie"))
		}
	}
	w.Later(20 * time.Minute)
	beat <- time.Time{}
	if open.beats() {
		t.Error("the stream goes on in a session that is over")
	}
	if a := b.with(http.MethodGet, itemPath(id), nil, liveHeader, "1"); !strings.HasPrefix(a.location, "/login") {
		t.Errorf("the page is still shown: %d", a.status)
	}
	if a := b.with(http.MethodGet, livePath, nil, "Accept", "text/event-stream"); !strings.HasPrefix(a.location, "/login") {
		t.Errorf("another stream began: %d", a.status)
	}
}

// A form never counts as the page's own doing: the header is for reading only.
func TestActKeepsTheSessionWhateverItSays(t *testing.T) {
	w, s := overnight(t)
	id := w.One("K")
	b := s.signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "hold"))
	form.Set("note", "The customer has called")
	w.Later(90 * time.Minute)
	if a := b.with(http.MethodPost, itemPath(id, "hold"), form, liveHeader, "1"); a.status != http.StatusSeeOther {
		t.Fatalf("%d", a.status)
	}
	w.Later(90 * time.Minute)
	if a := b.get("/"); a.status != http.StatusOK {
		t.Errorf("an act did not count as use: %d %s", a.status, a.location)
	}
}

func TestStreamEndsWithTheRightToRead(t *testing.T) {
	w := newWorld(t)
	for name, end := range map[string]func(*auth.Auth, *browser, auth.User) error{
		"signed out": func(_ *auth.Auth, b *browser, _ auth.User) error {
			b.post("/logout", b.get("/").form("/logout"))
			return nil
		},
		"signed out everywhere by an admin": func(a *auth.Auth, _ *browser, u auth.User) error {
			_, err := a.RevokeSessions(t.Context(), boss, auth.Origin{}, u.ID, 0)
			return err
		},
		"disabled": func(a *auth.Auth, _ *browser, u auth.User) error {
			_, err := a.SetDisabled(t.Context(), boss, auth.Origin{}, u.ID, true)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			beat := make(chan time.Time)
			people := accounts(t)
			s := newSite(t, Config{Store: w.Store, beat: beat, Auth: people})
			b := s.signIn("ada")
			open := b.stream(t, "")
			beat <- time.Time{}
			if !open.beats() {
				t.Fatal("it does not begin")
			}
			u, err := people.UserByLogin(t.Context(), boss, "ada")
			if err != nil {
				t.Fatal(err)
			}
			if err := end(people, b, u); err != nil {
				t.Fatal(err)
			}
			beat <- time.Time{}
			if open.beats() {
				t.Error("it goes on")
			}
		})
	}
}

// Another site must not learn when something happens here.
func TestStreamIsForOwnPages(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("ada")
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://elsewhere.example"}} {
		if got := b.stream(t, "", headers...).resp; got.StatusCode != http.StatusForbidden || got.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v: %d", headers, got.StatusCode)
		}
	}
	for _, query := range []string{"?item=0", "?item=-1", "?item=x", "?item=99999999999999999999"} {
		if got := b.stream(t, query).resp; got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", query, got.StatusCode)
		}
	}
}

func TestOnePersonCannotTakeAllStreams(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	ada, ben := s.signIn("ada"), s.signIn("ben")
	var open []*stream
	for range streamsOfOne {
		st := ada.stream(t, "")
		if st.resp.StatusCode != http.StatusOK {
			t.Fatalf("%d after %d", st.resp.StatusCode, len(open))
		}
		open = append(open, st)
	}
	if got := ada.stream(t, "").resp; got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %d", got.StatusCode)
	}
	if got := ben.stream(t, "").resp.StatusCode; got != http.StatusOK {
		t.Errorf("a colleague: %d", got)
	}
	open[0].resp.Body.Close()
	for i := 0; ada.stream(t, "").resp.StatusCode != http.StatusOK; i++ { // the server notices that the page is gone
		if i == 1000 {
			t.Fatal("a closed page's place stays taken")
		}
	}
}

// Closing the server must not wait for pages that people left open.
func TestShutdownEndsStreams(t *testing.T) {
	w := newWorld(t)
	h, err := New(Config{Store: w.Store, Auth: accounts(t), Intake: noIntake{}, Importer: noImporter{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	srv := Server("", h)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- srv.Serve(listener) }()
	s := newSite(t, Config{Store: w.Store})
	s.URL = "http://" + listener.Addr().String()
	open := s.signIn("ada").stream(t, "")
	if !open.lines.Scan() {
		t.Fatal("it does not begin")
	}
	ctx, cancel := context.WithTimeout(t.Context(), stepTime)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		t.Errorf("the server waited for the stream: %v", err)
	}
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if rest, err := io.ReadAll(open.resp.Body); err != nil {
		t.Errorf("the stream broke off after %q: %v", rest, err)
	}
}

// One look serves all pages; nobody there, none is made; a page hears the newest state, once.
func TestHubLooksOnceForAll(t *testing.T) {
	looks, state := 0, "a"
	var asked []int64
	h := newHub(func(_ context.Context, items []int64) (review.Mark, error) {
		looks, asked = looks+1, items
		return review.Mark{All: state, Items: map[int64]int64{7: 70}}, nil
	}, slog.New(slog.DiscardHandler))
	h.every = 0
	var pages []*openPage
	for i := range 6 {
		p, err := h.join(strconv.Itoa(i), int64(i%3)*7, "a") // 0, 7 and 14, which is no item
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p)
	}
	heard := func() (n int) {
		for _, p := range pages {
			select {
			case <-p.news:
				n++
			default:
			}
		}
		return n
	}
	h.look(t.Context())
	if looks != 1 || len(asked) != 2 || heard() != 2 {
		t.Errorf("%d looks at %v", looks, asked)
	}
	state = "b"
	h.look(t.Context())
	state = "c"
	h.look(t.Context())
	h.look(t.Context())
	if got := <-pages[0].news; got != "c" || heard() != 1 {
		t.Errorf("%q is not the newest", got)
	}
	for _, p := range pages {
		h.leave(p)
	}
	if len(h.pages) != 0 || len(h.people) != 0 || h.stop != nil {
		t.Error("somebody is left")
	}
}
