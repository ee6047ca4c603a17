package auth

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
)

const (
	// MinPassword is the shortest password, in characters.
	MinPassword = 12
	// MaxPassword is the longest one, in bytes: longer ones would only cost time.
	MaxPassword = 1024
)

// The parameters that OWASP recommends where memory is dear.
var params = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// WeakPassword says why a new password is refused.
type WeakPassword struct{ Why PasswordFault }

// PasswordFault is a stable code; pages translate it.
type PasswordFault string

const (
	PasswordTooShort PasswordFault = "too_short"
	PasswordTooLong  PasswordFault = "too_long"
	PasswordCommon   PasswordFault = "common"   // made of words and rows of keys that everybody tries first
	PasswordPersonal PasswordFault = "personal" // contains the login or the name
	PasswordSame     PasswordFault = "same"     // is the present one
)

func (w *WeakPassword) Error() string {
	switch w.Why {
	case PasswordTooShort:
		return fmt.Sprintf("the password needs at least %d characters", MinPassword)
	case PasswordTooLong:
		return fmt.Sprintf("the password must not be longer than %d bytes", MaxPassword)
	case PasswordPersonal:
		return "the password must not contain the login or the name"
	case PasswordSame:
		return "the new password must differ from the present one"
	default:
		return "the password is among those that are tried first: use several words that do not belong together"
	}
}

// CheckPassword returns a *WeakPassword if a person must not take the password. There are no rules of composition. More
// are words that are refused as well, for example the firm's name.
func CheckPassword(password string, u User, more []string) error {
	switch {
	case utf8.RuneCountInString(password) < MinPassword:
		return &WeakPassword{PasswordTooShort}
	case len(password) > MaxPassword:
		return &WeakPassword{PasswordTooLong}
	}
	plain := strings.ToLower(password)
	for _, word := range personal(u) {
		if strings.Contains(plain, word) {
			return &WeakPassword{PasswordPersonal}
		}
	}
	if common(plain, more) {
		return &WeakPassword{PasswordCommon}
	}
	return nil
}

// personal are the parts of login and name that are long enough to tell something.
func personal(u User) (words []string) {
	login, _, _ := strings.Cut(u.Login, "@")
	for _, w := range append(strings.FieldsFunc(u.Name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), login) {
		if w = strings.ToLower(w); utf8.RuneCountInString(w) >= 4 {
			words = append(words, w)
		}
	}
	return words
}

var likeLetters = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// common reports whether little is left of a password without refused words, digits and signs, or whether it repeats
// itself.
func common(plain string, more []string) bool {
	different := map[rune]bool{}
	for _, r := range plain {
		different[r] = true
	}
	if len(different) < 5 {
		return true
	}
	return telling(without(plain, more)) < 6 || telling(without(likeLetters.Replace(plain), more)) < 6
}

// without takes the refused words away.
func without(s string, more []string) string {
	for _, words := range [][]string{more, refused} {
		for _, w := range words {
			if w = strings.ToLower(w); len(w) >= 3 {
				s = strings.ReplaceAll(s, w, "\x00")
			}
		}
	}
	return s
}

// telling counts the letters that are left, each run of one letter once.
func telling(s string) (n int) {
	var last rune
	for _, r := range s {
		if unicode.IsLetter(r) && r != last {
			n++
		}
		last = r
	}
	// A password of digits and signs alone is judged by them: it has no words to take away.
	if n == 0 && !strings.Contains(s, "\x00") {
		return utf8.RuneCountInString(s) / 2
	}
	return n
}

// refused are words and rows of keys that everybody tries first, longer ones before the shorter ones they contain.
var refused = []string{
	"qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "yxcvbnm", "zxcvbnm", "1qaz2wsx3edc", "1qaz2wsx", "qazwsxedc", "qazwsx",
	"1q2w3e4r5t6z", "1q2w3e4r5t", "1q2w3e4r", "q1w2e3r4", "qwerty", "qwertz", "azerty", "asdfgh", "zxcvbn", "yxcvbn", "asdf",
	"abcdefghijkl", "abcdefgh", "abcdef", "abcd", "abc123", "12345678901234567890", "1234567890", "123456789", "12345678", "1234567",
	"123456", "12345", "1234", "0987654321", "987654321", "87654321", "654321", "4321", "111111", "000000", "123123", "121212",
	"password", "passwort", "motdepasse", "contrasena", "passwd", "passw", "passphrase", "kennwort", "geheim", "secret", "default",
	"letmein", "welcome", "willkommen", "changeme", "trustno", "iloveyou", "sunshine", "princess", "dragon", "monkey", "football",
	"baseball", "superman", "batman", "master", "shadow", "starwars", "whatever", "login", "signin", "access", "hello", "hallo",
	"administrator", "administrators", "admin", "root", "superuser", "operator", "viewer", "support", "finance", "accounting", "accounts",
	"buchhaltung", "invoices", "invoice", "rechnung", "facture", "billing", "onefold", "company", "firma", "office", "server", "system",
	"test", "demo", "guest", "user", "pass", "temp", "january", "february", "march", "april", "june", "july", "august", "september",
	"october", "november", "december", "spring", "summer", "sommer", "autumn", "winter", "monday", "tuesday", "wednesday", "thursday",
	"friday", "saturday", "sunday",
}

// hash is the password as it is stored. The slots bound the memory that all hashing takes at the same time.
func (a *Auth) hash(ctx context.Context, password string) (hash string, err error) {
	err = a.inSlot(ctx, func() (err error) {
		hash, err = argon2id.CreateHash(password, params)
		return err
	})
	return hash, err
}

func (a *Auth) fits(ctx context.Context, password, hash string) (fits bool, err error) {
	if len(password) > MaxPassword {
		return false, nil
	}
	err = a.inSlot(ctx, func() (err error) {
		fits, err = a.compare(password, hash)
		return err
	})
	return fits, err
}

func (a *Auth) inSlot(ctx context.Context, f func() error) error {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	}
}
