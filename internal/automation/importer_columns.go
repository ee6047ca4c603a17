package automation

import (
	"fmt"
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
	colKey:          {"key", "businesskey", "invoicekey", "invoicenumber", "invoiceno", "invoiceid", "orderreference", "orderno", "ordernumber", "reference"},
	colCustomerID:   {"customerid", "customerno", "customernumber", "customercode", "customeraccount", "account", "clientid", "contactid", "debtorno"},
	colCustomerName: {"customername", "customer", "client", "clientname", "contactname", "company", "name"},
	colCurrency:     {"currency", "currencycode", "ccy"},
	colAmount:       {"amount", "total", "totalamount", "grandtotal", "invoiceamount", "invoicetotal"},
	colIssueDate:    {"issuedate", "invoicedate", "date", "issued", "dateofissue"},
	colDueDate:      {"duedate", "due", "paymentdue", "payby"},
	colDescription:  {"description", "text", "item", "itemdescription", "product"},
	colQuantity:     {"quantity", "qty"},
	colUnitPrice:    {"unitprice", "price", "unitamount"},
	colTaxCode:      {"taxcode", "tax", "vatcode", "vat", "taxrate"},
	colNote:         {"note", "notes", "comment", "comments", "memo"},
	colPeriod:       {"period", "month", "billingmonth", "billingperiod"},
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
