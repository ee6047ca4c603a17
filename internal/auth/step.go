package auth

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"onefold/internal/work"
)

// ErrNotFresh says that the person must sign in again first: the act needs a recent proof of who they are.
var ErrNotFresh = errors.New("sign in again first")

// Enrolment is what an authenticator app needs. It is shown once, to the person only.
type Enrolment struct {
	Secret string // to be typed
	URL    string // otpauth://…
	PNG    []byte // the same as a QR code
}

const stepPeriod = 30

// MaxWrongCodes is how many wrong codes end a sign-in, so that the password is asked for again.
const MaxWrongCodes = 5

var codeOpts = totp.ValidateOpts{Period: stepPeriod, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// BeginEnrol makes a secret for the person's authenticator app. It counts only once ConfirmEnrol has seen a code of it.
// The sign-in must be a recent one, else ErrNotFresh.
func (a *Auth) BeginEnrol(ctx context.Context, v Visit) (Enrolment, error) {
	if err := a.mayEnrol(v); err != nil {
		return Enrolment{}, err
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: a.Issuer, AccountName: v.User.Login, SecretSize: 20, Period: stepPeriod})
	if err != nil {
		return Enrolment{}, fmt.Errorf("make a secret: %w", err)
	}
	sealed, err := a.Keys.Seal(key.Secret(), stepOwner(v.User.ID))
	if err != nil {
		return Enrolment{}, err
	}
	_, err = a.store.ChangeUser(ctx, v.User.ID, func(u *User) (Change, error) {
		u.TOTPPending = sealed
		return Change{}, nil
	})
	if err != nil {
		return Enrolment{}, err
	}
	return drawn(key)
}

// PendingEnrol returns what BeginEnrol made, as long as it has not been confirmed; ErrNotFound if there is nothing.
func (a *Auth) PendingEnrol(v Visit) (Enrolment, error) {
	if err := a.mayEnrol(v); err != nil {
		return Enrolment{}, err
	}
	if v.User.TOTPPending == "" {
		return Enrolment{}, ErrNotFound
	}
	secret, err := a.Keys.Open(v.User.TOTPPending, stepOwner(v.User.ID))
	if err != nil {
		return Enrolment{}, err
	}
	plain, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return Enrolment{}, fmt.Errorf("read the secret: %w", err)
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: a.Issuer, AccountName: v.User.Login, Secret: plain, Period: stepPeriod})
	if err != nil {
		return Enrolment{}, fmt.Errorf("make the address: %w", err)
	}
	return drawn(key)
}

// drawn is the secret in all forms in which an app takes it.
func drawn(key *otp.Key) (Enrolment, error) {
	img, err := key.Image(240, 240)
	if err != nil {
		return Enrolment{}, fmt.Errorf("draw the code: %w", err)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, img); err != nil {
		return Enrolment{}, fmt.Errorf("draw the code: %w", err)
	}
	return Enrolment{key.Secret(), key.URL(), picture.Bytes()}, nil
}

func (a *Auth) mayEnrol(v Visit) error {
	switch {
	case v.Step != Ready && v.Step != NeedsEnrol:
		return ErrForbidden
	case !a.fresh(v):
		return ErrNotFresh
	}
	return nil
}

// ConfirmEnrol makes the second step count, if the code is of the pending secret, and returns recovery codes, which are
// shown once. The person's other sessions end, this one gets a new id.
func (a *Auth) ConfirmEnrol(w http.ResponseWriter, r *http.Request, code string, from Origin) ([]string, error) {
	v, err := a.load(r)
	if err != nil {
		return nil, err
	}
	if err := a.mayEnrol(v); err != nil {
		return nil, err
	}
	bounds := stepBounds(strconv.FormatInt(v.User.ID, 10))
	if err := a.throttle.enter(a.now(), bounds); err != nil {
		return nil, err
	}
	codes, hashes := newCodes(v.User.ID)
	_, err = a.store.ChangeUser(r.Context(), v.User.ID, func(u *User) (Change, error) {
		step, err := a.matches(u.TOTPPending, u.ID, code, 0)
		if err != nil {
			return Change{}, err
		}
		u.TOTPSecret, u.TOTPPending, u.TOTPStep = u.TOTPPending, "", step
		return Change{NewCodes: hashes, EndSessions: true, KeepSession: v.Session.ID,
			Entry: Entry{By: u.Actor(), From: from, What: DidEnrol, Object: u.Object()}}, nil
	})
	if err != nil {
		return nil, err
	}
	a.throttle.passed(bounds)
	_, err = a.cookies.rotate(w, r, true, false)
	return codes, err
}

// CheckCode takes the code of the second step, or a recovery code, of a person whose password fitted. It returns
// ErrWrongCode or a *Throttled; after several wrong codes the session is over.
func (a *Auth) CheckCode(w http.ResponseWriter, r *http.Request, code string, from Origin) (Visit, error) {
	ctx := r.Context()
	v, err := a.load(r)
	if err != nil {
		return v, err
	}
	if v.Step != NeedsCode {
		return v, ErrForbidden
	}
	bounds := stepBounds(strconv.FormatInt(v.User.ID, 10))
	if err := a.throttle.enter(a.now(), bounds); err != nil {
		return v, err
	}
	if err := a.spend(ctx, v.User, code, from); err != nil {
		if !errors.Is(err, ErrWrongCode) {
			return v, err
		}
		return v, errors.Join(err, a.wrongCode(w, r, v, from))
	}
	a.throttle.passed(bounds)
	if ok, err := a.cookies.rotate(w, r, true, false); err != nil || !ok {
		return v, errors.Join(err, ErrForbidden)
	}
	e := Entry{By: v.User.Actor(), From: from, What: DidSignIn, Object: v.User.Object(), Note: "second step"}
	if err := a.store.SignedIn(ctx, v.User.ID, a.now(), e); err != nil {
		return v, err
	}
	return a.load(r)
}

func (a *Auth) wrongCode(w http.ResponseWriter, r *http.Request, v Visit, from Origin) error {
	e := Entry{By: v.User.Actor(), From: from, What: DidSecondStepFailed, Object: v.User.Object()}
	n, err := a.store.CountWrongCode(r.Context(), v.Session.ID)
	if err == nil && n >= MaxWrongCodes {
		e.Note = "the session was ended"
		err = a.store.EndSession(r.Context(), v.User.ID, v.Session.ID, a.now(), e)
		a.cookies.drop(w)
		return err
	}
	return errors.Join(err, a.Audit(r.Context(), e))
}

// spend uses up a code of the app or a recovery code.
func (a *Auth) spend(ctx context.Context, u User, code string, from Origin) error {
	code = cleanCode(code)
	if len(code) != int(otp.DigitsSix) {
		_, err := a.store.ChangeUser(ctx, u.ID, func(u *User) (Change, error) {
			return Change{SpendCode: digestCode(u.ID, code), Entry: Entry{By: u.Actor(), From: from, What: DidUseCode, Object: u.Object()}}, nil
		})
		return err
	}
	step, err := a.matches(u.TOTPSecret, u.ID, code, u.TOTPStep)
	if err != nil {
		return err
	}
	fresh, err := a.store.SpendStep(ctx, u.ID, step)
	if err == nil && !fresh {
		err = ErrWrongCode
	}
	return err
}

// matches returns the time step whose code it is: the present one, the one before or the one after, but none that was
// used.
func (a *Auth) matches(sealed string, userID int64, code string, used int64) (int64, error) {
	if sealed == "" {
		return 0, ErrWrongCode
	}
	secret, err := a.Keys.Open(sealed, stepOwner(userID))
	if err != nil {
		return 0, err
	}
	now, code := a.now().Unix()/stepPeriod, cleanCode(code)
	var found int64
	for step := now - 1; step <= now+1; step++ {
		want, err := totp.GenerateCodeCustom(secret, time.Unix(step*stepPeriod, 0), codeOpts)
		if err != nil {
			return 0, fmt.Errorf("compute the code: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && step > used {
			found = step
		}
	}
	if found == 0 {
		return 0, ErrWrongCode
	}
	return found, nil
}

// RenewCodes replaces the recovery codes and returns the new ones, which are shown once.
func (a *Auth) RenewCodes(ctx context.Context, v Visit, from Origin) ([]string, error) {
	switch {
	case v.Step != Ready || !v.User.HasSecondStep():
		return nil, ErrForbidden
	case !a.fresh(v):
		return nil, ErrNotFresh
	}
	codes, hashes := newCodes(v.User.ID)
	_, err := a.store.ChangeUser(ctx, v.User.ID, func(u *User) (Change, error) {
		return Change{NewCodes: hashes, Entry: Entry{By: u.Actor(), From: from, What: DidRenewCodes, Object: u.Object()}}, nil
	})
	return codes, err
}

// CodesLeft is how many recovery codes the person has not used.
func (a *Auth) CodesLeft(ctx context.Context, userID int64) (int, error) {
	return a.store.CodesLeft(ctx, userID)
}

// RemoveSecondStep takes the second step off: an admin of anybody who lost their app, a person of themself with a recent
// sign-in. All the person's other sessions end.
func (a *Auth) RemoveSecondStep(ctx context.Context, v Visit, from Origin, userID int64) error {
	switch {
	case v.Step != Ready || v.User.ID != userID && !v.Actor.Can(work.Admin):
		return ErrForbidden
	case v.User.ID == userID && !a.fresh(v):
		return ErrNotFresh
	}
	keep := int64(0)
	if v.User.ID == userID {
		keep = v.Session.ID
	}
	_, err := a.store.ChangeUser(ctx, userID, func(u *User) (Change, error) {
		u.TOTPSecret, u.TOTPPending = "", ""
		return Change{NewCodes: []string{}, EndSessions: true, KeepSession: keep,
			Entry: Entry{By: v.Actor, From: from, What: DidRemoveSecondStep, Object: u.Object()}}, nil
	})
	return err
}

// reseal seals with the newest key what an older one sealed, so that the older one can be dropped.
func (a *Auth) reseal(ctx context.Context) error {
	users, err := a.store.Users(ctx, a.CompanyID)
	if err != nil {
		return err
	}
	for _, u := range users {
		if u.TOTPSecret == "" || a.Keys.ByNewest(u.TOTPSecret) {
			continue
		}
		_, err := a.store.ChangeUser(ctx, u.ID, func(u *User) (Change, error) {
			secret, err := a.Keys.Open(u.TOTPSecret, stepOwner(u.ID))
			if err != nil {
				return Change{}, err
			}
			u.TOTPSecret, err = a.Keys.Seal(secret, stepOwner(u.ID))
			return Change{}, err
		})
		if err != nil {
			a.Log.Warn("a person's second step cannot be read any more: an admin must take it off", "user", u.Object(), "error", err)
		}
	}
	return nil
}

func stepOwner(userID int64) string { return "totp:" + strconv.FormatInt(userID, 10) }

const codeCount = 10

// newCodes are recovery codes of 120 bits, enough for a plain hash, and their hashes.
func newCodes(userID int64) (codes, hashes []string) {
	for range codeCount {
		c := letters(15)
		codes = append(codes, string(bytes.Join(slices.Collect(slices.Chunk([]byte(c), 4)), []byte("-"))))
		hashes = append(hashes, digestCode(userID, c))
	}
	return codes, hashes
}

func digestCode(userID int64, code string) string {
	return digest("recovery "+strconv.FormatInt(userID, 10), code)
}

// cleanCode drops what people type between the groups.
func cleanCode(code string) string {
	if len(code) > 100 {
		return ""
	}
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSpace(code)))
}
