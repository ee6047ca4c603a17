// Package seal holds the keys of this installation and encrypts the secrets that the database keeps. It stands alone, so
// that accounts (auth) and the connections to accounting systems (automation) share one set of keys and know nothing of
// each other.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
)

// Keys sign cookies and seal secrets. The first one is used for new ones, the others still open what they made, so that
// keys can be changed without signing anybody out: put a new one in front, and drop the old ones after some weeks. What is
// stored is sealed anew with the first key when a server starts.
type Keys []Key

// Key is 32 bytes.
type Key [32]byte

// Random is one key that nobody knows: what it sealed is lost with the process.
func Random() Keys {
	var k Key
	_, _ = rand.Read(k[:]) // never fails: the runtime ends the process instead
	return Keys{k}
}

// Derive is the key for one purpose, so that no key is used for two.
func (k Key) Derive(purpose string) []byte {
	sum := sha256.Sum256(append([]byte("onefold "+purpose+"\x00"), k[:]...))
	return sum[:]
}

// mark names a key without telling it.
func (k Key) mark() string { return hex.EncodeToString(k.Derive("mark")[:4]) }

func (k Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.Derive("seal"))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// ErrNoKeys says that there is no key to seal with.
var ErrNoKeys = errors.New("no session key is given")

// Seal encrypts a secret with the newest key (AES-256-GCM). It opens only for the same owner, for example "system:books".
func (ks Keys) Seal(secret, owner string) (string, error) {
	if len(ks) == 0 {
		return "", ErrNoKeys
	}
	aead, err := ks[0].aead()
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(secret)+aead.Overhead())
	_, _ = rand.Read(nonce)
	sealed := aead.Seal(nonce, nonce, []byte(secret), []byte(owner))
	return ks[0].mark() + "." + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// ErrSealed says that no key opens a stored secret, or that it belongs to another owner.
var ErrSealed = errors.New("a stored secret cannot be opened: its key is missing from the session keys")

// Open decrypts what Seal made with any of the keys for the owner; else ErrSealed.
func (ks Keys) Open(sealed, owner string) (string, error) {
	mark, text, _ := strings.Cut(sealed, ".")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return "", ErrSealed
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
	return "", ErrSealed
}

// ByNewest reports whether the newest key sealed it.
func (ks Keys) ByNewest(sealed string) bool {
	return len(ks) > 0 && strings.HasPrefix(sealed, ks[0].mark()+".")
}
