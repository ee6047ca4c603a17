package store

import (
	"strings"
	"time"

	"onefold/internal/work"
)

// keyRow is the fixed part of an item.
type keyRow struct {
	item          *work.Item
	folded, steps string
}

func newKeyRow(it *work.Item) *keyRow {
	return &keyRow{item: it, folded: work.FoldKey(it.BusinessKey), steps: strings.Join(it.Steps, ",")}
}

var keysTable = table[keyRow]{"item_keys", []column[keyRow]{
	bigColumn("item_id", func(r *keyRow) *int64 { return &r.item.ID }),
	bigColumn("company_id", func(r *keyRow) *int64 { return &r.item.CompanyID }),
	textColumn("automation", func(r *keyRow) *string { return &r.item.Automation }),
	textColumn("business_key", func(r *keyRow) *string { return &r.item.BusinessKey }),
	textColumn("folded_key", func(r *keyRow) *string { return &r.folded }),
	textColumn("step", func(r *keyRow) *string { return &r.item.Step }),
	textColumn("steps", func(r *keyRow) *string { return &r.steps }),
	textColumn("system_id", func(r *keyRow) *string { return &r.item.SystemID }),
	textColumn("reference", func(r *keyRow) *string { return &r.item.Reference }),
	textColumn("idem_key", func(r *keyRow) *string { return &r.item.Key }),
	textColumn("source", func(r *keyRow) *string { return &r.item.Source }),
	textColumn("period", func(r *keyRow) *string { return &r.item.Period }),
	textColumn("recorder_kind", func(r *keyRow) *string { return (*string)(&r.item.RecordedBy.Kind) }),
	textColumn("recorder_id", func(r *keyRow) *string { return &r.item.RecordedBy.ID }),
	textColumn("recorder_name", func(r *keyRow) *string { return &r.item.RecordedBy.Name }),
	timeColumn("recorded_at", func(r *keyRow) *time.Time { return &r.item.RecordedAt }),
}}

var itemsTable = table[work.Item]{"items", append([]column[work.Item]{
	bigColumn("id", func(it *work.Item) *int64 { return &it.ID }),
	bigColumn("company_id", func(it *work.Item) *int64 { return &it.CompanyID }),
	textColumn("system_id", func(it *work.Item) *string { return &it.SystemID }),
	textColumn("step", func(it *work.Item) *string { return &it.Step }),
	{name: "previous_id", kind: linkKind, big: func(it *work.Item) *int64 { return &it.PreviousID }},
	textColumn("automation", func(it *work.Item) *string { return &it.Automation }),
	textColumn("period", func(it *work.Item) *string { return &it.Period }),
	versionColumn,
}, columns...)}

var versionColumn = bigColumn("version", func(it *work.Item) *int64 { return &it.Version })

// revisionRow is a revision with what lists and totals need beside the stored invoice.
type revisionRow struct {
	work.Revision
	total, currency, invoice string
}

func newRevisionRow(r *work.Revision) *revisionRow {
	return &revisionRow{Revision: *r, total: r.Invoice.Total.Number(), currency: r.Invoice.Total.CurrencyCode(), invoice: string(r.Invoice.JSON())}
}

var revisionsTable = table[revisionRow]{"revisions", []column[revisionRow]{
	bigColumn("item_id", func(r *revisionRow) *int64 { return &r.ItemID }),
	intColumn("number", func(r *revisionRow) *int { return &r.Number }),
	textColumn("customer_id", func(r *revisionRow) *string { return &r.Invoice.CustomerID }),
	textColumn("customer_name", func(r *revisionRow) *string { return &r.Invoice.CustomerName }),
	{name: "total", cast: "numeric", text: func(r *revisionRow) *string { return &r.total }},
	textColumn("currency", func(r *revisionRow) *string { return &r.currency }),
	{name: "invoice", cast: "json", limit: 64 << 20, text: func(r *revisionRow) *string { return &r.invoice }},
	textColumn("fingerprint", func(r *revisionRow) *string { return &r.Fingerprint }),
	textColumn("made_by", func(r *revisionRow) *string { return &r.By }),
	timeColumn("made_at", func(r *revisionRow) *time.Time { return &r.At }),
}}

// The columns of an attempt that are known when it opens, and those that its end fills in.
var (
	attemptOpening = []column[work.Attempt]{
		bigColumn("item_id", func(a *work.Attempt) *int64 { return &a.ItemID }),
		intColumn("number", func(a *work.Attempt) *int { return &a.Number }),
		textColumn("kind", func(a *work.Attempt) *string { return (*string)(&a.Kind) }),
		intColumn("late_for", func(a *work.Attempt) *int { return &a.LateFor }),
		textColumn("node", func(a *work.Attempt) *string { return &a.Node }),
		textColumn("asked_by", func(a *work.Attempt) *string { return &a.AskedBy }),
		intColumn("revision", func(a *work.Attempt) *int { return &a.Revision }),
		textColumn("reference", func(a *work.Attempt) *string { return &a.Reference }),
		textColumn("idem_key", func(a *work.Attempt) *string { return &a.Key }),
		timeColumn("started_at", func(a *work.Attempt) *time.Time { return &a.StartedAt }),
		timeColumn("send_by", func(a *work.Attempt) *time.Time { return &a.SendBy }),
	}
	attemptEnd = []column[work.Attempt]{
		timeColumn("ended_at", func(a *work.Attempt) *time.Time { return &a.EndedAt }),
		textColumn("outcome", func(a *work.Attempt) *string { return (*string)(&a.Outcome) }),
		textColumn("finding", func(a *work.Attempt) *string { return (*string)(&a.Finding) }),
		intColumn("http_status", func(a *work.Attempt) *int { return &a.HTTPStatus }),
		textColumn("identity", func(a *work.Attempt) *string { return &a.Identity }),
		textColumn("external_id", func(a *work.Attempt) *string { return &a.ExternalID }),
		textColumn("external_no", func(a *work.Attempt) *string { return &a.ExternalNo }),
		textColumn("error", func(a *work.Attempt) *string { return &a.Error }),
		textColumn("record", func(a *work.Attempt) *string { return &a.Record }),
		longColumn("request", func(a *work.Attempt) *string { return &a.Request }),
		longColumn("response", func(a *work.Attempt) *string { return &a.Response }),
	}
	openTable     = table[work.Attempt]{"attempts", attemptOpening}
	attemptsTable = table[work.Attempt]{"attempts", append(attemptOpening[:len(attemptOpening):len(attemptOpening)], attemptEnd...)}
	// endTable names the attempt by its first two columns and holds what its end fills in.
	endTable = table[work.Attempt]{"attempts", append(attemptOpening[:2:2], attemptEnd...)}
)

var actsTable = table[work.Act]{"acts", []column[work.Act]{
	bigColumn("item_id", func(a *work.Act) *int64 { return &a.ItemID }),
	timeColumn("at", func(a *work.Act) *time.Time { return &a.At }),
	textColumn("actor_kind", func(a *work.Act) *string { return (*string)(&a.By.Kind) }),
	textColumn("actor_id", func(a *work.Act) *string { return &a.By.ID }),
	textColumn("actor_name", func(a *work.Act) *string { return &a.By.Name }),
	textColumn("what", func(a *work.Act) *string { return &a.What }),
	longColumn("note", func(a *work.Act) *string { return &a.Note }),
	textColumn("from_status", func(a *work.Act) *string { return (*string)(&a.From) }),
	textColumn("to_status", func(a *work.Act) *string { return (*string)(&a.To) }),
	textColumn("detail", func(a *work.Act) *string { return &a.Detail }),
}}

// wordsRow is what the search may find a part of.
type wordsRow struct {
	itemID int64
	words  string
}

// newWordsRow folds the key, the reference and the customer, one a line, so that no part reaches from one to the other.
func newWordsRow(it *work.Item) *wordsRow {
	return &wordsRow{it.ID, strings.Join([]string{work.FoldKey(it.BusinessKey), work.FoldKey(it.Reference),
		work.FoldKey(it.Invoice.CustomerName), work.FoldKey(it.Invoice.CustomerID)}, "\n")}
}
