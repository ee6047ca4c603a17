package automation

import (
	"slices"
	"strings"

	"onefold/internal/work"
)

// reportHeadings are the names under which the columns of a report are known, folded, the likeliest first.
var reportHeadings = map[string][]string{
	"reference": {"reference", "ourreference", "clientreference", "externalreference", "yourreference", "customerreference", "ref", "orderreference", "purchaseorder", "ponumber", "memo", "referenz", "référence"},
	"number":    {"number", "invoicenumber", "invoiceno", "documentnumber", "documentno", "docno", "no", "id", "invoiceid", "invoice", "rechnungsnummer", "belegnummer", "numéro"},
	"customer":  {"customerid", "customerno", "customer", "customername", "contact", "contactname", "client", "clientname", "debtor", "partner", "kunde", "kundenname"},
	"amount":    {"total", "totalamount", "grandtotal", "invoicetotal", "totalincvat", "totalincltax", "gross", "grossamount", "amount", "invoiceamount", "betrag", "gesamtbetrag", "brutto", "montant"},
	"currency":  {"currency", "currencycode", "ccy", "währung", "devise"},
	"status":    {"status", "state", "invoicestatus", "documentstatus"},
	"date":      {"invoicedate", "issuedate", "date", "documentdate", "postingdate", "rechnungsdatum", "belegdatum", "datum"},
}

// voidWords are statuses that mean void or deleted, folded.
var voidWords = []string{"void", "voided", "deleted", "cancelled", "canceled", "aborted", "reversed", "storniert", "storno", "gelöscht", "annulé", "anulada", "annullata", "geannuleerd"}

// draftWords are statuses of documents that are there but not issued, folded.
var draftWords = []string{"draft", "entwurf", "brouillon", "borrador", "bozza", "concept", "unposted", "notposted"}

// column is the place of the setting for a kind of column.
func reportColumn(s *work.ReportSettings, kind string) *string {
	return map[string]*string{"reference": &s.Reference, "number": &s.Number, "customer": &s.Customer, "amount": &s.Amount,
		"currency": &s.Currency, "status": &s.Status, "date": &s.Date}[kind]
}

var reportKinds = []string{"reference", "number", "customer", "amount", "currency", "status", "date"}

// knownReportHeadings counts the headings that we know.
func knownReportHeadings(fields []string) (n int) {
	for _, f := range fields {
		folded := foldHeading(f)
		for _, kind := range reportKinds {
			if slices.Contains(reportHeadings[kind], folded) {
				n++
				break
			}
		}
	}
	return n
}

// settleColumns drops chosen columns that the file does not have, and guesses those that nobody chose. The reference is the
// column that holds most of our references, whatever its heading says.
func settleColumns(s work.ReportSettings, headings []string, rows []tableRow, ours func(cells []string) int) work.ReportSettings {
	used := map[string]bool{}
	for _, kind := range reportKinds {
		at := reportColumn(&s, kind)
		if *at != "" && !slices.Contains(headings, *at) {
			*at, s.Chosen = "", false
		}
		used[*at] = true
	}
	if s.Chosen {
		return s
	}
	if s.Reference == "" {
		best := 0
		for i, h := range headings {
			if n := ours(columnSample(rows, i)); n > best && !used[h] {
				best, s.Reference = n, h
			}
		}
		used[s.Reference] = true
	}
	for _, kind := range reportKinds {
		at := reportColumn(&s, kind)
		for _, name := range reportHeadings[kind] {
			i := slices.IndexFunc(headings, func(h string) bool { return foldHeading(h) == name && !used[h] })
			if *at == "" && i >= 0 {
				*at = headings[i]
				used[headings[i]] = true
			}
		}
	}
	return s
}

const columnSampleRows = 300

func columnSample(rows []tableRow, i int) (cells []string) {
	for _, r := range rows[:min(len(rows), columnSampleRows)] {
		if i < len(r.fields) {
			if cell := unguard(strings.TrimSpace(r.fields[i])); cell != "" {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

// stateOf reads a word of the status column. A word that is not known is a live record: it is never taken for absent.
func stateOf(word string, void []string) work.RecordState {
	folded := foldHeading(word)
	switch {
	case folded == "":
		return work.StateUnknown
	case slices.Contains(void, word):
		return work.StateVoid
	case slices.Contains(draftWords, folded):
		return work.StateDraft
	}
	return work.StatePosted
}
