package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Parse reads keys, newest first, separated by commas or white space. Each is any text of at least 32 characters, for
// example 32 random bytes in Base64.
func Parse(text string) (Keys, error) {
	var keys Keys
	for _, k := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n;", r) }) {
		if len(k) < 32 {
			return nil, fmt.Errorf("session key number %d has %d characters, at least 32 are needed: make one with openssl rand -base64 32", len(keys)+1, len(k))
		}
		keys = append(keys, sha256.Sum256([]byte(k)))
	}
	if len(keys) == 0 {
		return nil, ErrNoKeys
	}
	return keys, nil
}

// FromFile reads the keys of a file, newest first. If there is no such file it is made, with one random key and readable
// by its owner only.
func FromFile(path string) (Keys, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if err = makeKeyFile(path); err == nil {
			text, err = os.ReadFile(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the session keys: %w", err)
	}
	keys, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// makeKeyFile makes the file complete or not at all, also when another process does the same.
func makeKeyFile(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // its other name stays
	var key [32]byte
	_, _ = rand.Read(key[:])
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key[:]) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
