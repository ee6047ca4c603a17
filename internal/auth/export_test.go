package auth

// Compared calls seen with the hash of each comparison, for tests.
func Compared(a *Auth, seen func(hash string)) {
	compare := a.compare
	a.compare = func(password, hash string) (bool, error) {
		seen(hash)
		return compare(password, hash)
	}
}
