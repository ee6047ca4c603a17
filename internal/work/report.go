package work

import (
	"time"

	"github.com/bojanz/currency"
)

// ReportSettings say how the report of an accounting system, its own export, is read. A column is named by its heading as
// the file has it; empty: there is none, or it is still to be found out.
type ReportSettings struct {
	Reference string   `json:"reference,omitempty"` // our reference
	Number    string   `json:"number,omitempty"`    // the system's own number or id
	Customer  string   `json:"customer,omitempty"`
	Amount    string   `json:"amount,omitempty"`
	Currency  string   `json:"currency,omitempty"`
	Status    string   `json:"status,omitempty"`
	Date      string   `json:"date,omitempty"`
	Code      string   `json:"code,omitempty"`       // the currency of every row, if no column has it
	Void      []string `json:"void,omitempty"`       // words of the status column that mean void or deleted
	Chosen    bool     `json:"chosen,omitempty"`     // a person looked at the columns: none is guessed, an empty one is not used
	Delimiter string   `json:"delimiter,omitempty"`  // one character; empty: as the rows show
	Decimal   string   `json:"decimal,omitempty"`    // "." or ","; empty: as the numbers show
	DateOrder string   `json:"date_order,omitempty"` // dmy, mdy or ymd; empty: as the dates show
}

// ReportTable is a report that was read.
type ReportTable struct {
	Settings ReportSettings // completed by what was found out
	Headings []string
	Samples  [][]string  // the first rows, for the choice of columns
	Statuses []string    // the words of the status column, at most 30
	Format   string      // how the file was read, for people
	Made     time.Time   // when the file says that it was made; zero: it does not say
	Rows     []ReportRow // without empty ones
	Problem  string      // why nothing can be compared yet, in the user's words; empty: all is well
}

// ReportRow is one row of a report.
type ReportRow struct {
	Line      int // of the file, from 1
	Reference string
	Number    string
	Customer  string
	Total     currency.Amount
	State     RecordState
	Date      string // 2006-01-02, or empty
	Text      string // all cells, for the history and for references that stand elsewhere
	Problem   string // why the row cannot be used, in the user's words; empty: it can
}
