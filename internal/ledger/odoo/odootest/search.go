package odootest

import (
	"encoding/json"
	"fmt"
	"slices"

	"onefold/internal/ledger/ledgertest"
)

// leaf is one condition of a domain.
type leaf struct {
	field, value string
	or           bool // this one or the next
}

// domain reads conditions that all must hold, with "|" in front of two of which one must; = only.
func domain(body json.RawMessage) (leaves []leaf, ok bool) {
	var parts []json.RawMessage
	if json.Unmarshal(body, &parts) != nil {
		return nil, false
	}
	or := false
	for _, p := range parts {
		if string(p) == `"|"` {
			or = true
			continue
		}
		var three []any
		if json.Unmarshal(p, &three) != nil || len(three) != 3 || three[1] != "=" {
			return nil, false
		}
		leaves = append(leaves, leaf{field: fmt.Sprint(three[0]), value: fmt.Sprint(three[2]), or: or})
		or = false
	}
	return leaves, true
}

func (m *move) meets(leaves []leaf) bool {
	has := map[string]string{"id": fmt.Sprint(m.id), "ref": m.ref, "move_type": m.kind, "company_id": fmt.Sprint(m.company)}
	for i := 0; i < len(leaves); i++ {
		l := leaves[i]
		holds := has[l.field] == l.value
		if l.or {
			i++
			holds = holds || has[leaves[i].field] == leaves[i].value
		}
		if !holds {
			return false
		}
	}
	return true
}

// search is search_read of account.move: record rules hide the rows of companies that are not in the context, a replica
// those that it has not got yet.
func (o *Odoo) search(q request, companies []int64, f ledgertest.Fault) (any, *exception) {
	leaves, ok := domain(q.named["domain"])
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
		if m.gone || m.other || !slices.Contains(companies, m.company) || m.since.Add(o.opts.Lag).After(o.clock()) || !m.meets(leaves) {
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
