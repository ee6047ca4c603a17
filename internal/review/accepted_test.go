package review_test

import (
	"testing"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// A difference that somebody let count is known at the next step, and still a person's decision there; another one is not.
func TestADifferenceThatWasAcceptedIsOfferedAtTheNextStep(t *testing.T) {
	for name, c := range map[string]struct {
		there string
		known bool
	}{"the same": {"1000.00", true}, "another": {"900.00", false}} {
		t.Run(name, func(t *testing.T) {
			w := rt.New(t, storetest.SQLite(t), func(sys *work.System) { sys.Steps = []string{"create", "post"} })
			s := review.New(w.Store, 1)
			id, rec := differing(t, w)
			if _, err := s.Act(t.Context(), ada, review.Resolve, seen(w, id), review.Input{Note: "a credit note follows", Reference: rec.Number, Differs: true}); err != nil {
				t.Fatal(err)
			}
			chain, err := s.Chain(t.Context(), ada, w.Get(id))
			if err != nil || len(chain) != 2 {
				t.Fatal(chain, err)
			}
			post := chain[1].ID
			if d, err := s.Detail(t.Context(), ben, post, review.Place{}); err != nil || d.Accepted != nil {
				t.Fatalf("nothing differs yet: %+v %v", d.Accepted, err)
			}
			rec.Total = rt.Money(t, c.there, "EUR")
			w.Send(post, rt.NoAnswer)
			w.Find(post, work.Lookup{Finding: work.FoundDifferent, Record: rec, Count: 1})
			d, err := s.Detail(t.Context(), ben, post, review.Place{})
			if err != nil || (d.Accepted != nil) != c.known {
				t.Fatalf("%+v %v", d.Accepted, err)
			}
			if c.known && (d.Accepted.Step != "create" || d.Accepted.Act.By.Name != ada.Name || d.Accepted.Act.Note != "a credit note follows") {
				t.Errorf("%+v", d.Accepted)
			}
			if _, err := s.Act(t.Context(), ben, review.Resolve, seen(w, post), review.Input{Note: "as before", Reference: rec.Number}); refusedAs(err) != review.RefusedDiffers {
				t.Errorf("it was taken over silently: %v, now %s", err, w.Get(post).Status)
			}
		})
	}
}
