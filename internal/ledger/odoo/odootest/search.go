package odootest

import (
	"encoding/json"
	"fmt"
	"slices"

	"onefold/internal/ledger/ledgertest"
)

// domain reads conditions in prefix notation: all must hold, "|" joins the next two; "=" only.
func domain(body json.RawMessage) (meets func(has map[string]string) bool, ok bool) {
	var parts []any
	if json.Unmarshal(body, &parts) != nil {
		return nil, false
	}
	for _, p := range parts {
		leaf, list := p.([]any)
		if p != "|" && (!list || len(leaf) != 3 || leaf[1] != "=") {
			return nil, false
		}
	}
	return func(has map[string]string) bool {
		rest, all := parts, true
		for len(rest) > 0 {
			var holds bool
			holds, rest = evaluate(rest, has)
			all = all && holds
		}
		return all
	}, true
}

func evaluate(parts []any, has map[string]string) (holds bool, rest []any) {
	if parts[0] == "|" {
		first, rest := evaluate(parts[1:], has)
		second, rest := evaluate(rest, has)
		return first || second, rest
	}
	leaf := parts[0].([]any)
	return has[fmt.Sprint(leaf[0])] == fmt.Sprint(leaf[2]), parts[1:]
}

func (m *move) has() map[string]string {
	return map[string]string{"id": fmt.Sprint(m.id), "ref": m.ref, "invoice_origin": m.origin, "move_type": m.kind, "company_id": fmt.Sprint(m.company)}
}

// search is search_read of account.move: record rules hide the rows of companies that are not in the context, a replica
// those that it has not got yet.
func (o *Odoo) search(q request, companies []int64, f ledgertest.Fault) (any, *exception) {
	meets, ok := domain(q.named["domain"])
	var offset, limit int
	_ = json.Unmarshal(q.named["offset"], &offset) // none: from the start
	_ = json.Unmarshal(q.named["limit"], &limit)   // none: all
	if !ok {
		return nil, userError("Invalid domain")
	}
	rows := []any{}
	if f == "search_empty" || f == "other_books" {
		return rows, nil
	}
	if f == "search_broken_page" && offset > 0 {
		return nil, userError("the search is being maintained")
	}
	for _, m := range o.moves {
		if m.gone || m.other || !slices.Contains(companies, m.company) || m.since.Add(o.opts.Lag).After(o.clock()) || !meets(m.has()) {
			continue
		}
		rows = append(rows, map[string]any{"id": m.id, "name": m.name, "ref": orFalse(m.ref), "partner_id": []any{m.partner, "A contact"},
			"amount_total": json.Number(m.total), "currency_id": []any{m.currency, currencies[m.currency]}, "company_id": []any{m.company, "Acme"}, "state": m.state})
	}
	if limit <= 0 {
		limit = len(rows)
	}
	if o.opts.PageSize > 0 {
		limit = min(limit, o.opts.PageSize)
	}
	from := min(offset, len(rows))
	return rows[from:min(from+limit, len(rows))], nil
}

func orFalse(s string) any {
	if s == "" {
		return false
	}
	return s
}
