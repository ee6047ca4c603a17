package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"

	"onefold/internal/seal"
)

// Keys sign cookies and seal secrets; see seal.Keys.
type Keys = seal.Keys

// Key is one of them.
type Key = seal.Key

// ParseKeys reads keys, newest first; see seal.Parse.
func ParseKeys(text string) (Keys, error) { return seal.Parse(text) }

// KeysFromFile reads the keys of a file, which is made if there is none; see seal.FromFile.
func KeysFromFile(path string) (Keys, error) { return seal.FromFile(path) }

// RandomKeys is one key that nobody knows, so that a restart signs everybody out.
func RandomKeys() Keys { return seal.Random() }

// Generate returns a random secret of 120 bits that people can type: five groups of letters and digits.
func Generate() string { return grouped(random(15)) }

// grouped is 15 bytes as people read them.
func grouped(b []byte) string {
	s := encoded(b)
	return s[:5] + "-" + s[5:10] + "-" + s[10:15] + "-" + s[15:20] + "-" + s[20:]
}

// letters are n random bytes as small letters and digits.
func letters(n int) string { return encoded(random(n)) }

func encoded(b []byte) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: the runtime ends the process instead
	return b
}

// digest is how random secrets are stored. They have 120 bits and more, so a slow hash adds nothing.
func digest(purpose, secret string) string {
	sum := sha256.Sum256([]byte(purpose + "\x00" + secret))
	return hex.EncodeToString(sum[:])
}
