package store

import (
	"context"
	"strings"

	"onefold/internal/review"
)

// filter writes the conditions of the filter. Side rows are read by scalar subqueries: a planner that made joins of
// them would read whole tables before the first row of a page.
func (l *listing) filter(ctx context.Context, s *Store) error {
	f := l.query.Filter
	var c strings.Builder
	text := func(column, value string) { // the second half names the partial index
		if value != "" {
			c.WriteString(" AND i." + column + " = " + l.add(value) + " AND i." + column + " <> ''")
		}
	}
	text("reason", string(f.Reason))
	if f.ErrorKind == review.NoErrorKind {
		c.WriteString(" AND i.error_kind = ''")
	} else {
		text("error_kind", f.ErrorKind)
	}
	if f.Assigned == review.AssignedNobody {
		c.WriteString(" AND i.assigned_to = ''")
	} else {
		text("assigned_to", f.Assigned)
	}
	if f.SystemID != "" {
		c.WriteString(" AND i.system_id = " + l.add(f.SystemID))
	}
	if f.Period != "" {
		c.WriteString(" AND i.period = " + l.add(f.Period))
	}
	if f.Automation != "" {
		c.WriteString(" AND i.automation = " + l.add(f.Automation))
	}
	if f.Source != "" {
		c.WriteString(" AND (SELECT 1 FROM item_keys k WHERE k.item_id = i.id AND k.source = " + l.add(f.Source) + ") = 1")
	}
	amount, err := l.amount("r.")
	if err != nil {
		return err
	}
	if amount != "" {
		c.WriteString(" AND (SELECT 1 FROM revisions r WHERE r.item_id = i.id AND r.number = i.revision" + amount + ") = 1")
	}
	if f.Overdue {
		now, err := s.Now(ctx)
		if err != nil {
			return err
		}
		c.WriteString(" AND i.settle_by < " + l.add(l.place(now)))
	}
	if !f.ChangedBefore.IsZero() {
		c.WriteString(" AND i.changed_at < " + l.add(l.place(f.ChangedBefore)))
	}
	l.where = c.String()
	return nil
}

// amount is the condition on a revision's total and currency.
func (l *listing) amount(alias string) (string, error) {
	return amountRange(l.db, l.query.Filter, alias, l.add)
}

// amountRange is the condition on a revision's total and currency; empty if the filter asks for none.
func amountRange(db searcher, f review.Filter, alias string, add func(any) string) (string, error) {
	var c string
	if f.Currency != "" {
		c += " AND " + alias + "currency = " + add(strings.ToUpper(f.Currency))
	}
	for _, end := range []struct{ sign, text string }{{">=", f.Least}, {"<=", f.Most}} {
		if end.text == "" {
			continue
		}
		n, err := parseUnits(end.text, end.sign == ">=")
		if err != nil {
			return "", err
		}
		c += " AND " + alias + db.total() + " " + end.sign + " " + db.amount(add, n)
	}
	return c, nil
}
