package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/web"
	"onefold/internal/work"
)

// How the pages look to a browser: the time from the first byte to the first painted content, and what came over the
// line, of real pages on the databases that a run with -only pages has left.
const (
	paintRounds = 15
	paintBar    = 300.0     // milliseconds from the first byte to the painted page
	weightBar   = 100 * 1e3 // bytes of one page as it comes over the line, styles and scripts included, pictures not
)

// painted is what was measured of one page.
type painted struct {
	Page     string  `json:"page"`
	Database string  `json:"database"`
	Server   float64 `json:"first_byte_ms"` // from the request, at the 95th percentile
	Paint    float64 `json:"paint_ms"`      // from the first byte to the first painted content, likewise
	Page1    int     `json:"first_visit_bytes"`
	Weight   int     `json:"page_bytes"` // of the page alone
}

const (
	paintLogin    = "bench"
	paintPassword = "correct-Horse-battery-41"
)

// paint opens every kind of page in a headless Chromium.
func paint(ctx context.Context, url, database string, w world, report func(painted)) error {
	s, err := store.Open(ctx, store.Config{URL: url, Node: "bench"})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // only read
	accounts, err := auth.New(auth.Config{Store: s})
	if err != nil {
		return err
	}
	if _, err := accounts.SetUp(ctx, paintLogin, "Bench", paintPassword, auth.Origin{}); err != nil && !errors.Is(err, auth.ErrSetUpDone) {
		return err
	}
	intake := automation.Intake{Store: s}
	h, err := web.New(web.Config{Store: s, Intake: intake, Importer: automation.Importer{Intake: intake}, Auth: accounts, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	defer srv.CloseClientConnections()
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		return err
	}
	profile, err := os.MkdirTemp("", "onefold-paint")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile) //nolint:errcheck // a temporary folder
	flags := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(profile))
	ctx, cancel := chromedp.NewExecAllocator(ctx, flags...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	err = chromedp.Do(ctx, chromedp.Navigate(srv.URL+"/login"), chromedp.SetValue(chromedp.CSS(`input[name=login]`), paintLogin),
		chromedp.SetValue(chromedp.CSS(`input[name=password]`), paintPassword), chromedp.Click(chromedp.CSS(`button.main`)), chromedp.WaitVisible(chromedp.CSS(`nav.tabs`)))
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	pages, err := paintPages(ctx, s, w)
	if err != nil {
		return err
	}
	for _, p := range pages {
		one, err := paintOne(ctx, srv.URL, p.path)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		one.Page, one.Database = p.name, database
		report(one)
	}
	return nil
}

type paintPage struct{ name, path string }

func paintPages(ctx context.Context, s *store.Store, w world) ([]paintPage, error) {
	it := w.item(w.n / 2)
	sys, err := s.Systems(ctx)
	if err != nil || len(sys) == 0 {
		return nil, cmp.Or(err, errors.New("the database has no systems"))
	}
	found, err := review.New(s, 1).Search(ctx, work.Actor{Kind: work.Person, ID: "1", Roles: []work.Role{work.Admin}}, review.Query{Tab: review.TabReview, Limit: 1})
	if err != nil || len(found.Items) == 0 {
		return nil, cmp.Or(err, errors.New("nobody is needed in this database"))
	}
	return []paintPage{
		{"list, needs a person", "/?tab=review"}, {"list, all", "/?tab=all"}, {"list, finished", "/?tab=finished"},
		{"search, exact", "/?tab=all&q=" + it.key}, {"search, customer", "/?tab=all&q=acme"}, {"item in review", fmt.Sprintf("/items/%d", found.Items[0].ID)},
		{"item, confirmed", fmt.Sprintf("/items/%d", it.id)}, {"month", "/periods/" + it.period}, {"months", "/periods"}, {"systems", "/systems"},
		{"system", "/systems/" + sys[0].ID}, {"limits", "/systems/" + sys[0].ID + "/limits"}, {"automations", "/automations"}, {"plans", "/plans"},
		{"import", "/import"}, {"people", "/people"}, {"audit trail", "/audit"}, {"notices", "/notices"}, {"events", "/events"}, {"attempts", "/attempts"}, {"overview", "/overview"},
	}, nil
}

// entry is what the browser tells of a page.
type entry struct {
	Status          int
	Request, First  float64
	Paint           float64
	Page, Resources int
	Type            string
}

const entryScript = `(() => { const n = performance.getEntriesByType("navigation")[0], p = performance.getEntriesByName("first-contentful-paint")[0];
	return {Status: n.responseStatus, Request: n.requestStart, First: n.responseStart, Paint: p ? p.startTime : -1, Page: n.encodedBodySize,
		Resources: performance.getEntriesByType("resource").filter(r => ["link", "script", "css"].includes(r.initiatorType)).reduce((a, r) => a + r.encodedBodySize, 0)} })()`

func paintOne(ctx context.Context, base, path string) (painted, error) {
	var firsts, paints []float64
	var out painted
	for range paintRounds {
		one, cancel := context.WithTimeout(ctx, 30*time.Second)
		e, err := open(one, base+path)
		cancel()
		if err != nil {
			return out, err
		}
		if e.Status != 200 {
			return out, fmt.Errorf("%s answers %d", path, e.Status)
		}
		firsts, paints = append(firsts, e.First-e.Request), append(paints, e.Paint-e.First)
		out.Weight, out.Page1 = e.Page, e.Page+e.Resources
	}
	out.Server, out.Paint = round(quantile(firsts, 0.95), 1), round(quantile(paints, 0.95), 1)
	return out, nil
}

// open opens a page and returns what the browser tells of it once it is painted.
func open(ctx context.Context, address string) (e entry, err error) {
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return e, err
	}
	for {
		if e, err = chromedp.Run(ctx, chromedp.Evaluate[entry](entryScript)); err != nil || e.Paint >= 0 {
			return e, err
		}
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func quantile(list []float64, q float64) float64 {
	slices.Sort(list)
	return list[min(int(float64(len(list))*q), len(list)-1)]
}

// paintAll measures on both databases that the last run with -only pages has left.
func (b bench) paintAll(ctx context.Context, n int, report func(painted)) error {
	now := time.Now().UTC().Truncate(time.Hour)
	url, err := b.pagesURL()
	if err != nil {
		return err
	}
	if err := paint(ctx, url, "postgresql", world{n, now}, report); err != nil {
		return err
	}
	return paint(ctx, filepath.Join(os.TempDir(), "onefold-bench-pages.db"), "sqlite", world{n / 5, now}, report)
}

func reportPaint(w io.Writer, run func(report func(painted)) error) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PAGE\tDATABASE\tFIRST BYTE P95 MS\tTO PAINT P95 MS\tPAGE BYTES\tWITH STYLES AND SCRIPTS\t")
	over := 0
	err := run(func(p painted) {
		note := ""
		if p.Paint > paintBar || p.Page1 > weightBar {
			note, over = "over the bar", over+1
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%.1f\t%d\t%d\t%s\n", p.Page, p.Database, p.Server, p.Paint, p.Weight, p.Page1, note)
	})
	if err := errors.Join(err, t.Flush()); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d pages over %.0f ms from the first byte to the paint, or over %.0f kB\n", over, paintBar, weightBar/1e3)
	return nil
}
