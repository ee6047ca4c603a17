package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/web"
)

// pagesBeside asks for one page after the other while the engine works, and counts the figures as a server does.
func (b bench) pagesBeside(ctx context.Context, t target, w world, r *besideResult) error {
	items := 4 * r.worked
	o, err := b.ready(ctx, t, items)
	if err != nil {
		return err
	}
	defer o.close()
	s, err := store.Open(ctx, store.Config{URL: t.url, Node: "pages"})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // only read
	client, base, shut, err := signedIn(ctx, s)
	if err != nil {
		return err
	}
	defer shut()
	it := func(round int) pageItem { return w.item(1 + mix(round, 31)%w.n) }
	r.pages = []besidePage{
		{name: "attempts", path: "/attempts"}, {name: "attempts of a key", path: "/attempts?q=KEY"}, {name: "attempts of a system", path: "/attempts?system=shop"},
		{name: "attempts, unknown outcome", path: "/attempts?result=unknown"}, {name: "attempt", path: "/attempts/ID/1"},
		{name: "overview, a day", path: "/overview"}, {name: "overview, a year", path: "/overview?range=12m"}, {name: "item", path: "/items/ID"},
	}
	done := make(chan struct{})
	var took time.Duration
	g, ctx := errgroup.WithContext(ctx)
	defer watched(ctx, s)()
	counting, stop := context.WithCancel(ctx)
	g.Go(func() error {
		return review.FigureRunner{Store: s, Node: "pages", Zone: time.UTC, Log: slog.New(slog.DiscardHandler)}.Run(counting)
	})
	g.Go(func() (err error) {
		defer close(done)
		defer stop()
		took, err = o.work(ctx, items)
		return err
	})
	g.Go(func() error {
		for round := 0; ; round++ {
			for i := range r.pages {
				select {
				case <-done:
					return nil
				default:
				}
				p := &r.pages[i]
				start := time.Now()
				if err := get(ctx, client, base+place(p.path, it(round))); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				if round > 0 {
					p.took = append(p.took, time.Since(start))
				}
			}
		}
	})
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	r.while = float64(items) / took.Seconds()
	return nil
}

func place(path string, it pageItem) string {
	path = regexp.MustCompile("KEY").ReplaceAllString(path, url.QueryEscape(it.key))
	return regexp.MustCompile("ID").ReplaceAllString(path, strconv.Itoa(it.id))
}

func get(ctx context.Context, client *http.Client, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

var csrfField = regexp.MustCompile(`name="(csrf)" value="([^"]+)"`)

// signedIn starts the pages and signs in.
func signedIn(ctx context.Context, s *store.Store) (*http.Client, string, func(), error) {
	accounts, err := auth.New(auth.Config{Store: s})
	if err != nil {
		return nil, "", nil, err
	}
	if _, err := accounts.SetUp(ctx, paintLogin, "Bench", paintPassword, auth.Origin{}); err != nil && !errors.Is(err, auth.ErrSetUpDone) {
		return nil, "", nil, err
	}
	intake := automation.Intake{Store: s}
	h, err := web.New(web.Config{Store: s, Intake: intake, Importer: automation.Importer{Intake: intake}, Auth: accounts, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, "", nil, err
	}
	srv := httptest.NewServer(h)
	shut := func() {
		srv.CloseClientConnections()
		srv.Close()
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		shut()
		return nil, "", nil, err
	}
	client := &http.Client{Jar: jar}
	if err := signIn(ctx, client, srv.URL); err != nil {
		shut()
		return nil, "", nil, fmt.Errorf("sign in: %w", err)
	}
	return client, srv.URL, shut, nil
}

func signIn(ctx context.Context, client *http.Client, base string) error {
	res, err := client.Get(base + "/login")
	if err != nil {
		return err
	}
	page, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	token := csrfField.FindSubmatch(page)
	if token == nil {
		return errors.New("the page has no token")
	}
	res, err = client.PostForm(base+"/login", url.Values{"login": {paintLogin}, "password": {paintPassword}, string(token[1]): {string(token[2])}})
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	return get(ctx, client, base+"/attempts")
}
