package automation

import (
	"fmt"
	"slices"
	"strings"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// postings are the later steps whose effect a report shows: the document is issued.
var postings = []string{"post", "issue", "finalize"}

// Judge says what the rows of a report that carry the item's reference prove about it, as a lookup's result would. The
// record's id is the number that the report gives it, else our reference.
func (ReportFiles) Judge(it work.Item, rows []work.ReportRow, c work.Capabilities) work.Lookup {
	var texts []string
	records := make([]work.Record, 0, len(rows))
	at := map[string]work.Record{}
	mixed := false
	for _, row := range rows {
		texts = append(texts, fmt.Sprintf("line %d: %s", row.Line, row.Text))
		rec := work.Record{ID: row.Number, Number: row.Number, Reference: row.Reference, Customer: row.Customer, Total: row.Total, State: row.State}
		if rec.Customer != "" && work.FoldKey(rec.Customer) == work.FoldKey(it.Invoice.CustomerName) {
			rec.Customer = it.Invoice.CustomerID
		}
		if !ledger.UsableID(rec.ID) {
			rec.ID, rec.Number = row.Reference, ""
			if len(rows) > 1 { // nothing tells them apart: each is a document of its own
				rec.ID = fmt.Sprintf("%s (line %d)", row.Reference, row.Line)
			}
		}
		if twin, again := at[rec.ID]; again && (!twin.Total.Equal(rec.Total) || twin.State != rec.State) {
			mixed = true
		}
		at[rec.ID] = rec
		records = append(records, rec)
	}
	l := ledger.Judge(it.Invoice, it.Reference, ledger.Found{Searched: true, Records: records}, c)
	switch {
	case slices.ContainsFunc(rows, func(r work.ReportRow) bool { return r.Problem != "" }):
		l.Finding, l.Remark = work.CouldNotTell, "a row with its reference cannot be read"
	case mixed && l.Finding == work.FoundMatching:
		l.Finding, l.Remark = work.FoundDifferent, "several rows with one number and different amounts or states"
	case it.PreviousID != 0 && l.Finding != work.FoundVoid:
		l = laterStep(it, l)
	}
	l.Exchange = work.Exchange{Response: strings.Join(texts[:min(len(texts), 20)], "\n")}
	return l
}

// laterStep: a report shows of a later step only that the document is issued.
func laterStep(it work.Item, l work.Lookup) work.Lookup {
	if !slices.Contains(postings, it.Step) || l.Record.State != work.StatePosted || l.Finding == work.NotFound {
		l.Finding, l.Remark = work.CouldNotTell, "a report does not show whether this step is done"
	}
	return l
}
