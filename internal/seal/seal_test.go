package seal_test

import (
	"errors"
	"strings"
	"testing"

	"onefold/internal/seal"
)

// A stored secret opens only under its key and for its owner, and no change of it goes unseen.
func TestSealedSecretsOpenOnlyForTheirOwner(t *testing.T) {
	older, newer := seal.Random(), seal.Random()
	sealed, err := older.Seal("s3cret-token", "system:books")
	if err != nil || strings.Contains(sealed, "s3cret") {
		t.Fatal(sealed, err)
	}
	if again, err := older.Seal("s3cret-token", "system:books"); err != nil || again == sealed {
		t.Errorf("the same secret is sealed the same twice: %v", err)
	}
	both := append(newer[:1:1], older...)
	if got, err := both.Open(sealed, "system:books"); err != nil || got != "s3cret-token" {
		t.Errorf("with the newer key in front: %q %v", got, err)
	}
	if both.ByNewest(sealed) || !older.ByNewest(sealed) {
		t.Error("the key that sealed it is not known")
	}
	flipped := []byte(sealed)
	flipped[len(flipped)-6] ^= 1
	for name, open := range map[string]func() (string, error){
		"another owner": func() (string, error) { return older.Open(sealed, "system:other") },
		"without key":   func() (string, error) { return newer.Open(sealed, "system:books") },
		"changed":       func() (string, error) { return older.Open(string(flipped), "system:books") },
		"cut":           func() (string, error) { return older.Open(sealed[:20], "system:books") },
		"empty":         func() (string, error) { return older.Open("", "system:books") },
	} {
		if got, err := open(); !errors.Is(err, seal.ErrSealed) || got != "" {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if _, err := (seal.Keys)(nil).Seal("x", "y"); !errors.Is(err, seal.ErrNoKeys) {
		t.Errorf("without any key: %v", err)
	}
}
