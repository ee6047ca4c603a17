package store_test

import (
	"testing"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

func TestSearchUnderstandsAmounts(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		of := func(key, number, code string) {
			total, err := currency.NewAmount(number, code)
			must(t, err)
			record(t, s, key, func(n *work.New) { n.Invoice.Total, n.Invoice.Lines = total, nil })
		}
		of("A", "1234.50", "EUR")
		of("B", "129.00", "EUR")
		of("C", "129.00", "USD")
		of("D", "1234.00", "EUR")
		of("E", "1.234", "KWD")
		of("F", "0.05", "EUR")
		of("G", "99999999999999.99", "EUR")
		of("77", "5.00", "EUR")
		of("X-1", "77.00", "EUR")
		of("7700", "6.00", "EUR")
		for _, text := range []string{"1,234.50", "1.234,50", "1234.5", "1 234,50", "1'234.50", "1\u00a0234,50", " 1234,5 ", "€1,234.50", "EUR 1234.50", "1.234,50 €", "1234.50eur"} {
			wantFound(t, s, text, "A", review.HowAmount)
		}
		wantFound(t, s, "129", "C B", review.HowAmount)
		wantFound(t, s, "EUR 129", "B", review.HowAmount)
		wantFound(t, s, "129 €", "B", review.HowAmount)
		wantFound(t, s, "$129", "C", review.HowAmount)
		wantFound(t, s, "129,00 usd", "C", review.HowAmount)
		wantFound(t, s, "1,234", "E D", review.HowAmount) // either is meant
		wantFound(t, s, "1.234", "E D", review.HowAmount)
		wantFound(t, s, "0,05", "F", review.HowAmount)
		wantFound(t, s, "99,999,999,999,999.99", "G", review.HowAmount)
		wantFound(t, s, "77", "77", review.HowExact) // a key always wins
		wantFound(t, s, "770", "7700", review.HowPrefix)
		for _, text := range []string{"129 CHF", "0129", "00129", "129.001", "1,2,9", "12,34.50", "1234.5.0", "-129", "1e2", "129 EUR EUR", "CHF", "9999999999999999999999999999999999999"} {
			wantFound(t, s, text, "", review.HowNone)
		}
	})
}

// An amount is searched as it is now, and its filter is exact beyond what a float can hold.
func TestAmountsAreThoseOfTheRevision(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		it := record(t, s, "A", func(n *work.New) { n.Invoice.Total, _ = currency.NewAmount("90000000000000.01", "EUR") })
		q := review.Query{CompanyID: 1, Limit: 5}
		for _, w := range []struct {
			least, most string
			want        int
		}{{"90000000000000.01", "90000000000000.01", 1}, {"90000000000000.02", "", 0}, {"", "90000000000000.00", 0}, {"90000000000000.0101", "", 0}} {
			q.Filter = review.Filter{Least: w.least, Most: w.most}
			page, err := s.Search(t.Context(), q)
			must(t, err)
			if len(page.Items) != w.want {
				t.Errorf("%+v: %d rows, want %d", w, len(page.Items), w.want)
			}
		}
		for _, bad := range []string{"ten", "1,50", "1e3", "NaN", "--1", "1.", "1' OR '1'='1"} {
			q.Filter = review.Filter{Least: bad}
			if _, err := s.Search(t.Context(), q); err == nil {
				t.Errorf("the amount %q was taken", bad)
			}
		}
		changed := it.Invoice
		changed.Total, _ = currency.NewAmount("7.00", "EUR")
		if _, err := apply(t, s, it.ID, work.Hold{By: ada, Note: "a wrong amount"}); err != nil {
			t.Fatal(err)
		}
		if _, err := apply(t, s, it.ID, work.Correct{By: ada, Invoice: changed}); err != nil {
			t.Fatal(err)
		}
		wantFound(t, s, "7.00", "A", review.HowAmount)
		wantFound(t, s, "90000000000000.01", "", review.HowNone)
	})
}
