package store

// AttemptsPartText is the statement for a part of an item's attempts, for tests of its plan.
func AttemptsPartText(s *Store) string {
	return s.db.text("SELECT " + names(attemptsTable.columns, "") + " FROM attempts WHERE " + partOfAttempts)
}
