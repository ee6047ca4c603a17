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

// telling are the pieces of a text that say most: the last six digits of its longest run of digits, or else the middle six
// letters of its only word; of the two next runs and words, the middle. A text without any is its own piece.
func telling(folded string) (pieces []string) {
	text := []rune(folded)
	runs := runsOf(text)
	if len(text) <= wholeLength || len(runs) == 0 {
		return []string{folded}
	}
	for i, run := range runs[:min(len(runs), 3)] {
		switch {
		case i > 0 || len(run) == pieceLength || !isDigit(run[0]) && len(runs) > 1:
			pieces = append(pieces, string(middle(run, pieceLength)))
			continue
		case isDigit(run[0]):
			run = run[max(len(run)-2*pieceLength, 0):]
		default:
			run = middle(run, 2*pieceLength)
		}
		pieces = append(pieces, string(run[:pieceLength]), string(run[len(run)-pieceLength:]))
	}
	return pieces
}

// middle are the n characters in the middle of a run, or all of a shorter one.
func middle(run []rune, n int) []rune {
	from := max((len(run)-n)/2, 0)
	return run[from:min(from+n, len(run))]
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
