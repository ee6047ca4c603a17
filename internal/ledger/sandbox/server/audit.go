package server

import (
	"fmt"
	"os"
	"sort"
)

// EffectKey names what may happen at most once.
type EffectKey struct {
	Books     string
	Reference string // as asked
	Step      string // create or post
}

// Report is what a journal says.
type Report struct {
	Effects    map[EffectKey]int
	Records    int         // ever created
	Void       int         // voided or deleted since
	Duplicates []EffectKey // that happened more than once, sorted
}

// Audit reads a journal, also one that is being written or was torn by a kill.
func Audit(file string) (Report, error) {
	f, err := os.Open(file) //nolint:gosec // the file is the operator's choice
	if err != nil {
		return Report{}, fmt.Errorf("audit: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	effects, _, err := readEffects(f)
	if err != nil {
		return Report{}, fmt.Errorf("audit: %w", err)
	}
	return report(effects), nil
}

func report(effects []Effect) Report {
	r := Report{Effects: map[EffectKey]int{}}
	asked := map[string]string{} // by books and id
	for _, e := range effects {
		reference := e.Reference
		if e.Asked != "" {
			reference = e.Asked
		}
		switch e.Effect {
		case "created":
			r.Records++
			asked[e.Books+"/"+e.ID] = reference
			r.Effects[EffectKey{e.Books, reference, "create"}]++
		case "posted":
			if first, ok := asked[e.Books+"/"+e.ID]; ok {
				reference = first
			}
			r.Effects[EffectKey{e.Books, reference, "post"}]++
		case "voided", "deleted":
			r.Void++
		}
	}
	for key, n := range r.Effects {
		if n > 1 {
			r.Duplicates = append(r.Duplicates, key)
		}
	}
	sort.Slice(r.Duplicates, func(i, j int) bool {
		a, b := r.Duplicates[i], r.Duplicates[j]
		if a.Books != b.Books {
			return a.Books < b.Books
		}
		if a.Reference != b.Reference {
			return a.Reference < b.Reference
		}
		return a.Step < b.Step
	})
	return r
}
