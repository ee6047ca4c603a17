package store

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// searcher is what the databases write differently in a search.
type searcher interface {
	id() string                       // the item id of item_search
	words() (table, id, words string) // the rows of item_search, for reading one by its id
	numbers() string                  // the numbers of a JSON array in the parameter ?1
	ids(parameter string) string      // a statement for the ids in a JSON array, as item_id
	// chains are all items i that share a key with the ids in a JSON array, and the condition for the rows of a list.
	chains(parameter string) (from, shown string)
	// each is the items i whose ids a statement returns.
	each(ids string) string
	walks(l lanes, walk func(lane string) string) []string // the statements for all lanes; a lane is a condition on items i
	part(add func(any) string, folded string) string       // a condition on item_search
	contains(words, text string) string                    // the same for one row
	inParts() bool                                         // whether a list is best read status by status: PostgreSQL merges them as far as the page goes
	openIndex() string                                     // what names the indexes of open rows, beside a status
	total() string                                         // the column of revisions that compares as a number
	amount(add func(any) string, n units) string           // an amount as it compares with it
	oneAmount(of int) string                               // the number of revisions r, for asking whether a row has one of so many amounts
	// attemptsOf are all attempts a of the items in a JSON array.
	attemptsOf(parameter string) string
	longer(from, until, micros string) string // a condition: more than so many microseconds lie between them
}

type pgSearch struct{}

func (s pgSearch) numbers() string { return "(" + s.ids("?1") + ")" }

func (pgSearch) ids(p string) string {
	return "SELECT value::bigint AS item_id FROM json_array_elements_text(" + p + "::json) AS j (value)"
}

// rowColumns are those of items i that the conditions of a list ask about.
const rowColumns = "i.id, i.version, i.company_id, i.status, i.reason, i.previous_id, i.automation, i.system_id, i.period, i.revision, i.changed_at, i.settle_by," +
	" i.error_kind, i.assigned_to, i.lease_until, i.open_kind"

// The joins go from the few to the many, whatever the planner believes. Most rows that are found stand for their document
// themselves: then nothing else is looked for.
func (pgSearch) chains(p string) (from, shown string) {
	return "(SELECT i.id AS value, " + rowColumns + ", " + shownAlone + " AS stands FROM items i" +
		" WHERE i.id = ANY (ARRAY(SELECT value::bigint FROM json_array_elements_text(" + p + "::json) AS j (value))) OFFSET 0) h" +
		" CROSS JOIN LATERAL (SELECT h.* WHERE h.stands" +
		" UNION ALL SELECT h.value, i.* FROM (SELECT folded_key, company_id, automation FROM item_keys WHERE item_id = h.value AND NOT h.stands OFFSET 0) m" +
		" CROSS JOIN LATERAL (SELECT item_id FROM item_keys WHERE folded_key = m.folded_key AND company_id = m.company_id AND automation = m.automation OFFSET 0) o" +
		" CROSS JOIN LATERAL (SELECT " + rowColumns + ", false FROM items i WHERE i.id = o.item_id OFFSET 0) i OFFSET 0) i", "(i.stands OR " + shownAlone + ")"
}

func (pgSearch) each(ids string) string {
	return "(SELECT DISTINCT item_id FROM (" + ids + ") d OFFSET 0) c CROSS JOIN LATERAL (SELECT * FROM items WHERE id = c.item_id OFFSET 0) i"
}

// walks is one statement, however many lanes: each branch is planned anew.
func (pgSearch) walks(l lanes, walk func(string) string) []string {
	rows := make([]string, len(l.rows))
	for i, row := range l.rows {
		rows[i] = "(" + strings.Join(row, ", ") + ")"
	}
	lane := ""
	for _, column := range l.columns {
		lane += " AND i." + column + " = l." + column
	}
	return []string{"SELECT w.* FROM (VALUES " + strings.Join(rows, ", ") + ") l (" + strings.Join(l.columns, ", ") + ") CROSS JOIN LATERAL (" + walk(lane) + ") w"}
}

func (pgSearch) attemptsOf(p string) string {
	return "json_array_elements_text(" + p + "::json) AS h (value) CROSS JOIN LATERAL (SELECT * FROM attempts WHERE item_id = h.value::bigint OFFSET 0) a"
}

func (pgSearch) longer(from, until, micros string) string {
	return until + " - " + from + " > " + micros + "::bigint * interval '1 microsecond'"
}

func (pgSearch) id() string { return "item_id" }

func (pgSearch) words() (table, id, words string) { return "item_search", "item_id", "words" }

func (pgSearch) part(add func(any) string, folded string) string {
	if utf8.RuneCountInString(folded) < shortText {
		return "strpos(words, " + add(folded) + ") > 0"
	}
	pieces := telling(folded)
	each := make([]string, len(pieces))
	for i, piece := range pieces {
		each[i] = "words LIKE " + add("%"+strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(piece)+"%")
	}
	if !slices.Equal(pieces, []string{folded}) { // the index does not know strpos
		each = append(each, "strpos(words, "+add(folded)+") > 0")
	}
	return strings.Join(each, " AND ")
}

func (pgSearch) contains(words, text string) string { return "strpos(" + words + ", " + text + ") > 0" }

func (pgSearch) inParts() bool { return false }

// PostgreSQL knows that the status is one of them; told so, it would read all of them.
func (pgSearch) openIndex() string { return " AND i.id > 0" }

func (pgSearch) total() string { return "total" }

func (pgSearch) amount(add func(any) string, n units) string {
	text := n.n.String()
	return "(" + add(text) + "::numeric / 10000)"
}

func (pgSearch) oneAmount(int) string { return "r.number" }

type sqliteSearch struct{}

func (s sqliteSearch) numbers() string { return "(" + s.ids("?1") + ")" }

func (sqliteSearch) ids(p string) string { return "SELECT value AS item_id FROM json_each(" + p + ")" }

func (sqliteSearch) chains(p string) (from, shown string) {
	return "json_each(" + p + ") h CROSS JOIN item_keys m ON m.item_id = h.value" +
		" CROSS JOIN item_keys o ON o.folded_key = m.folded_key AND o.company_id = m.company_id AND o.automation = m.automation" +
		" CROSS JOIN items i ON i.id = o.item_id", shownAlone
}

func (sqliteSearch) each(ids string) string {
	return "(SELECT DISTINCT item_id FROM (" + ids + ")) c CROSS JOIN items i ON i.id = c.item_id"
}

func (sqliteSearch) walks(l lanes, walk func(string) string) (list []string) {
	for _, row := range l.rows {
		lane := ""
		for i, place := range row {
			lane += " AND i." + l.columns[i] + " = " + place
		}
		list = append(list, walk(lane))
	}
	return list
}

func (sqliteSearch) attemptsOf(p string) string {
	return "json_each(" + p + ") h CROSS JOIN attempts a ON a.item_id = h.value"
}

func (sqliteSearch) longer(from, until, micros string) string {
	return until + " - " + from + " > " + micros
}

func (sqliteSearch) id() string { return "rowid" }

// FTS5 keeps the rows in a table of its own, which is read much faster than through the index.
func (sqliteSearch) words() (table, id, words string) { return "item_search_content", "id", "c0" }

func (sqliteSearch) part(add func(any) string, folded string) string {
	if utf8.RuneCountInString(folded) < shortText {
		return "instr(words, " + add(folded) + ") > 0"
	}
	return "item_search MATCH " + add(`"`+strings.ReplaceAll(folded, `"`, `""`)+`"`)
}

func (sqliteSearch) contains(words, text string) string {
	return "instr(" + words + ", " + text + ") > 0"
}

func (sqliteSearch) inParts() bool { return true }

func (sqliteSearch) openIndex() string {
	return " AND i.status IN ('review', 'pending', 'queued', 'failed') AND i.id > 0"
}

func (sqliteSearch) total() string { return "units" }

func (sqliteSearch) amount(add func(any) string, n units) string { return add(n.int64()) }

// For one amount the index of amounts is asked, which most rows are not in; else the row.
func (sqliteSearch) oneAmount(of int) string {
	if of == 1 {
		return "+r.number"
	}
	return "r.number"
}

func (p *postgres) search() searcher { return pgSearch{} }
func (l *lite) search() searcher     { return sqliteSearch{} }
