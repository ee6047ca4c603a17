package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
)

// failingSearch fails from its nth page on.
type failingSearch struct {
	Store
	after int
}

func (f *failingSearch) Search(ctx context.Context, q review.Query) (review.Page, error) {
	if f.after--; f.after < 0 {
		return review.Page{}, errors.New("pq: secret detail")
	}
	return f.Store.Search(ctx, q)
}

// Nobody must take a part of the list for the whole.
func TestABrokenExportLooksBroken(t *testing.T) {
	w := newWorld(t)
	w.Put("Acme", rt.Money(t, "1", "EUR"), numbered("INV-2026-11-", 450)...)
	for pages, whole := range map[int]bool{0: false, 1: false, 2: false, 100: true} {
		s := newSite(t, Config{Store: &failingSearch{w.Store, pages}})
		b := s.signIn("vera")
		r, err := http.NewRequest(http.MethodGet, s.URL+"/export.csv?tab=all", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := b.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if strings.Contains(string(body), "secret") {
			t.Errorf("after %d pages it tells too much", pages)
		}
		good := err == nil && resp.StatusCode == http.StatusOK
		if good != whole || pages == 0 && (resp.StatusCode != http.StatusInternalServerError || resp.Header.Get("Content-Disposition") != "" || !strings.Contains(string(body), "<h1>")) {
			t.Errorf("after %d pages: %d, %v, %d bytes", pages, resp.StatusCode, err, len(body))
		}
	}
}

func BenchmarkExport(b *testing.B) {
	w := newWorld(b)
	for keys := range slices.Chunk(numbered("INV-2026-11-", 20_000), 500) { // as an import records them
		w.Put("Acme", rt.Money(b, "1", "EUR"), keys...)
		w.Later(time.Second)
	}
	in := newSite(b, Config{Store: w.Store}).signIn("vera")
	for b.Loop() {
		if a := in.get("/export.csv?tab=all"); strings.Count(a.body, "\n") != 20_001 {
			b.Fatal(a.status, strings.Count(a.body, "\n"))
		}
	}
}
