package review

import (
	"strings"
	"unicode"

	"onefold/internal/work"
)

// similar finds rows that may carry a reference in another spelling: with zeros lost, letters folded, cut short, in the
// middle of a longer text or in another column. Such a row does not confirm anything, but while it is there the item is not
// taken for absent.
type similar struct {
	text  string // every row that belongs to no item, squashed
	lines []int  // of the file, for each place in text
	ends  []int
	cells map[string]int // squashed references without leading zeros: the line of the file
}

// shortReference is the length below which a reference is only compared whole: it would be part of too much.
const shortReference = 5

// longNumber is how many digits of a number spreadsheets keep for sure.
const longNumber = 14

func newSimilar(rows []work.ReportRow) *similar {
	s := &similar{cells: map[string]int{}}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(squash(r.Text))
		b.WriteByte('\n')
		s.lines, s.ends = append(s.lines, r.Line), append(s.ends, b.Len())
		for _, cell := range append(strings.Split(r.Text, " · "), r.Reference) {
			if c := bare(cell); c != "" {
				s.cells[c] = r.Line
			}
		}
	}
	s.text = b.String()
	return s
}

// line returns the line of a row that may carry the reference; 0: there is none.
func (s *similar) line(reference string) int {
	want := bare(reference)
	if line, ok := s.cells[want]; ok {
		return line
	}
	if strings.Trim(want, "0123456789") == "" && len(want) > longNumber {
		want = want[:longNumber]
	}
	if len([]rune(want)) >= shortReference {
		if at := strings.Index(s.text, want); at >= 0 {
			return s.lineAt(at)
		}
	}
	letters := []rune(want)
	for n := len(letters) - 1; n >= 2*shortReference; n-- { // cut at the end
		if line, ok := s.cells[string(letters[:n])]; ok {
			return line
		}
	}
	return 0
}

func (s *similar) lineAt(at int) int {
	for i, end := range s.ends {
		if at < end {
			return s.lines[i]
		}
	}
	return 0
}

// squash leaves letters and digits, folded.
func squash(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, work.FoldKey(text))
}

func bare(text string) string { return strings.TrimLeft(squash(text), "0") }
