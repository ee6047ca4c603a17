package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"onefold/internal/work"
)

// Sender is somebody whose signed events count.
type Sender struct {
	CompanyID  int64
	Kind       Kind
	ID         string // in the address that it sends to; for System that of the accounting system
	Name       string
	SystemID   string // where its items go
	Automation string
	Sealed     string // its secrets, newest first, as JSON
	SecretN    int    // how many there are
	ChangedAt  time.Time
	ChangedBy  string // label of the person
}

// Act is what an admin did to a sender, as the audit trail calls it.
type Act string

// What admins do to senders.
const (
	DidConnect    Act = "sender_connected"
	DidRenew      Act = "sender_secret_renewed"
	DidEndOld     Act = "sender_secret_ended"
	DidDisconnect Act = "sender_removed"
)

// maxSecrets: the one in use, and the one before it while it is being changed.
const maxSecrets = 2

func (sn Sender) owner() string { return "events:" + string(sn.Kind) + ":" + sn.ID }

// Verified returns the sender if it signed the body. There is no difference between a sender that is not there and a wrong
// signature: both are ErrSignature.
func (s Service) Verified(ctx context.Context, kind Kind, id, header string, body []byte) (Sender, error) {
	now, err := s.Store.Now(ctx)
	if err != nil {
		return Sender{}, err
	}
	sn, found, err := s.Store.Sender(ctx, s.company(), kind, id)
	if err != nil {
		return Sender{}, err
	}
	var secrets []string
	if found {
		if secrets, err = s.open(sn); err != nil {
			return Sender{}, err
		}
	}
	return sn, Verify(secrets, header, body, now)
}

func (s Service) open(sn Sender) (secrets []string, err error) {
	text, err := s.Keys.Open(sn.Sealed, sn.owner())
	if err == nil {
		err = json.Unmarshal([]byte(text), &secrets)
	}
	if err != nil {
		return nil, fmt.Errorf("the secrets of the sender %s: %w", sn.ID, err)
	}
	return secrets, nil
}

func (s Service) seal(sn *Sender, secrets []string) error {
	text, err := json.Marshal(secrets)
	if err != nil {
		return err
	}
	sn.SecretN = len(secrets)
	sn.Sealed, err = s.Keys.Seal(string(text), sn.owner())
	return err
}

// Senders lists who may send, for admins.
func (s Service) Senders(ctx context.Context, by work.Actor) ([]Sender, error) {
	if !by.Can(work.Admin) {
		return nil, ErrNotAdmin
	}
	return s.Store.Senders(ctx, s.company())
}

// Log lists the events received last, newest first, for admins.
func (s Service) Log(ctx context.Context, by work.Actor, limit int) ([]Event, error) {
	if !by.Can(work.Admin) {
		return nil, ErrNotAdmin
	}
	return s.Store.Events(ctx, s.company(), limit)
}

var goodID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// Connect lets a sender in and returns its secret, this once. One that is connected already is replaced: its old secrets
// end. Errors that the person can mend are *Invalid.
func (s Service) Connect(ctx context.Context, by work.Actor, sn Sender) (secret string, err error) {
	if !by.Can(work.Admin) {
		return "", ErrNotAdmin
	}
	systems, err := s.Store.Systems(ctx)
	if err != nil {
		return "", err
	}
	sn.ID, sn.Name, sn.Automation = strings.TrimSpace(sn.ID), strings.TrimSpace(sn.Name), strings.TrimSpace(sn.Automation)
	if sn.Kind == System {
		sn.SystemID = sn.ID
	}
	known := false
	for _, sys := range systems {
		if sys.ID == sn.SystemID {
			known = true
			if sn.Kind == System {
				sn.Name = sys.Name
			}
		}
	}
	if sn.Automation == "" {
		sn.Automation = OrdersAutomation
	}
	switch {
	case sn.Kind != Orders && sn.Kind != System:
		return "", &Invalid{"kind", "choose what kind of sender it is"}
	case sn.Kind == Orders && !goodID.MatchString(sn.ID):
		return "", &Invalid{"id", "Use small letters, digits and hyphens, at most 40."}
	case sn.Name == "" || utf8.RuneCountInString(sn.Name) > maxName:
		return "", &Invalid{"name", "Give it a name of at most 200 characters."}
	case !known:
		return "", &Invalid{"system", "Choose an accounting system."}
	case !goodID.MatchString(sn.Automation):
		return "", &Invalid{"automation", "Use small letters, digits and hyphens, at most 40."}
	}
	secret = NewSecret()
	return secret, s.put(ctx, by, DidConnect, sn, []string{secret})
}

// NewSecret gives a sender another secret, shown this once. The one before counts too until DropOld.
func (s Service) NewSecret(ctx context.Context, by work.Actor, kind Kind, id string) (secret string, err error) {
	secret = NewSecret()
	return secret, s.change(ctx, by, DidRenew, kind, id, func(secrets []string) []string {
		return append([]string{secret}, secrets[:min(len(secrets), maxSecrets-1)]...)
	})
}

// DropOld ends all secrets of a sender but the newest.
func (s Service) DropOld(ctx context.Context, by work.Actor, kind Kind, id string) error {
	return s.change(ctx, by, DidEndOld, kind, id, func(secrets []string) []string { return secrets[:min(len(secrets), 1)] })
}

func (s Service) change(ctx context.Context, by work.Actor, did Act, kind Kind, id string, f func([]string) []string) error {
	if !by.Can(work.Admin) {
		return ErrNotAdmin
	}
	sn, found, err := s.Store.Sender(ctx, s.company(), kind, id)
	if err == nil && !found {
		err = ErrNoSender
	}
	if err != nil {
		return err
	}
	secrets, err := s.open(sn)
	if err != nil {
		secrets = nil // their key is gone: a new one is the way out
	}
	if secrets = f(secrets); len(secrets) == 0 {
		return errors.New("a sender needs a secret")
	}
	return s.put(ctx, by, did, sn, secrets)
}

func (s Service) put(ctx context.Context, by work.Actor, did Act, sn Sender, secrets []string) error {
	now, err := s.Store.Now(ctx)
	if err != nil {
		return err
	}
	sn.CompanyID, sn.ChangedAt, sn.ChangedBy = s.company(), now, by.Label()
	if err := s.seal(&sn, secrets); err != nil {
		return err
	}
	return s.Store.PutSender(ctx, sn, by, did)
}

// Disconnect ends all that a sender may. What it sent stays on record.
func (s Service) Disconnect(ctx context.Context, by work.Actor, kind Kind, id string) error {
	if !by.Can(work.Admin) {
		return ErrNotAdmin
	}
	return s.Store.RemoveSender(ctx, s.company(), kind, id, by)
}
