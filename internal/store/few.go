package store

import (
	"context"
	"math"
	"strconv"
	"strings"

	"onefold/internal/review"
)

// fewMost is the largest number of ids from which a list is made.
var fewMost int64 = 8000

// fewIDs is how many candidates are cheaper to look at than a walk down the list: of more, a walk over all items meets a
// page full sooner. With a month the walk is over its items only.
func (s *Store) fewIDs(ctx context.Context, f review.Filter) (int64, error) {
	items, err := s.lastID(ctx)
	if err != nil {
		return 0, err
	}
	const page, year, indexed = 50, 12, 1500
	most := fewMost
	if f.Period != "" {
		items /= year
	}
	if f.Source == "" && f.Least == "" && f.Most == "" && f.Currency == "" {
		most = min(most, indexed) // the walk has an index too, and passes only open rows in vain
	}
	return min(int64(math.Sqrt(float64(page*items))), most), nil
}

// lastID is the id of the newest item: about as many there are.
func (s *Store) lastID(ctx context.Context) (id int64, err error) {
	return id, s.row(ctx, "SELECT coalesce(max(item_id), 0) FROM item_keys", nil, &id)
}

// candidates is a statement for the ids of all items that can meet one condition of a filter, and of some that do not.
type candidates struct {
	text func(add func(any) string) string
}

// few are the ids from which a list is best made: the smallest set of candidates, if it is small; else nil.
func (s *Store) few(ctx context.Context, q review.Query) (*candidates, error) {
	sets, err := s.candidates(ctx, q)
	if err != nil || len(sets) == 0 {
		return nil, err
	}
	most, err := s.fewIDs(ctx, q.Filter)
	if err != nil {
		return nil, err
	}
	b := &pageQuery{}
	counts, dest := make([]int64, len(sets)), make([]any, len(sets))
	columns := make([]string, len(sets))
	for i, set := range sets {
		columns[i] = "(SELECT count(*) FROM (SELECT 1 FROM (" + set.text(b.add) + ") c LIMIT " + strconv.FormatInt(most+1, 10) + ") n)"
		dest[i] = &counts[i]
	}
	if err := s.row(ctx, "SELECT "+strings.Join(columns, ", "), b.args, dest...); err != nil {
		return nil, err
	}
	var best *candidates
	least := most + 1
	for i, n := range counts {
		if n < least {
			best, least = &sets[i], n
		}
	}
	return best, nil
}

// candidates are the sets that the indexes beside the state can name.
func (s *Store) candidates(ctx context.Context, q review.Query) (sets []candidates, err error) {
	f, company := q.Filter, q.CompanyID
	set := func(text func(add func(any) string) string) { sets = append(sets, candidates{text}) }
	if f.Source != "" {
		set(func(add func(any) string) string {
			return "SELECT item_id FROM item_keys WHERE source = " + add(f.Source) + " AND source <> ''"
		})
	}
	if f.Period != "" {
		set(func(add func(any) string) string {
			text := "SELECT item_id FROM item_keys WHERE company_id = " + add(company) + " AND period = " + add(f.Period)
			if f.Automation != "" {
				text += " AND automation = " + add(f.Automation)
			}
			return text
		})
	}
	if f.Automation != "" || f.SystemID != "" {
		automations := []string{f.Automation}
		if f.Automation == "" {
			if automations, err = s.Automations(ctx, company); err != nil {
				return nil, err
			}
		}
		set(func(add func(any) string) string {
			return union(automations, func(a string) string {
				text := "SELECT item_id FROM item_keys WHERE company_id = " + add(company) + " AND automation = " + add(a)
				if f.SystemID != "" {
					text += " AND system_id = " + add(f.SystemID)
				}
				return text
			})
		})
	}
	if f.Least != "" || f.Most != "" || f.Currency != "" {
		currencies := []string{strings.ToUpper(f.Currency)}
		if f.Currency == "" {
			if currencies, err = s.currencies(ctx); err != nil {
				return nil, err
			}
		}
		set(func(add func(any) string) string {
			return union(currencies, func(code string) string {
				in := f
				in.Currency = code
				amount, _ := amountRange(s.db.search(), in, "", add) // the listing has read it already
				return "SELECT item_id FROM revisions WHERE " + strings.TrimPrefix(amount, " AND ")
			})
		})
	}
	return sets, nil
}

// union is one statement of one branch for each value; of none there is no row.
func union(values []string, branch func(string) string) string {
	if len(values) == 0 {
		return "SELECT item_id FROM item_keys WHERE item_id < 0"
	}
	branches := make([]string, len(values))
	for i, v := range values {
		branches[i] = branch(v)
	}
	return strings.Join(branches, " UNION ALL ")
}

// Automations returns the names of all automations that have items, in order. Only one row of each is read.
func (s *Store) Automations(ctx context.Context, companyID int64) ([]string, error) {
	return s.texts(ctx, "WITH RECURSIVE a (name) AS (SELECT min(automation) FROM item_keys WHERE company_id = ?1"+
		" UNION ALL SELECT (SELECT min(k.automation) FROM item_keys k WHERE k.company_id = ?1 AND k.automation > a.name) FROM a WHERE a.name IS NOT NULL)"+
		" SELECT name FROM a WHERE name IS NOT NULL ORDER BY name", companyID)
}

// currencies are the codes of all currencies that amounts are in.
func (s *Store) currencies(ctx context.Context) ([]string, error) {
	return s.texts(ctx, "WITH RECURSIVE a (name) AS (SELECT min(currency) FROM revisions"+
		" UNION ALL SELECT (SELECT min(r.currency) FROM revisions r WHERE r.currency > a.name) FROM a WHERE a.name IS NOT NULL)"+
		" SELECT name FROM a WHERE name IS NOT NULL ORDER BY name")
}
