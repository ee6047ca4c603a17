package auth

import (
	"cmp"
	"context"
	"slices"

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
	slices.SortFunc(list, func(a, b work.Actor) int {
		return cmp.Or(cmp.Compare(work.FoldKey(a.Name), work.FoldKey(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}
