package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Keys sign cookies and seal secrets. The first one is used for new ones, the others still open what they made, so that
// keys can be changed without signing anybody out: put a new one in front, and drop the old ones after some weeks.
type Keys []Key

// Key is 32 bytes.
type Key [32]byte

// ParseKeys reads keys, newest first, separated by commas or white space. Each is any text of at least 32 characters, for
// example 32 random bytes in Base64.
func ParseKeys(text string) (Keys, error) {
	var keys Keys
	for _, k := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n;", r) }) {
		if len(k) < 32 {
			return nil, fmt.Errorf("session key number %d has %d characters, at least 32 are needed: make one with openssl rand -base64 32", len(keys)+1, len(k))
		}
		keys = append(keys, sha256.Sum256([]byte(k)))
	}
	if len(keys) == 0 {
		return nil, errors.New("no session key is given")
	}
	return keys, nil
}

// KeysFromFile reads the keys of a file, newest first. If there is no such file it is made, with one random key and
// readable by its owner only.
func KeysFromFile(path string) (Keys, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if err = makeKeyFile(path); err == nil {
			text, err = os.ReadFile(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the session keys: %w", err)
	}
	keys, err := ParseKeys(string(text))
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
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(random(32)) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// RandomKeys is one key that nobody knows, so that a restart signs everybody out.
func RandomKeys() Keys { return Keys{Key(random(32))} }

// derive is the key for one purpose, so that no key is used for two.
func (k Key) derive(purpose string) []byte {
	sum := sha256.Sum256(append([]byte("onefold "+purpose+"\x00"), k[:]...))
	return sum[:]
}

// mark names a key without telling it.
func (k Key) mark() string { return hex.EncodeToString(k.derive("mark")[:4]) }

func (k Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.derive("seal"))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal encrypts a secret with the newest key. It opens only for the same owner.
func (ks Keys) seal(secret, owner string) (string, error) {
	aead, err := ks[0].aead()
	if err != nil {
		return "", err
	}
	nonce := random(aead.NonceSize())
	sealed := aead.Seal(nonce, nonce, []byte(secret), []byte(owner))
	return ks[0].mark() + "." + base64.RawStdEncoding.EncodeToString(sealed), nil
}

var errSealed = errors.New("a stored secret cannot be opened: its key is missing from the session keys")

// open decrypts what seal made with any of the keys.
func (ks Keys) open(sealed, owner string) (string, error) {
	mark, text, _ := strings.Cut(sealed, ".")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return "", errSealed
	}
	for _, k := range ks {
		aead, err := k.aead()
		if err != nil {
			return "", err
		}
		if k.mark() != mark || len(raw) < aead.NonceSize() {
			continue
		}
		if plain, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], []byte(owner)); err == nil {
			return string(plain), nil
		}
	}
	return "", errSealed
}

// sealedByNewest reports whether the newest key sealed it.
func (ks Keys) sealedByNewest(sealed string) bool { return strings.HasPrefix(sealed, ks[0].mark()+".") }

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
