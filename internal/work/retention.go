package work

import "time"

// Finished reports whether nothing more will happen to the item by itself: it is settled, no call is open and no look is owed.
func (it *Item) Finished() bool {
	return it.Status.Settled() && it.OpenAttempt == 0 && it.LastLook != LastLookOwed
}

// Needless are the numbers of the attempts of an item that nobody needs any more, among all of its attempts in order: those that
// ended before the time, of an item that is finished. The rest stays for as long as the item:
//
//   - the last send of each revision, which tells what was sent, and that a revision must not be overwritten;
//   - whatever says that the record is there: accepted answers, findings of a record, and late answers. They are the evidence
//     of the item, and tell when it was settled.
func Needless(it *Item, attempts []Attempt, before time.Time) (numbers []int) {
	if !it.Finished() {
		return nil
	}
	last := map[int]int{}
	for _, a := range attempts {
		if a.Kind == Send && a.LateFor == 0 {
			last[a.Revision] = a.Number
		}
	}
	for _, a := range attempts {
		if a.EndedAt.IsZero() || !a.EndedAt.Before(before) || a.LateFor > 0 || a.Outcome == Accepted || a.Outcome == AlreadyExists || a.Finding.Found() ||
			a.Kind == Send && last[a.Revision] == a.Number {
			continue
		}
		numbers = append(numbers, a.Number)
	}
	return numbers
}
