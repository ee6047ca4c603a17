package review

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"onefold/internal/work"
)

// What a saved view may be.
var (
	ErrViewName    = errors.New("a view needs a name of at most 60 characters")
	ErrViewAddress = errors.New("a view is the address of a list")
)

const (
	maxViewName    = 60 // in characters
	maxViewAddress = 2000
	// MaxGroups is the largest number of groups that are told apart.
	MaxGroups = 200
)

// Groups counts the query's rows by system, reason and kind of error, the largest first, at most limit (1 to MaxGroups).
func (s *Service) Groups(ctx context.Context, by work.Actor, q Query, limit int) ([]Group, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return s.store.Groups(ctx, s.clean(q), min(max(limit, 1), MaxGroups))
}

// Count returns how many rows the query lists, but stops counting at most.
func (s *Service) Count(ctx context.Context, by work.Actor, q Query, most int64) (int64, error) {
	if !MayRead(by) {
		return 0, ErrForbidden
	}
	return s.store.Count(ctx, s.clean(q), most)
}

// Automations returns the names of all automations that have items, in order.
func (s *Service) Automations(ctx context.Context, by work.Actor) ([]string, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return s.store.Automations(ctx, s.company)
}

// Views returns the person's saved views and the shared ones, by name.
func (s *Service) Views(ctx context.Context, by work.Actor) ([]View, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return s.store.Views(ctx, s.company, viewer(by))
}

// MayShare reports whether the actor may save views for everybody.
func MayShare(by work.Actor) bool { return mayAct(by) }

// SaveView saves the list at an address under a name, for the person or for everybody; a view of theirs with the same
// name is replaced. It returns ErrForbidden, ErrViewName or ErrViewAddress.
func (s *Service) SaveView(ctx context.Context, by work.Actor, name, address string, shared bool) error {
	owner := viewer(by)
	if !MayRead(by) || owner == "" || shared && !MayShare(by) {
		return ErrForbidden
	}
	name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "\uFFFD")), " ")
	if n := utf8.RuneCountInString(name); n == 0 || n > maxViewName || strings.ContainsFunc(name, unicode.IsControl) {
		return ErrViewName
	}
	// Everybody follows a shared view: it leads to a list of ours and nowhere else.
	if query, ok := strings.CutPrefix(address, "/?"); !ok || len(query) > maxViewAddress || !utf8.ValidString(query) || strings.ContainsFunc(query, unicode.IsControl) {
		return ErrViewAddress
	}
	return s.store.SaveView(ctx, s.company, View{Name: name, Address: address, Owner: owner, Shared: shared})
}

// DeleteView removes a view of the person's own; an admin may remove anybody's. ErrNotFound: it is gone, or not theirs.
func (s *Service) DeleteView(ctx context.Context, by work.Actor, id int64) error {
	owner := viewer(by)
	if !MayRead(by) || owner == "" {
		return ErrForbidden
	}
	if by.Can(work.Admin) {
		owner = ""
	}
	return s.store.DeleteView(ctx, s.company, id, owner)
}

// viewer is the owner's id of a person's views; empty for all others, who have none.
func viewer(by work.Actor) string {
	if by.Kind != work.Person {
		return ""
	}
	return by.ID
}
