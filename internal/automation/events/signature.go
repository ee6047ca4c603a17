// Package events takes in what others tell us: order events, which become items, and notices of accounting systems, which
// make us look. Either is signed, and remembered by its id, so that it counts once however often it comes.
package events

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// SignatureHeader carries "t=1764406920,v1=<hex>": the time in seconds, and the HMAC-SHA256 of the time, a dot and the body.
// There may be several v1, while a secret is being changed.
const SignatureHeader = "Onefold-Signature"

// Tolerance is how far a signature's time may be from ours.
const Tolerance = 5 * time.Minute

// maxSignatures bounds the work for one header.
const maxSignatures = 8

// Why a signature does not count.
var (
	ErrSignature = errors.New("the signature is missing or wrong")
	ErrStale     = errors.New("the signature's time is more than 5 minutes from ours: sign again when you send again")
)

// NewSecret is a secret that nobody can guess.
func NewSecret() string { return "whsec_" + rand.Text() + rand.Text() }

// Sign returns the value of the header for a body.
func Sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(secret, t, body))
}

// Verify reports with nil that one of the secrets signed the body at about this time; else ErrSignature or ErrStale. How
// long it takes does not tell how much was right.
func Verify(secrets []string, header string, body []byte, now time.Time) error {
	stamp := ""
	var given [][]byte
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			stamp = value
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil && len(given) < maxSignatures {
				given = append(given, sum)
			}
		}
	}
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || len(given) == 0 {
		return ErrSignature
	}
	good := false
	for _, secret := range secrets {
		want := mac(secret, stamp, body)
		for _, sum := range given {
			good = hmac.Equal(want, sum) && secret != "" || good
		}
	}
	if !good {
		return ErrSignature
	}
	if off := now.Sub(time.Unix(at, 0)).Abs(); off > Tolerance {
		return ErrStale
	}
	return nil
}

func mac(secret, stamp string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(stamp + "."))
	h.Write(body)
	return h.Sum(nil)
}
