package automation

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	maxUpload = 512 << 20 // bytes of a file
	maxRecord = 1 << 20   // bytes of one row: beyond it a quotation mark was forgotten
)

// upload is a CSV file kept on disk, so that it can be read twice without being held in memory.
type upload struct {
	file     *os.File
	encoding encoding.Encoding
	name     string // of the encoding
	skip     int    // lines before the heading ("sep=;")
	heading  int    // the line on which the heading begins; what is above it is left out
	book     *book  // a workbook in place of text; nil: text
}

func (up *upload) close() {
	if up.book != nil {
		_ = up.book.file.Close()
	}
	_ = up.file.Close()
	_ = os.Remove(up.file.Name())
}

// spool keeps the file and finds out its encoding.
func spool(r io.Reader, dir, encodingName string) (*upload, error) {
	f, err := os.CreateTemp(dir, "import-*.csv")
	if err != nil {
		return nil, fmt.Errorf("keep the upload: %w", err)
	}
	up := &upload{file: f}
	if err := up.fill(r, encodingName); err != nil {
		up.close()
		return nil, err
	}
	return up, nil
}

func (up *upload) fill(r io.Reader, encodingName string) (err error) {
	n, err := io.Copy(up.file, io.LimitReader(r, maxUpload+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the file: %w", err)
	case n == 0:
		return fileErrorf(0, "the file is empty")
	case n > maxUpload:
		return fileErrorf(0, "the file is larger than %d MB: split it", maxUpload>>20)
	}
	if up.book, err = openBook(up.file); err != nil || up.book != nil {
		return err
	}
	up.encoding, up.name, err = encodingOf(up.file, encodingName)
	return err
}

// encodingOf finds out how the text is written.
func encodingOf(f *os.File, asked string) (encoding.Encoding, string, error) {
	head := make([]byte, 4096)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", fmt.Errorf("read the file: %w", err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0")):
		return nil, "", fileErrorf(0, "this is an old or a protected Excel workbook: save it as .xlsx without a password, or as \"CSV UTF-8\", and import that")
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		return unicode.UTF8BOM, "UTF-8", nil
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("\xFE\xFF")):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM), "UTF-16", nil
	case asked != "":
		e, err := htmlindex.Get(asked)
		if err != nil {
			return nil, "", fileErrorf(0, "the encoding %q is not known: use a name such as utf-8 or windows-1252", asked)
		}
		name, _ := htmlindex.Name(e)
		return e, name, nil
	case bytes.IndexByte(head, 0) >= 0:
		return nil, "", fileErrorf(0, "this is not a text file: save it as \"CSV UTF-8\" and import that")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, "", fmt.Errorf("read the file: %w", err)
	}
	_, err = io.Copy(io.Discard, transform.NewReader(f, encoding.UTF8Validator))
	switch {
	case err == nil:
		return unicode.UTF8BOM, "UTF-8", nil
	case errors.Is(err, encoding.ErrInvalidUTF8):
		return charmap.Windows1252, "Windows-1252", nil
	}
	return nil, "", fmt.Errorf("read the file: %w", err)
}

// text starts reading the file as UTF-8 from the beginning.
func (up *upload) text() (*bufio.Reader, error) {
	if _, err := up.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return bufio.NewReaderSize(transform.NewReader(up.file, up.encoding.NewDecoder()), 64<<10), nil
}

// record is one row of the file.
type record struct {
	heading bool
	line    int // of the file, on which the row begins
	fields  []string
	numbers []bool // which fields are numbers of a workbook; shorter than fields or nil: text
	broken  error  // the row could not be read, in the user's words; fields may be missing
}

func (r record) blank() bool {
	for _, f := range r.fields {
		if strings.TrimSpace(f) != "" {
			return false
		}
	}
	return r.broken == nil
}

// errEnough stops records early.
var errEnough = errors.New("enough")

// records calls f for the heading and each row. The fields are good only until f returns.
func (up *upload) records(delimiter rune, f func(record) error) error {
	if up.book != nil {
		return up.book.records(up.heading, f)
	}
	text, err := up.text()
	if err != nil {
		return err
	}
	for range up.skip {
		if _, err := text.ReadString('\n'); err != nil {
			return fileErrorf(0, "the file has no heading")
		}
	}
	limit := &recordLimit{from: text}
	r := csv.NewReader(limit)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = delimiter, -1, true
	last := 0
	for heading := true; ; {
		limit.left = maxRecord
		fields, err := r.Read()
		rec := record{heading: heading, fields: fields}
		var parse *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTooLong):
			return fileErrorf(last, "the row after this one is longer than %d MB: a quotation mark was opened and not closed", maxRecord>>20)
		case errors.As(err, &parse):
			rec.line, rec.broken = up.skip+parse.StartLine, up.quoteError(parse)
		case err != nil:
			return fmt.Errorf("read the file: %w", err)
		default:
			line, _ := r.FieldPos(0)
			rec.line = up.skip + line
		}
		last = rec.line
		if heading && rec.line < up.heading {
			continue
		}
		heading = false
		switch err := f(rec); {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		}
	}
}

// quoteError puts a parser's complaint in the user's words.
func (up *upload) quoteError(e *csv.ParseError) error {
	if e.Line > e.StartLine {
		return fmt.Errorf("a quotation mark was opened here and not closed properly: lines %d to %d were not read", up.skip+e.StartLine, up.skip+e.Line)
	}
	return errors.New("a quotation mark stands in the wrong place: put the whole field in quotation marks and double those inside it")
}

var errTooLong = errors.New("row too long")

// recordLimit bounds what one row may take from the file.
type recordLimit struct {
	from io.Reader
	left int
}

func (l *recordLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.from.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
