package web

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// chrome opens a window of its own, with cookies of its own, in the one headless browser of all tests; or skips the test where
// none is installed, or fails where it is required.
func chrome(t *testing.T) context.Context {
	t.Helper()
	all, err := theBrowser()
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") != "true" && os.Getenv("ONEFOLD_REQUIRE_BROWSER") != "1" {
		t.Skip("no chromium on this machine")
	}
	if err != nil {
		t.Fatalf("no chromium: run scripts/install-packages: %v", err)
	}
	ctx, cancel := context.WithTimeout(all, 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the window lives as long as the context of the first steps
		t.Fatal(err)
	}
	return ctx
}

// theBrowser starts the browser once: that takes as long as many a test. It ends with the process.
var theBrowser = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium-headless-shell") // the same without windows
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		return nil, err
	}
	flags := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	flags = append(flags, chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-features", "Translate,BackForwardCache")) // a page out of memory sends no load event to wait for
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, _ := chromedp.NewContext(allocator) //nolint:govet // chromedp.Cancel does it
	endBrowser = func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has gone and its folder with it
		cancel()
	}
	return ctx, chromedp.Do(ctx)
})

var endBrowser = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	endBrowser()
	os.Exit(code)
}

type step = chromedp.Action[chromedp.Void]

func run(t *testing.T, ctx context.Context, steps ...step) {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	if err := chromedp.Do(limited, steps...); err != nil {
		page, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
		t.Fatalf("%v; the page is %s", err, page)
	}
}

// stepTime is how long a few steps may take on a busy machine.
const stepTime = 30 * time.Second

// ask runs an action and returns what it found.
func ask[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// signInOn signs in on the pages at the address.
func signInOn(address, login string) step {
	return chromedp.Steps(chromedp.Navigate(address+"/login"), chromedp.SetValue(chromedp.CSS(`input[name=login]`), login),
		chromedp.SetValue(chromedp.CSS(`input[name=password]`), testPassword), chromedp.Click(chromedp.CSS(`button.main`)),
		chromedp.WaitVisible(chromedp.CSS(`nav.tabs`)))
}

// look is one size and colour scheme that pages are looked at in.
type look struct {
	name   string
	width  int64
	scheme string
}

var looks = []look{{"wide-light", 1280, "light"}, {"wide-dark", 1280, "dark"}, {"narrow-light", 390, "light"}, {"narrow-dark", 390, "dark"}}

func (l look) set() step {
	return chromedp.Steps(chromedp.EmulateViewport(l.width, 900), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}})
		return err
	}))
}

// shoot opens a page in every look and checks that nothing is wider than the window and that everybody can use it. If a
// folder is named it writes screenshots there.
func shoot(t *testing.T, ctx context.Context, name, address string) {
	t.Helper()
	run(t, ctx, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("main")))
	for _, l := range looks {
		shootThis(t, ctx, name, l)
	}
}

// shootFully also checks the colours in the looks in which nothing else can differ.
func shootFully(t *testing.T, ctx context.Context, name, address string) {
	t.Helper()
	run(t, ctx, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("main")))
	for _, l := range looks {
		shootThisFully(t, ctx, name, l)
	}
}

func shootThisFully(t *testing.T, ctx context.Context, name string, l look) {
	t.Helper()
	shootThis(t, ctx, name, l)
	if !l.whole() {
		checkAccessible(t, tab{t, ctx}, name, l)
	}
}

// shootThis does what shoot does with the page that is open, in one look.
func shootThis(t *testing.T, ctx context.Context, name string, l look) {
	t.Helper()
	run(t, ctx, l.set())
	if tooWide := ask(t, ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - window.innerWidth`)); tooWide > 0 {
		t.Errorf("%s is %d pixels too wide for %s", name, tooWide, l.name)
	}
	if l.whole() {
		checkAccessible(t, tab{t, ctx}, name, l)
	}
	dir := os.Getenv("ONEFOLD_SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(dir+"/"+name+"-"+l.name+".png", ask(t, ctx, chromedp.FullScreenshot(100)), 0o600); err != nil {
		t.Fatal(err)
	}
}
