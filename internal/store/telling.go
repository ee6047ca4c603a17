package store

import (
	"cmp"
	"slices"
	"unicode"
)

// The index knows pieces of three characters, and each that it is asked for costs a walk through all rows that hold it. So
// it is asked for few, of those parts of a text that the fewest rows hold, and the rest is compared.
const (
	pieceLength = 3
	wholeLength = 5 // so short a text is asked for as it is
)

// telling are the pieces of a text that say most: of its longest run of digits, or else of its longest word, the last six
// digits or the middle six letters; of the two next ones, the middle. A text without any is its own piece.
func telling(folded string) []string {
	text := []rune(folded)
	runs := runsOf(text)
	if len(text) <= wholeLength || len(runs) == 0 {
		return []string{folded}
	}
	most := runs[0]
	if over := len(most) - 2*pieceLength; over > 0 && isDigit(most[0]) {
		most = most[over:]
	} else if over > 0 {
		most = most[over/2 : over/2+2*pieceLength]
	}
	pieces := []string{string(most[:pieceLength])}
	if len(most) > pieceLength {
		pieces = append(pieces, string(most[len(most)-pieceLength:]))
	}
	for _, run := range runs[1:min(len(runs), 3)] {
		from := (len(run) - pieceLength) / 2
		pieces = append(pieces, string(run[from:from+pieceLength]))
	}
	return pieces
}

// runsOf are the runs of digits and then the words of a text, the longest first, without those that no piece can be made of.
func runsOf(text []rune) (runs [][]rune) {
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && kindOf(text[end]) == kindOf(text[at]) {
			end++
		}
		if kindOf(text[at]) != 0 && end-at >= pieceLength {
			runs = append(runs, text[at:end])
		}
		at = end
	}
	slices.SortStableFunc(runs, func(a, b []rune) int {
		return cmp.Or(cmp.Compare(kindOf(b[0]), kindOf(a[0])), cmp.Compare(len(b), len(a)))
	})
	return runs
}

// kindOf is what a character is part of: a run of digits (2), a word (1) or neither.
func kindOf(c rune) int {
	switch {
	case isDigit(c):
		return 2
	case unicode.IsLetter(c):
		return 1
	}
	return 0
}

func isDigit(c rune) bool { return '0' <= c && c <= '9' }
