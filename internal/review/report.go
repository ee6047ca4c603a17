package review

import (
	"context"
	"errors"
	"time"

	"onefold/internal/work"
)

// ReportState is how far a report has come.
type ReportState string

const (
	ReportOpen     ReportState = "open"     // uploaded: nothing was changed yet
	ReportApplying ReportState = "applying" // being applied in the background
	ReportApplied  ReportState = "applied"
	ReportRemoved  ReportState = "removed" // never applied; its file is gone
)

// ErrReportChanged says that a colleague changed or applied the report meanwhile. Nothing was done.
var ErrReportChanged = errors.New("the report was changed meanwhile")

// ErrReportNotReady says that a report cannot be applied as it is: it cannot be compared, or nothing of it applies.
var ErrReportNotReady = errors.New("the report cannot be applied")

// Report is an accounting system's own export that somebody uploaded.
type Report struct {
	ID        int64
	CompanyID int64
	SystemID  string
	Name      string // of the file
	State     ReportState
	Version   int64
	By        string // label of who uploaded it
	At        time.Time
	ReportBody
	AppliedBy work.Actor
	AppliedAt time.Time
	DoneAt    time.Time
}

// ReportBody is what people say about a report and what was found in it.
type ReportBody struct {
	Input    ReportInput        `json:"input"`
	Problem  string             `json:"problem,omitempty"` // why nothing can be compared; empty: all is well
	Headings []string           `json:"headings,omitempty"`
	Samples  [][]string         `json:"samples,omitempty"`
	Statuses []string           `json:"statuses,omitempty"`
	Format   string             `json:"format,omitempty"`
	FileMade time.Time          `json:"file_made,omitzero"` // as the file itself says; zero: it does not say
	Rows     int                `json:"rows,omitempty"`
	Agree    int                `json:"agree,omitempty"` // items that are settled as the report has them
	From     string             `json:"from,omitempty"`  // the period, 2006-01-02; empty: without an end
	To       string             `json:"to,omitempty"`
	Doubts   []ReportDoubt      `json:"doubts,omitempty"` // why it proves nothing absent; empty: it may
	Sums     map[string]LineSum `json:"sums,omitempty"`   // by kind
	Bad      []ReportBadRow     `json:"bad,omitempty"`    // the first rows that could not be read
	BadRows  int                `json:"bad_rows,omitempty"`
}

// ReportInput is what a person says about a report.
type ReportInput struct {
	Settings   work.ReportSettings `json:"settings"`
	Made       time.Time           `json:"made,omitzero"`        // when it was exported; zero: not said
	From       string              `json:"from,omitempty"`       // of the period: 2006-01-02; empty: as the rows' dates show
	To         string              `json:"to,omitempty"`         // likewise
	Everything bool                `json:"everything,omitempty"` // it was exported without filters, in every state
}

// ReportDoubt is a reason why what is not in a report is not taken for absent.
type ReportDoubt string

const (
	DoubtTime       ReportDoubt = "time"       // nobody said when it was exported
	DoubtEverything ReportDoubt = "everything" // nobody said that it was exported without filters
	DoubtMissing    ReportDoubt = "missing"    // confirmed items of its period are not in it
	DoubtNoneKnown  ReportDoubt = "none_known" // no confirmed item belongs to its period, so nothing shows that it is whole
	DoubtRows       ReportDoubt = "rows"       // rows of it cannot be read
	DoubtProblem    ReportDoubt = "problem"    // nothing could be compared
)

// ReportBadRow is a row that could not be read.
type ReportBadRow struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// LineSum adds up the lines of a kind.
type LineSum struct {
	Count   int               `json:"count"`
	Applies int               `json:"applies,omitempty"`
	Totals  map[string]string `json:"totals,omitempty"` // by currency: the invoices' own amounts, as decimals
}

// LineKind is what a line of a comparison shows.
type LineKind string

const (
	LineMatch     LineKind = "match"     // in the report, and the same
	LineDifferent LineKind = "different" // in the report, but not the same
	LineAbsent    LineKind = "absent"    // not in the report, which proves that it is not there
	LineUnclear   LineKind = "unclear"   // the report does not tell
	LineMissing   LineKind = "missing"   // confirmed, but not in the report
	LineStranger  LineKind = "stranger"  // in the report, but no item of ours
)

// LineKinds lists the kinds in the order in which pages show them.
var LineKinds = []LineKind{LineMatch, LineDifferent, LineAbsent, LineUnclear, LineMissing, LineStranger}

// ReportLine is one line of a comparison, as it was shown.
type ReportLine struct {
	Number  int
	Kind    LineKind
	Applies bool   // applying the report does something with it
	Result  string // what came of it; empty: not applied yet
	LineBody
}

// LineBody is the rest of a line.
type LineBody struct {
	ItemID   int64       `json:"item_id,omitempty"` // 0: a stranger
	Version  int64       `json:"version,omitempty"` // of the item when it was compared
	Status   work.Status `json:"status,omitempty"`
	Key      string      `json:"key,omitempty"`
	Customer string      `json:"customer,omitempty"`
	Asked    string      `json:"asked,omitempty"` // the invoice's amount as a decimal; of a stranger the report's
	Currency string      `json:"currency,omitempty"`
	Rows     []int       `json:"rows,omitempty"` // lines of the file
	Why      string      `json:"why,omitempty"`  // code of the reason of LineUnclear
	Until    time.Time   `json:"until,omitzero"` // of Why "settling"
	Finding  string      `json:"finding,omitempty"`
	Record   string      `json:"record,omitempty"` // as work.Record.JSON writes it
	Count    int         `json:"count,omitempty"`
	Remark   string      `json:"remark,omitempty"`
	Text     string      `json:"text,omitempty"` // the rows themselves
}

// KnownItem is a confirmed item that a report of its period must hold.
type KnownItem struct {
	ID             int64
	Key            string
	Reference      string
	ExternalID     string
	ExternalNumber string
	Customer       string
	Total          string
	Currency       string
	IssueDate      string // 2006-01-02, or empty
	RecordedAt     time.Time
}

// ReportStore is what reports need from the database.
type ReportStore interface {
	// AddReport keeps a report with its file and returns it with its id.
	AddReport(ctx context.Context, r Report, content []byte) (Report, error)
	// Report returns one report, or ErrNotFound.
	Report(ctx context.Context, companyID, id int64) (Report, error)
	// Reports returns the newest reports of a system (empty: of any), without removed ones, at most limit.
	Reports(ctx context.Context, companyID int64, systemID string, limit int) ([]Report, error)
	// ReportFile returns the file.
	ReportFile(ctx context.Context, companyID, id int64) ([]byte, error)
	// SaveReport writes the report's body and lines in place of the former ones, if it is open and still has the version;
	// else ErrReportChanged.
	SaveReport(ctx context.Context, r Report, lines []ReportLine) error
	// MoveReport puts a report from one state into another if it still has the version, with who applied it if anybody
	// did; else ErrReportChanged. A removed one loses its file and lines.
	MoveReport(ctx context.Context, companyID, id, version int64, from, to ReportState, by work.Actor) error
	// ReportLines returns lines of a kind (empty: of any) with a number above after, at most limit.
	ReportLines(ctx context.Context, reportID int64, kind LineKind, after, limit int) ([]ReportLine, error)
	// ReportsToApply returns the reports that are being applied.
	ReportsToApply(ctx context.Context) ([]Report, error)
	// LinesToApply returns lines that apply and have no result yet, at most limit.
	LinesToApply(ctx context.Context, reportID int64, limit int) ([]ReportLine, error)
	// SetLineResults writes results by number.
	SetLineResults(ctx context.Context, reportID int64, results map[int]string) error
	// ReportResults counts the lines that apply, by result; "" counts those that are left.
	ReportResults(ctx context.Context, reportID int64) (map[string]int, error)
	// ItemsByReference returns the system's items with these references.
	ItemsByReference(ctx context.Context, companyID int64, systemID string, references []string) ([]work.Item, error)
	// UnknownItems returns the system's items that are pending or in review, at most limit.
	UnknownItems(ctx context.Context, companyID int64, systemID string, limit int) ([]work.Item, error)
	// KnownItems calls f for each first step of the system that is confirmed and has not changed since.
	KnownItems(ctx context.Context, companyID int64, systemID string, since time.Time, f func(KnownItem) error) error
	// TakenRecords says which of these ids or numbers of the system's records belong to an item, and to which.
	TakenRecords(ctx context.Context, companyID int64, systemID string, records []string) (map[string]int64, error)
	// System returns one accounting system.
	System(ctx context.Context, id string) (work.System, error)
	// Systems returns every connected accounting system.
	Systems(ctx context.Context) ([]work.System, error)
	// Acts returns an item's decisions of people, newest first, at most limit.
	Acts(ctx context.Context, itemID int64, limit int) ([]work.Act, error)
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Change is the one write door.
	Change(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error)
}

// ReportFiles reads reports and judges what they hold.
type ReportFiles interface {
	// Read reads a file; one that cannot be read comes with a problem. Ours counts how many of the cells are references of
	// ours.
	Read(ctx context.Context, content []byte, s work.ReportSettings, ours func(cells []string) int) (work.ReportTable, error)
	// Judge says what the rows with the item's reference prove about it.
	Judge(it work.Item, rows []work.ReportRow, c work.Capabilities) work.Lookup
}
