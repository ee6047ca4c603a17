package recurring

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// Columns of plans in a file: a row for each line of each term, those of one plan one after the other.
var Columns = []string{"code", "system", "customer_id", "customer_name", "currency", "start", "end", "days_to_pay", "prorate", "note", "state",
	"from", "every", "unit", "day", "description", "quantity", "unit_price", "tax_code"}

// needed are the columns that a file must have.
var needed = []string{"code", "customer_id", "currency", "start", "description", "unit_price"}

// rowsOf are the rows of a plan in a file, guarded against being taken for formulas.
func rowsOf(p Plan) (rows [][]string) {
	for _, t := range p.Terms {
		for _, l := range t.Lines {
			row := []string{p.Code, p.SystemID, p.CustomerID, p.CustomerName, p.Currency, dayText(p.Terms[0].From), dayText(p.End), strconv.Itoa(p.PayWithin),
				map[bool]string{true: "yes", false: "no"}[p.Prorate], p.Note, string(p.State),
				dayText(t.From), strconv.Itoa(t.Schedule.Every), string(t.Schedule.Unit), strconv.Itoa(t.Schedule.Day), l.Description, l.Quantity, l.UnitPrice, l.TaxCode}
			for i := range row {
				row[i] = automation.Guard(row[i])
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func dayText(day time.Time) string {
	if day.IsZero() {
		return ""
	}
	return day.Format(time.DateOnly)
}

// table reads a file of plans row by row.
type table struct {
	csv     *csv.Reader
	at      map[string]int // the field of each column
	width   int
	Ignored []string // headings that are not known
}

// FileError says why a file of plans is not read at all. Nothing of it was added.
type FileError struct{ Text string }

func (e *FileError) Error() string { return e.Text }

// openTable reads the heading. The file is UTF-8, its fields are separated by commas, semicolons or tabs.
func openTable(r io.Reader) (*table, error) {
	mark, heading, rest, err := headingOf(r)
	if err != nil {
		return nil, err
	}
	t := &table{csv: csv.NewReader(io.MultiReader(strings.NewReader(heading), rest)), at: map[string]int{}}
	t.csv.Comma, t.csv.FieldsPerRecord, t.csv.ReuseRecord = mark, -1, true
	names, err := t.csv.Read()
	if err != nil {
		return nil, &FileError{"the heading cannot be read: " + err.Error()}
	}
	t.width = len(names)
	for i, name := range names {
		name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
		switch _, twice := t.at[name]; {
		case twice:
			return nil, &FileError{fmt.Sprintf("two columns are called %s", name)}
		case known(name):
			t.at[name] = i
		case name != "":
			t.Ignored = append(t.Ignored, name)
		}
	}
	var missing []string
	for _, name := range needed {
		if _, ok := t.at[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, &FileError{"the heading has no column " + strings.Join(missing, ", ")}
	}
	return t, nil
}

func known(name string) bool {
	for _, c := range Columns {
		if c == name {
			return true
		}
	}
	return false
}

// maxHeading bounds the first line of a file, in bytes.
const maxHeading = 64 << 10

// headingOf reads the first line and finds what separates its fields.
func headingOf(r io.Reader) (mark rune, heading string, rest io.Reader, err error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxHeading {
		n, err := r.Read(one)
		if n == 1 {
			if line = append(line, one[0]); one[0] == '\n' {
				break
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, "", nil, fmt.Errorf("read the file: %w", err)
		}
	}
	heading = strings.TrimPrefix(string(line), "\ufeff")
	switch {
	case strings.TrimSpace(heading) == "":
		return 0, "", nil, &FileError{"the file has no heading"}
	case !utf8.ValidString(heading):
		return 0, "", nil, &FileError{`the file's letters cannot be read: save it as "CSV UTF-8"`}
	}
	mark = ','
	for _, other := range []rune{';', '\t'} {
		if strings.Count(heading, string(other)) > strings.Count(heading, string(mark)) {
			mark = other
		}
	}
	return mark, heading, r, nil
}

// fileRow is one row of a file.
type fileRow struct {
	line   int
	cells  map[string]string
	broken error
}

// next returns the next row that is not empty, or io.EOF.
func (t *table) next() (fileRow, error) {
	for {
		fields, err := t.csv.Read()
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			return fileRow{line: bad.StartLine, broken: fmt.Errorf("the quotation marks of this row do not fit: %w", bad.Err)}, nil
		case err != nil:
			return fileRow{}, err
		case strings.TrimSpace(strings.Join(fields, "")) == "":
			continue
		}
		row := fileRow{cells: make(map[string]string, len(t.at))}
		row.line, _ = t.csv.FieldPos(0)
		if len(fields) != t.width {
			row.broken = fmt.Errorf("the row has %d fields, the heading has %d", len(fields), t.width)
		}
		for name, i := range t.at {
			if i < len(fields) {
				row.cells[name] = automation.Unguard(strings.TrimSpace(fields[i]))
			}
			if !utf8.ValidString(row.cells[name]) {
				row.broken = errors.New(`a letter cannot be read: save the file as "CSV UTF-8"`)
			}
		}
		return row, nil
	}
}

// planOf reads what a row says about its plan, without terms.
func (r fileRow) planOf(system string) (p Plan, err error) {
	c := r.cells
	p = Plan{Code: c["code"], SystemID: c["system"], CustomerID: c["customer_id"], CustomerName: c["customer_name"], Currency: c["currency"], Note: c["note"]}
	if p.SystemID == "" {
		p.SystemID = system
	}
	if p.End, err = optionalDay(c["end"]); err != nil {
		return p, fmt.Errorf("end: %w", err)
	}
	if p.PayWithin, err = optionalNumber(c["days_to_pay"], 0); err != nil {
		return p, fmt.Errorf("days_to_pay: %w", err)
	}
	switch strings.ToLower(c["prorate"]) {
	case "", "no", "false", "0":
	case "yes", "true", "1":
		p.Prorate = true
	default:
		return p, fmt.Errorf("prorate must be yes or no, not %q", c["prorate"])
	}
	switch State(strings.ToLower(c["state"])) {
	case "", Active, Waiting, Ended: // what it waits for is found out anew
	case Paused:
		p.State = Paused
	default:
		return p, fmt.Errorf("state must be active or paused, not %q", c["state"])
	}
	return p, nil
}

// termOf reads the term that a row belongs to, with its one line.
func (r fileRow) termOf() (t Term, err error) {
	c := r.cells
	from := c["from"]
	if from == "" {
		from = c["start"]
	}
	if t.From, err = ParseDay(from); err != nil {
		return t, err
	}
	if t.Schedule.Every, err = optionalNumber(c["every"], 1); err != nil {
		return t, fmt.Errorf("every: %w", err)
	}
	t.Schedule.Unit = Unit(strings.TrimSuffix(strings.ToLower(c["unit"]), "s"))
	if t.Schedule.Unit == "" {
		t.Schedule.Unit = Months
	}
	if t.Schedule.Day, err = optionalNumber(c["day"], 0); err != nil {
		return t, fmt.Errorf("day: %w", err)
	}
	l := work.Line{Description: c["description"], TaxCode: c["tax_code"]}
	if l.Quantity, err = number(c["quantity"], "1"); err != nil {
		return t, fmt.Errorf("quantity: %w", err)
	}
	if l.UnitPrice, err = number(c["unit_price"], ""); err != nil {
		return t, fmt.Errorf("unit_price: %w", err)
	}
	t.Lines = []work.Line{l}
	return t, t.Schedule.Validate()
}

func optionalDay(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return ParseDay(text)
}

func optionalNumber(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return n, nil
}

// number reads 1234.50, or 1234,50. What could be thousands is refused: no amount is guessed.
func number(text, otherwise string) (string, error) {
	if text == "" {
		text = otherwise
	}
	plain := text
	if whole, decimals, ok := strings.Cut(text, ","); ok {
		if strings.ContainsAny(whole+decimals, ",.") || len(decimals) == 3 {
			return "", fmt.Errorf("%q can be read in two ways: write it like 1234.50", text)
		}
		plain = whole + "." + decimals
	}
	if !plainNumber.MatchString(plain) {
		return "", fmt.Errorf("%q is not a number: write it like 1234.50", text)
	}
	return plain, nil
}
