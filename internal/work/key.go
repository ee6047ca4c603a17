package work

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// MaxBusinessKey is the longest business key, in characters.
const MaxBusinessKey = 200

// ErrKey is wrapped by every error about a business key.
var ErrKey = errors.New("business key")

// CleanKey returns the business key as it is stored and shown: trimmed, inner spaces collapsed, NFC. It refuses empty
// and overlong keys, control characters and text that is not UTF-8.
func CleanKey(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: it is not valid text (UTF-8)", ErrKey)
	}
	s = norm.NFC.String(strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " "))
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return "", fmt.Errorf("%w: %q contains an invisible character (U+%04X)", ErrKey, s, r)
		}
	}
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return "", fmt.Errorf("%w: it is empty", ErrKey)
	case n > MaxBusinessKey:
		return "", fmt.Errorf("%w: it has %d characters, at most %d are allowed", ErrKey, n, MaxBusinessKey)
	}
	return s, nil
}

// FoldKey is the one rule for sameness of keys: the clean key, case-folded. Two keys are the same if and only if they
// fold to the same text. It never fails: text that CleanKey would refuse is folded as well as it goes, for searching.
func FoldKey(s string) string {
	s = norm.NFC.String(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), unicode.IsSpace), " "))
	// Folding alone swaps the two cases of Cherokee instead of joining them.
	return norm.NFC.String(strings.ToLower(cases.Fold().String(s)))
}

// Reference derives the reference that travels to the system for a business key. If the key fits the system it is the
// reference; otherwise it is a readable prefix and a hash in [A-Z0-9-], within the system's limit. Nothing is cut to
// fit: different keys get different references. The prefix may be empty; it keeps installations apart.
func Reference(prefix, businessKey string, c Capabilities) (string, error) {
	whole := prefix + businessKey
	// Other spellings of one folded key meet the same item, so a reference that keeps the spelling is still unique.
	if (c.MaxReference == 0 || utf8.RuneCountInString(whole) <= c.MaxReference) && (!c.PlainReference || plain(whole)) && !looksNumeric(whole) {
		return whole, nil
	}
	limit := c.MaxReference
	if limit == 0 || limit > 40 {
		limit = 40
	}
	return shorten(whole, prefix+FoldKey(businessKey), limit)
}

// Key derives the idempotency key of one item. It depends on the event and the step only, never on the attempt.
func Key(companyID int64, automation, businessKey, step string, c Capabilities) (string, error) {
	whole := fmt.Sprintf("%d/%s/%s/%s", companyID, automation, FoldKey(businessKey), step)
	limit := c.MaxKey
	if limit == 0 || limit > 64 {
		limit = 64
	}
	return shorten(automation+"-"+businessKey+"-"+step, whole, limit-revisionRoom)
}

// revisionRoom is kept free in a key for the suffix of a revision ("-R12").
const revisionRoom = 4

// RevisionKey is the idempotency key of a revision: a system would replay its old refusal under the old key.
func RevisionKey(key string, revision int) string {
	if revision <= 1 {
		return key
	}
	return fmt.Sprintf("%s-R%d", key, revision)
}

const hashLength = 13 // base32 characters: 65 bits

// shorten makes a readable prefix of text plus a hash of whole, in [A-Z0-9-], of at most limit characters.
func shorten(text, whole string, limit int) (string, error) {
	if limit < hashLength+1 {
		return "", fmt.Errorf("%w: the accounting system allows only %d characters, at least %d are needed", ErrKey, limit, hashLength+1)
	}
	sum := sha256.Sum256([]byte(whole))
	hash := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])[:hashLength]
	var b strings.Builder
	for _, r := range strings.ToUpper(norm.NFD.String(text)) {
		switch {
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-") && !unicode.Is(unicode.Mn, r):
			b.WriteByte('-')
		}
	}
	readable := b.String()
	if room := limit - hashLength - 1; len(readable) > room {
		readable = readable[:room]
	}
	readable = strings.Trim(readable, "-")
	if readable == "" {
		// A letter in front: some systems take a numeric reference for a row id (accounting-systems.md, T22).
		return "K" + hash, nil
	}
	return readable + "-" + hash, nil
}

// plain reports whether s survives any system's trimming, upper-casing and quoting.
func plain(s string) bool {
	for _, r := range s {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' {
			return false
		}
	}
	return s != ""
}

// looksNumeric reports whether s could be taken for a row id.
func looksNumeric(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
