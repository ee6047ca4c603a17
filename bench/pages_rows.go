package main

import (
	"fmt"
	"strings"
	"time"

	"onefold/internal/work"
)

// tableRows is how items become rows of one table; per rows for each item, numbered from 1.
type tableRows struct {
	name    string
	columns string
	per     int
	row     func(it pageItem, number int) []any
}

func (w world) tables(f filler) []tableRows {
	none := time.Time{}
	return []tableRows{
		{"item_keys", `item_id, company_id, automation, business_key, folded_key, step, steps, system_id, reference, idem_key, source, period,
			recorder_kind, recorder_id, recorder_name, recorded_at`, 1,
			func(it pageItem, _ int) []any {
				return []any{it.id, 1, it.automation, it.key, work.FoldKey(it.key), it.step, it.steps, it.system, it.reference, it.reference + "-" + it.step, it.source,
					it.period, "token", "1", "bench", f.at(it.recorded)}
			}},
		{"items", `id, company_id, system_id, step, previous_id, automation, period, revision, proposed, version, status, reason, attempts, open_attempt, open_kind,
			open_node, open_since, lease_until, before, sends, sends_used, lookups_used, unsettled, resent, misses, absent_by, positive, seen_id,
			seen_number, late_id, external_id, external_number, external_url, evidence, remark, identity, due_at, settle_by, look_asked, last_look,
			last_error, error_kind, last_try_at, changed_at, assigned_to`, 1,
			func(it pageItem, _ int) []any {
				var previous any
				if it.step == "post" {
					previous = it.document
				}
				open, since, lease, before := 0, none, none, ""
				if it.kind != "" {
					open, since, lease, before = 2, w.now, w.now.Add(time.Minute), "queued"
				}
				external, evidence := "", ""
				if it.number != "" {
					external, evidence = fmt.Sprintf("%08x-%08x", mix(it.id, 20)&0xffffffff, it.id), "answer"
				}
				due, settle := none, none
				switch it.status {
				case "queued", "pending", "failed":
					due = w.now.AddDate(10, 0, 0) // not while the engine is measured beside it
				}
				if it.number == "" {
					settle = it.changed.Add(24 * time.Hour)
				}
				return []any{it.id, 1, it.system, it.step, previous, it.automation, it.period, 1, 0, 3, it.status, it.reason, 2, open, it.kind, "", f.at(since), f.at(lease), before, 1, 1,
					1, "", false, 0, "", "", "", "", "", external, it.number, "", evidence, "", "bench", f.at(due), f.at(settle), "", "", it.errorKind, it.errorKind,
					f.at(it.changed), f.at(it.changed), it.assigned}
			}},
		{"revisions", "item_id, number, customer_id, customer_name, total, currency, invoice, fingerprint, made_by, made_at", 1,
			func(it pageItem, _ int) []any {
				total := fmt.Sprintf("%d.%02d", it.cents/100, it.cents%100)
				invoice := fmt.Sprintf(`{"customer_id":"C-%d","customer_name":%q,"total":{"number":%q,"currency":%q},"issue_date":"%s-28",`+
					`"lines":[{"description":"Subscription, %s","quantity":"1","unit_price":%q}]}`, it.document, it.customer, total, it.currency, it.period, it.period, total)
				return []any{it.id, 1, fmt.Sprintf("C-%d", it.document), it.customer, total, it.currency, invoice, fmt.Sprintf("%032x", it.id), "token:1 bench", f.at(it.recorded)}
			}},
		{"attempts", `item_id, number, kind, late_for, node, asked_by, revision, reference, idem_key, started_at, send_by, ended_at, outcome, finding, http_status,
			identity, external_id, request, response`, 2,
			func(it pageItem, number int) []any {
				kind, outcome, finding := "send", "accepted", ""
				if number == 2 {
					kind, outcome, finding = "find", "", "found_matching"
				}
				ended := it.changed
				if it.kind != "" && number == 2 {
					ended, outcome, finding, kind = none, "", "", it.kind
				}
				return []any{it.id, number, kind, 0, "node-1", "", 1, it.reference, it.reference, f.at(it.recorded), f.at(it.recorded.Add(5 * time.Second)), f.at(ended),
					outcome, finding, 200, "bench", "", `{"reference":"` + it.reference + `"}`, `{"id":"` + it.number + `","status":"AUTHORISED"}`}
			}},
		{"item_search", "item_id, words", 1,
			func(it pageItem, _ int) []any {
				return []any{it.id, strings.Join([]string{work.FoldKey(it.key), work.FoldKey(it.reference), work.FoldKey(it.customer), fmt.Sprintf("c-%d", it.document)}, "\n")}
			}},
	}
}
