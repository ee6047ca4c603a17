package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"onefold/internal/review"
)

// mostHits is the largest number of matches that a page is made from.
var mostHits = 5000

// manyHits is how many matches are too many to make a page from: so many rows match that a walk down the list sooner
// meets a page full. A match costs about twice what a row of a walk does.
func (s *Store) manyHits(ctx context.Context) (int, error) {
	items, err := s.lastID(ctx)
	const page, cost = 50, 2
	return min(int(math.Sqrt(float64(page*items/cost))), mostHits), err
}

// The newest documents tell whether very many match: then no index has to be asked for all of them.
const (
	sampleDocuments = 1000
	sampleMany      = 10
)

// A text of fewer characters is in no index and says little: it is looked for in the newest rows only, and not for more
// than a few of them.
const shortText = 3

var (
	newestRows int64 = 20_000
	newestHits       = 300
)

func short(w wanted) bool { return utf8.RuneCountInString(w.folded) < shortText }

// often reports whether a condition on the newest rows, from a statement, is met so often that a walk finds many.
func (s *Store) often(ctx context.Context, newest, condition string, args ...any) (bool, error) {
	var n int
	err := s.row(ctx, "SELECT count(*) FROM ("+newest+" DESC LIMIT "+strconv.Itoa(sampleDocuments)+") n WHERE "+condition, args, &n)
	return n >= sampleMany, err
}

// aim is what a search is made for: so many ids at most; a count has no use for a condition as long as there are ids.
type aim struct {
	many   int
	count  bool
	period string // only of this month, which all steps of a document share; empty: any
}

// match finds what matches in one way; everything if nothing does.
func (s *Store) match(ctx context.Context, how review.How, company int64, w wanted, to aim) (match, error) {
	switch how {
	case review.HowExact:
		const known = "external_id <> '' AND status IN ('confirmed', 'resolved')"
		hits, err := s.ids(ctx, "SELECT item_id AS id FROM item_keys WHERE folded_key = ?2 AND company_id = ?1"+
			" UNION SELECT item_id FROM item_keys WHERE lower(reference) = ?3 AND +company_id = ?1"+
			" UNION SELECT id FROM items WHERE lower(external_id) = ?3 AND company_id = ?1 AND "+known+
			" UNION SELECT id FROM items WHERE lower(external_number) = ?3 AND external_number <> '' AND company_id = ?1", company, w.folded, w.plain)
		return match{hits: hits}, err
	case review.HowAmount:
		return s.matchAmount(ctx, company, w, to)
	case review.HowPrefix:
		return s.matchPrefix(ctx, company, w, to)
	default:
		return s.matchPart(ctx, company, w, to)
	}
}

// orMany is the hits, or the condition if they are too many.
func orMany(hits []int64, err error, many int, condition func(add func(any) string) string) (match, error) {
	if err == nil && len(hits) > many {
		return match{hits: hits, condition: condition}, nil
	}
	return match{hits: hits}, err
}

// inDocument is a condition on some step of the document of items i: on the row itself, or on any step if there are more.
// The condition is on a step's keys o and state e. What is not there is false and not NULL: after that AND would go on. One
// table in each subquery: a join is planned for each of the many branches of a list.
func inDocument(itself, condition string) string {
	return " AND ((SELECT 1 FROM " + itself + " LIMIT 1) IS NOT NULL" +
		" OR (i.previous_id IS NOT NULL OR (SELECT 1 FROM items n WHERE n.previous_id = i.id LIMIT 1) IS NOT NULL) AND (SELECT 1 FROM item_keys m" +
		" WHERE m.item_id = i.id AND (SELECT 1 FROM item_keys o WHERE o.folded_key = m.folded_key AND o.company_id = m.company_id AND o.automation = m.automation" +
		" AND (SELECT 1 FROM items e WHERE e.id = o.item_id AND " + condition + ") IS NOT NULL LIMIT 1) IS NOT NULL) IS NOT NULL)"
}

// matchAmount finds items whose amount, as it is now, is one of those wanted. It is the amount that the list shows: not that of
// another step of the document.
func (s *Store) matchAmount(ctx context.Context, company int64, w wanted, to aim) (match, error) {
	if len(w.amounts) == 0 {
		return match{}, nil
	}
	currencies, err := w.currencies, error(nil)
	if len(currencies) == 0 {
		if currencies, err = s.currencies(ctx); err != nil || len(currencies) == 0 {
			return match{}, err
		}
	}
	db, b := s.db.search(), &pageQuery{args: []any{company}}
	equals := func(add func(any) string, code string, amount units) string {
		return "currency = " + add(code) + " AND " + db.total() + " = " + db.amount(add, amount)
	}
	oneOf := func(add func(any) string) string {
		var each []string
		for _, amount := range w.amounts {
			for _, code := range currencies {
				each = append(each, equals(add, code, amount))
			}
		}
		return "(" + strings.Join(each, " OR ") + ")"
	}
	condition := func(add func(any) string) string {
		return " AND (SELECT 1 FROM revisions r WHERE r.item_id = i.id AND " + db.oneAmount(len(currencies)*len(w.amounts)) + " = i.revision AND " + oneOf(add) + " LIMIT 1) = 1"
	}
	if !to.count {
		sample := &pageQuery{}
		equal := oneOf(sample.add)
		if many, err := s.often(ctx, "SELECT currency, "+db.total()+" FROM revisions ORDER BY item_id", equal, sample.args...); err != nil || many {
			return match{condition: condition}, err
		}
	}
	var branches []string
	for _, amount := range w.amounts {
		for _, code := range currencies {
			branches = append(branches, "SELECT item_id, number FROM revisions WHERE "+equals(b.add, code, amount))
		}
	}
	hits, err := s.ids(ctx, "SELECT r.item_id FROM ("+strings.Join(branches, " UNION ALL ")+") r WHERE (SELECT 1 FROM items i WHERE i.id = r.item_id"+
		" AND i.revision = r.number AND i.company_id = ?1) = 1 LIMIT "+strconv.Itoa(to.many+1), b.args...)
	m, err := orMany(hits, err, to.many, condition)
	m.own = true
	return m, err
}

// matchPrefix finds keys, references, ids and numbers that begin with the text.
func (s *Store) matchPrefix(ctx context.Context, company int64, w wanted, to aim) (match, error) {
	const last = "\U0010FFFF"
	const known = " <> '' AND status IN ('confirmed', 'resolved')"
	some := func(text string) string {
		return "SELECT id FROM (" + text + " LIMIT " + strconv.Itoa(to.many+1) + ") h"
	}
	hits, err := s.ids(ctx, some("SELECT item_id AS id FROM item_keys WHERE folded_key >= ?2 AND folded_key < ?4 AND +company_id = ?1")+
		" UNION "+some("SELECT item_id AS id FROM item_keys WHERE lower(reference) >= ?3 AND lower(reference) < ?5 AND +company_id = ?1")+
		" UNION "+some("SELECT id FROM items WHERE lower(external_id) >= ?3 AND lower(external_id) < ?5 AND +company_id = ?1 AND external_id"+known)+
		" UNION "+some("SELECT id FROM items WHERE lower(external_number) >= ?3 AND lower(external_number) < ?5 AND external_number <> '' AND +company_id = ?1"),
		company, w.folded, w.plain, w.folded+last, w.plain+last)
	if err == nil && len(hits) > newestHits && len(hits) <= to.many && short(w) {
		slices.SortFunc(hits, func(a, b int64) int { return cmp.Compare(b, a) })
		return match{hits: hits[:newestHits], newest: true}, nil
	}
	return orMany(hits, err, to.many, func(add func(any) string) string {
		within := func(column, from string) string {
			return "(" + column + " >= " + add(from) + " AND " + column + " < " + add(from+last) + ")"
		}
		begins := "(" + within("o.folded_key", w.folded) + " OR " + within("lower(o.reference)", w.plain) +
			" OR e.external_id <> '' AND e.status IN ('confirmed', 'resolved') AND " + within("lower(e.external_id)", w.plain) +
			" OR e.external_number <> '' AND " + within("lower(e.external_number)", w.plain) + ")"
		return inDocument("item_keys o WHERE o.item_id = i.id AND "+strings.NewReplacer("e.ext", "i.ext", "e.status", "i.status").Replace(begins), begins)
	})
}

// matchPart finds documents that contain the text.
func (s *Store) matchPart(ctx context.Context, company int64, w wanted, to aim) (match, error) {
	db := s.db.search()
	from, id, words := db.words()
	condition := func(add func(any) string) string {
		contains := db.contains("w."+words, add(w.folded))
		return inDocument(from+" w WHERE w."+id+" = i.id AND "+contains, "(SELECT 1 FROM "+from+" w WHERE w."+id+" = o.item_id AND "+contains+") IS NOT NULL")
	}
	if short(w) {
		return s.matchNewest(ctx, company, w)
	}
	if !to.count {
		many, err := s.often(ctx, "SELECT "+words+" FROM "+from+" ORDER BY "+id, db.contains("n."+words, "?1"), w.folded)
		if err != nil || many {
			return match{condition: condition}, err
		}
	}
	b := &pageQuery{}
	statement := "SELECT " + db.id() + " AS id FROM item_search WHERE " + db.part(b.add, w.folded)
	if to.period != "" {
		first, last, err := s.idsOfPeriod(ctx, company, to.period)
		if err != nil {
			return match{}, err
		}
		statement = "SELECT w.id FROM (" + statement + " AND " + db.id() + " BETWEEN " + b.add(first) + " AND " + b.add(last) + ") w" +
			" WHERE (SELECT 1 FROM item_keys k WHERE k.item_id = w.id AND k.company_id = " + b.add(company) + " AND k.period = " + b.add(to.period) + ") = 1"
	} // else whose items they are is asked of each row that is shown
	hits, err := s.ids(ctx, statement+" LIMIT "+strconv.Itoa(to.many+1), b.args...)
	return orMany(hits, err, to.many, condition)
}

// idsOfPeriod are the lowest and the highest id of a month's items; without any, there is none between them.
func (s *Store) idsOfPeriod(ctx context.Context, company int64, period string) (first, last int64, err error) {
	automations, err := s.Automations(ctx, company)
	if err != nil || len(automations) == 0 {
		return 0, -1, err
	}
	b := &pageQuery{}
	of, month := b.add(company), b.add(period)
	ids := union(automations, func(automation string) string {
		text := " FROM item_keys WHERE company_id = " + of + " AND period = " + month + " AND automation = " + b.add(automation) + ")"
		return "SELECT (SELECT min(item_id)" + text + " AS item_id UNION ALL SELECT (SELECT max(item_id)" + text
	})
	err = s.row(ctx, "SELECT coalesce(min(item_id), 0), coalesce(max(item_id), -1) FROM ("+ids+") i", b.args, &first, &last)
	return first, last, err
}

// matchNewest looks for a short text in the newest rows, until it has found enough of them.
func (s *Store) matchNewest(ctx context.Context, company int64, w wanted) (match, error) {
	last, err := s.lastID(ctx)
	if err != nil {
		return match{}, err
	}
	b, id := &pageQuery{}, s.db.search().id()
	hits, err := s.ids(ctx, "SELECT w.id FROM (SELECT "+id+" AS id FROM item_search WHERE "+s.db.search().part(b.add, w.folded)+" AND "+id+" > "+strconv.FormatInt(last-newestRows, 10)+
		" ORDER BY "+id+" DESC LIMIT "+strconv.Itoa(newestHits)+") w WHERE (SELECT 1 FROM item_keys k WHERE k.item_id = w.id AND k.company_id = "+b.add(company)+") = 1", b.args...)
	return match{hits: hits, newest: last > newestRows || len(hits) >= newestHits}, err
}
