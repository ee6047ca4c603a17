package notice

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
)

// Setup says what is configured, for pages.
type Setup struct {
	Mail      bool     // e-mails go out
	Webhooks  []string // names
	PublicURL string   // the address of the pages
	Wake      func()   // tells the loop that something waits; nil: it finds it by itself
}

// PageStore is what the pages need from the database. *store.Store satisfies it.
type PageStore interface {
	Now(ctx context.Context) (time.Time, error)
	// NoticeSettings returns what the person chose; false: nothing.
	NoticeSettings(ctx context.Context, userID int64) (Settings, bool, error)
	SaveNoticeSettings(ctx context.Context, userID int64, s Settings) error
	// AddNotice records a message to be sent, unless the recipient has had one of its kind since the time; then false.
	AddNotice(ctx context.Context, d Delivery, since time.Time) (bool, error)
	// Notices returns messages, the newest first; of one recipient, or with "" of all.
	Notices(ctx context.Context, companyID int64, recipient string, limit int) ([]Delivery, error)
}

// Service is what people may do about messages.
type Service struct {
	Setup
	store   PageStore
	company int64
	words   Words
}

// NewService returns the service for a company.
func NewService(store PageStore, companyID int64, w Words, setup Setup) *Service {
	slices.Sort(setup.Webhooks)
	return &Service{setup, store, cmp.Or(companyID, 1), w}
}

// Settings are the person's own, chosen or suggested by their roles.
func (s *Service) Settings(ctx context.Context, p Person) (Settings, error) {
	set, chosen, err := s.store.NoticeSettings(ctx, p.ID)
	if err == nil && !chosen {
		set = Suggested(p.Roles)
	}
	return set, err
}

// Invalid says which setting cannot be: "mode", "hour" or "systems".
type Invalid struct{ Field string }

func (i *Invalid) Error() string { return "not possible: " + i.Field }

// Save keeps the person's own choice. It returns *Invalid or review.ErrForbidden.
func (s *Service) Save(ctx context.Context, by work.Actor, p Person, set Settings) error {
	switch {
	case by.Kind != work.Person || PersonKey(p.ID) != "person:"+by.ID:
		return review.ErrForbidden
	case !slices.Contains(Modes, set.Items):
		return &Invalid{"mode"}
	case set.Hour < 0 || set.Hour > 23:
		return &Invalid{"hour"}
	case slices.ContainsFunc(set.Systems, func(id string) bool { return id == "" || len(id) > 200 || strings.ContainsAny(id, ",\x00") }):
		return &Invalid{"systems"}
	}
	return s.store.SaveNoticeSettings(ctx, p.ID, set)
}

// TestRefused says why no test message is sent.
type TestRefused string

const (
	TestNoMail    TestRefused = "no_mail"    // no mail server is set up
	TestNoAddress TestRefused = "no_address" // the person has no e-mail address
	TestTooSoon   TestRefused = "too_soon"   // one was asked for within the last minute
	TestNoRight   TestRefused = "no_right"   // the person may not read items
)

func (t TestRefused) Error() string { return "no test message: " + string(t) }

// Test has a message sent to the person's own address. It returns TestRefused or review.ErrForbidden.
func (s *Service) Test(ctx context.Context, by work.Actor, p Person) error {
	switch {
	case by.Kind != work.Person || PersonKey(p.ID) != "person:"+by.ID:
		return review.ErrForbidden
	case !review.MayRead(by):
		return TestNoRight
	case !s.Mail:
		return TestNoMail
	case !GoodAddress(p.Email):
		return TestNoAddress
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	d := Delivery{CompanyID: s.company, Recipient: p.key(), Name: p.Name, Address: p.Email, Kind: Test, Status: Waits, MadeAt: now, NextAt: now,
		Message: Message{Subject: s.words.TestSubject, Lead: fill(s.words.TestLead, map[string]string{"name": oneLine(p.Name, maxName)}), Foot: s.words.FootPerson,
			Link: strings.TrimRight(s.PublicURL, "/") + "/", Open: s.words.OpenList}}
	added, err := s.store.AddNotice(ctx, d, now.Add(-time.Minute))
	if err == nil && !added {
		err = TestTooSoon
	}
	if err == nil && s.Wake != nil {
		s.Wake()
	}
	return err
}

// Own are the newest messages to the person.
func (s *Service) Own(ctx context.Context, p Person, limit int) ([]Delivery, error) {
	return s.store.Notices(ctx, s.company, p.key(), limit)
}

// All are the newest messages to anybody, for admins.
func (s *Service) All(ctx context.Context, by work.Actor, limit int) ([]Delivery, error) {
	if !by.Can(work.Admin) {
		return nil, review.ErrForbidden
	}
	return s.store.Notices(ctx, s.company, "", limit)
}
