package automation

import (
	"fmt"
	"regexp"
	"strings"
)

// Numbers in a file are written in one format: a decimal mark, and marks between thousands that are the other of point
// and comma, spaces or apostrophes.

var (
	spaces    = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "\u2009", "", "'", "", "\u2019", "") // between thousands
	signed    = strings.NewReplacer("\u2212", "-")
	digitsRe  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$|^-?\.[0-9]+$`)
	groupedRe = regexp.MustCompile(`^-?([1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]?(,[0-9]{2})+,[0-9]{3})(\.[0-9]+)?$`) // thousands, or lakh and crore
	spacedRe  = regexp.MustCompile(`^-?[0-9]{1,3}([ \x{00a0}\x{202f}\x{2009}'\x{2019}][0-9]{3})+([.,][0-9]+)?$`)
)

const maxNumber = 40 // characters

// tidyNumber brings a cell to digits, signs, points and commas. Ok is false if it is something else.
func tidyNumber(s string) (string, bool) {
	s = signed.Replace(strings.TrimSpace(s))
	if ungrouped := spaces.Replace(s); ungrouped != s {
		if !spacedRe.MatchString(s) {
			return s, false
		}
		s = ungrouped
	}
	s = strings.TrimPrefix(s, "+")
	bare := strings.TrimPrefix(s, "-")
	return s, len(s) <= maxNumber && strings.Trim(bare, "0123456789.,") == "" && strings.ContainsAny(bare, "0123456789")
}

// decimalOf says which decimal mark the number shows: '.' or ','; 0 if it shows none; '?' if it could be either.
func decimalOf(cell string) rune {
	s, ok := tidyNumber(cell)
	if !ok || !strings.ContainsAny(s, ".,") {
		return 0
	}
	_, asPoint := readNumber(s, '.')
	_, asComma := readNumber(s, ',')
	switch {
	case asPoint && asComma:
		return '?'
	case asPoint:
		return '.'
	case asComma:
		return ','
	}
	return 0
}

// parseNumber reads a number in the file's format and returns it with a point. Errors are in the user's words.
func parseNumber(cell string, decimal rune) (string, error) {
	s, ok := tidyNumber(cell)
	if !ok {
		return "", fmt.Errorf("%q is not a number", shown(cell))
	}
	if s, ok = readNumber(s, decimal); !ok {
		return "", fmt.Errorf("%q is not a number with a decimal %s, as the rest of the file has it", shown(cell), markName(decimal))
	}
	return s, nil
}

// readNumber reads a tidy number under one of the marks and returns it with a point.
func readNumber(s string, decimal rune) (string, bool) {
	if decimal == ',' {
		s = strings.Map(func(r rune) rune {
			switch r {
			case ',':
				return '.'
			case '.':
				return ','
			}
			return r
		}, s)
	}
	if strings.Contains(s, ",") && groupedRe.MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	return s, digitsRe.MatchString(s)
}

func markName(decimal rune) string {
	if decimal == ',' {
		return "comma"
	}
	return "point"
}

// evidence collects what the cells of a file show about one question of its format.
type evidence[T comparable] struct {
	seen    map[T]where // the first cell for each answer
	unclear where       // the first cell that could be read either way
}

type where struct {
	line int
	cell string
}

func (e *evidence[T]) add(answer T, w where) {
	if e.seen == nil {
		e.seen = map[T]where{}
	}
	if _, ok := e.seen[answer]; !ok {
		e.seen[answer] = where{w.line, strings.Clone(w.cell)}
	}
}

func (e *evidence[T]) addUnclear(w where) {
	if e.unclear.line == 0 {
		e.unclear = where{w.line, strings.Clone(w.cell)}
	}
}

// decideDecimal settles the decimal mark of the file or asks.
func decideDecimal(e evidence[rune], asked, last rune) (rune, error) {
	point, isPoint := e.seen['.']
	comma, isComma := e.seen[',']
	switch {
	case asked != 0:
		return asked, nil
	case isPoint && isComma:
		return 0, fileErrorf(0, "numbers are written in two ways: %s in line %d has a decimal point, %s in line %d a decimal comma. Say which the file uses. Nothing was imported",
			shown(point.cell), point.line, shown(comma.cell), comma.line)
	case isComma:
		return ',', nil
	case isPoint || e.unclear.line == 0:
		return '.', nil
	case last != 0:
		return last, nil
	}
	return 0, fileErrorf(e.unclear.line, "%s can be read in two ways and no other number in the file tells which: say whether the file uses a decimal point or a decimal comma. Nothing was imported",
		shown(e.unclear.cell))
}
