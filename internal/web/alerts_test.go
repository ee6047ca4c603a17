package web

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
)

func TestTrial20_TheAlertIsOnTheList(t *testing.T) {
	w := newWorld(t)
	w.One("INV-1")
	w.Later(25 * time.Hour)
	watch := automation.Watch{Store: w.Store, Log: slog.New(slog.DiscardHandler)}
	if n, err := watch.RunOnce(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d alerts, %v", n, err)
	}
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	for _, path := range []string{"/", "/?tab=all"} {
		a := b.get(path)
		if a.status != http.StatusOK || !strings.Contains(a.visible(), "1 not settled in time") || !strings.Contains(a.body, `href="/?tab=all"`) {
			t.Errorf("%s does not tell that an item is overdue: %s", path, a.visible())
		}
	}
}
