package auth

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// RefusedPasswords are passwords that nobody may take, for example those of a public list of breached ones. A few bytes of
// a hash stand for each, so that a list of millions fits into memory.
type RefusedPasswords map[[8]byte]struct{}

// ReadRefusedPasswords reads one password from each line. Those that are too short or too long anyway are left out.
func ReadRefusedPasswords(r io.Reader) (RefusedPasswords, error) {
	list := RefusedPasswords{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		password := strings.TrimSuffix(lines.Text(), "\r")
		if utf8.RuneCountInString(password) >= MinPassword && len(password) <= MaxPassword {
			list[list.key(password)] = struct{}{}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the refused passwords: %w", err)
	}
	return list, nil
}

// Has reports whether the password is on the list, in capitals or not.
func (l RefusedPasswords) Has(password string) bool {
	_, found := l[l.key(password)]
	return found
}

func (RefusedPasswords) key(password string) [8]byte {
	sum := sha256.Sum256([]byte(strings.ToLower(password)))
	return [8]byte(sum[:8])
}
