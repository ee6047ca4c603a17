package auth

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"onefold/internal/work"
)

// Colleagues are the people who may act on items and can be let in at present, by name; for whoever may act as well, else
// ErrForbidden.
func (a *Auth) Colleagues(ctx context.Context, by work.Actor) ([]work.Actor, error) {
	if !by.Can(work.Operator, work.Admin) {
		return nil, ErrForbidden
	}
	users, err := a.store.Users(ctx, a.CompanyID)
	if err != nil {
		return nil, err
	}
	var list []work.Actor
	for _, u := range users {
		if actor := u.Actor(); !u.Disabled() && actor.Can(work.Operator, work.Admin) {
			list = append(list, actor)
		}
	}
	sortByName(list)
	return list, nil
}

// Names are all who were ever let in, people and then tokens, by name: also those who are not any more. They are for whoever
// sees what these did, and hold no roles; ErrForbidden for anybody else.
func (a *Auth) Names(ctx context.Context, by work.Actor) ([]work.Actor, error) {
	if !by.Can(work.Viewer, work.Operator, work.Ops, work.Admin) {
		return nil, ErrForbidden
	}
	users, err := a.store.Users(ctx, a.CompanyID)
	if err != nil {
		return nil, err
	}
	tokens, err := a.store.Tokens(ctx, a.CompanyID)
	if err != nil {
		return nil, err
	}
	people, keys := make([]work.Actor, len(users)), make([]work.Actor, len(tokens))
	for i, u := range users {
		people[i] = work.Actor{Kind: work.Person, ID: strconv.FormatInt(u.ID, 10), Name: u.Name}
	}
	for i, t := range tokens {
		keys[i] = work.Actor{Kind: work.Token, ID: strconv.FormatInt(t.ID, 10), Name: t.Name}
	}
	sortByName(people)
	sortByName(keys)
	return append(people, keys...), nil
}

func sortByName(list []work.Actor) {
	slices.SortFunc(list, func(a, b work.Actor) int {
		return cmp.Or(cmp.Compare(work.FoldKey(a.Name), work.FoldKey(b.Name)), cmp.Compare(a.ID, b.ID))
	})
}
