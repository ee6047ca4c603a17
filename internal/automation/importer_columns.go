package automation

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// column is one thing that a row may tell.
type column int

const (
	colKey column = iota
	colCustomerID
	colCustomerName
	colCurrency
	colAmount
	colIssueDate
	colDueDate
	colDescription
	colQuantity
	colUnitPrice
	colTaxCode
	colNote
	colPeriod
	numColumns
)

// headings are the names under which a column is known, folded; the first is the one that we ask for and prefer.
var headings = [numColumns][]string{
	colKey: {"key", "businesskey", "invoicekey", "invoicenumber", "invoiceno", "invoiceid", "orderreference", "orderno", "ordernumber", "reference",
		"rechnungsnummer", "rechnungsnr", "rechnungnr", "belegnummer", "belegnr", "auftragsnummer", "auftragsnr", "bestellnummer", "referenz", "schlüssel"},
	colCustomerID: {"customerid", "customerno", "customernumber", "customercode", "customeraccount", "account", "clientid", "contactid", "debtorno",
		"kundennummer", "kundennr", "kundenid", "kundenkonto", "debitor", "debitorennummer", "debitorennr", "debitorenkonto", "konto"},
	colCustomerName: {"customername", "customer", "client", "clientname", "contactname", "company", "name",
		"kundenname", "kunde", "firma", "rechnungsempfänger"},
	colCurrency: {"currency", "currencycode", "ccy", "währung", "waehrung", "währungscode", "whg"},
	colAmount: {"amount", "total", "totalamount", "grandtotal", "invoiceamount", "invoicetotal",
		"betrag", "gesamtbetrag", "rechnungsbetrag", "gesamt", "gesamtsumme", "summe", "bruttobetrag", "brutto"},
	colIssueDate:   {"issuedate", "invoicedate", "date", "issued", "dateofissue", "rechnungsdatum", "belegdatum", "datum", "ausstellungsdatum"},
	colDueDate:     {"duedate", "due", "paymentdue", "payby", "fälligkeitsdatum", "fälligkeit", "fällig", "fälligam", "zahlbarbis", "faelligkeit", "faelligam"},
	colDescription: {"description", "text", "item", "itemdescription", "product", "beschreibung", "bezeichnung", "leistung", "artikel", "buchungstext", "positionstext"},
	colQuantity:    {"quantity", "qty", "menge", "anzahl"},
	colUnitPrice:   {"unitprice", "price", "unitamount", "einzelpreis", "preis", "stückpreis", "stueckpreis"},
	colTaxCode:     {"taxcode", "tax", "vatcode", "vat", "taxrate", "steuercode", "steuerschlüssel", "steuersatz", "mwst", "ust", "mwstsatz", "ustsatz"},
	colNote:        {"note", "notes", "comment", "comments", "memo", "notiz", "bemerkung", "bemerkungen", "kommentar", "anmerkung"},
	colPeriod:      {"period", "month", "billingmonth", "billingperiod", "monat", "abrechnungsmonat", "leistungsmonat", "zeitraum"},
}

var required = []column{colKey, colCustomerID, colCurrency, colAmount}

// name is the heading that we ask for, as shown to people.
func (c column) name() string {
	return [numColumns]string{"key", "customer_id", "customer_name", "currency", "amount", "issue_date", "due_date",
		"description", "quantity", "unit_price", "tax_code", "note", "period"}[c]
}

// foldHeading makes headings comparable: letters and digits only, in lower case.
func foldHeading(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// columns says which field holds which column; -1: none.
type columns [numColumns]int

// chosenColumns are the columns that a person chose, by place counted from 1. What they left out is not read.
func chosenColumns(rec record, chosen map[string]int) (cols columns, ignored []string, err error) {
	used, missing := map[int]bool{}, []string(nil)
	for c := range numColumns {
		cols[c] = -1
		i := chosen[c.name()]
		switch {
		case i < 1 || i > len(rec.fields):
			continue
		case used[i]:
			return cols, nil, fileErrorf(rec.line, "the column %q is chosen twice. Nothing was imported", shown(rec.fields[i-1]))
		}
		cols[c], used[i] = i-1, true
	}
	for _, c := range required {
		if cols[c] < 0 {
			missing = append(missing, c.name())
		}
	}
	if len(missing) > 0 {
		return cols, nil, fileErrorf(rec.line, "choose which column holds: %s. Nothing was imported", strings.Join(missing, ", "))
	}
	for i, h := range rec.fields {
		if !used[i+1] && strings.TrimSpace(h) != "" {
			ignored = append(ignored, shown(h))
		}
	}
	return cols, ignored, nil
}

// guessColumns says which column most likely holds what, by place counted from 1.
func guessColumns(fields []string) map[string]int {
	guess, best := map[string]int{}, map[column]int{}
	for i, h := range fields {
		c, rank := columnOf(foldHeading(h))
		if had, ok := best[c]; rank >= 0 && (!ok || rank < had) {
			guess[c.name()], best[c] = i+1, rank
		}
	}
	return guess
}

// ColumnNames are the names of what a row may tell, those first that it must.
func ColumnNames() (names []string) {
	for c := range numColumns {
		if slices.Contains(required, c) {
			names = append(names, c.name())
		}
	}
	for c := range numColumns {
		if !slices.Contains(required, c) {
			names = append(names, c.name())
		}
	}
	return names
}

// MustHave reports whether a file must have the column of this name.
func MustHave(name string) bool {
	return slices.ContainsFunc(required, func(c column) bool { return c.name() == name })
}

// readHeading finds the columns. Headings that are not known are returned, so that nothing is dropped without a word.
func readHeading(rec record) (cols columns, ignored []string, err error) {
	var best [numColumns]int // how far down the list of names the heading was found
	for c := range cols {
		cols[c] = -1
	}
	for i, heading := range rec.fields {
		if strings.Contains(heading, "\r") {
			return cols, nil, fileErrorf(rec.line, "the line ends of this file are not understood: save it as \"CSV UTF-8\". Nothing was imported")
		}
		folded := foldHeading(heading)
		c, rank := columnOf(folded)
		switch {
		case rank < 0 && strings.TrimSpace(heading) != "":
			ignored = append(ignored, shown(heading))
		case rank < 0:
		case cols[c] < 0:
			cols[c], best[c] = i, rank
		case (rank == 0) != (best[c] == 0): // our own name for it wins over other names
			other := heading
			if rank == 0 {
				other = rec.fields[cols[c]]
				cols[c], best[c] = i, rank
			}
			ignored = append(ignored, shown(other))
		default:
			return cols, nil, fileErrorf(rec.line, "the headings %q and %q both name the %s: rename or remove one",
				shown(rec.fields[cols[c]]), shown(heading), c.name())
		}
	}
	var missing []string
	for _, c := range required {
		if cols[c] < 0 {
			missing = append(missing, c.name())
		}
	}
	if len(missing) > 0 {
		return cols, nil, fileErrorf(rec.line, "the heading has no column %s; it has: %s. Nothing was imported",
			strings.Join(missing, ", "), quoted(rec.fields))
	}
	return cols, ignored, nil
}

func columnOf(folded string) (column, int) {
	for c, names := range headings {
		for rank, name := range names {
			if name == folded {
				return column(c), rank
			}
		}
	}
	return 0, -1
}

func quoted(fields []string) string {
	parts := make([]string, 0, len(fields))
	for _, f := range fields[:min(len(fields), 20)] {
		parts = append(parts, fmt.Sprintf("%q", shown(f)))
	}
	return strings.Join(parts, ", ")
}
