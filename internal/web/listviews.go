package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// views are the saved lists that the person sees, and the form to save this one.
func (s *server) views(ctx context.Context, by work.Actor, l listing, typed templates.Views) (templates.Views, error) {
	saved, err := s.review.Views(ctx, by)
	if err != nil {
		return typed, err
	}
	typed.Address, typed.MayShare = l.address(), review.MayShare(by)
	for _, v := range saved {
		one := templates.SavedView{Link: templates.Link{Text: text(v.Name, 60), Href: localPath(v.Address), Here: v.Address == typed.Address},
			Note: templates.Lists.ViewMine}
		if v.Shared {
			one.Note = templates.Lists.ViewShared
		}
		if v.Owner == by.ID || by.Can(work.Admin) {
			one.Delete = "/views/" + strconv.FormatInt(v.ID, 10) + "/delete"
		}
		typed.List = append(typed.List, one)
	}
	return typed, nil
}

// saveView keeps the list at the form's address under a name.
func (s *server) saveView(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	l := listQuery(listValues(c.FormValue("address")), by, now)
	l.problems = nil // the list had said so
	name, shared := c.FormValue("name"), c.FormValue("shared") != ""
	switch err := s.review.SaveView(ctx, by, name, l.address(), shared); {
	case errors.Is(err, review.ErrViewName):
		return s.showList(c, http.StatusUnprocessableEntity, l, templates.Views{Open: true, Name: text(name, review.MaxReference), Shared: shared, Problem: templates.Lists.ViewName60})
	case err != nil:
		return err
	}
	return c.Redirect(http.StatusSeeOther, l.with("did", "view-saved"))
}

// deleteView removes a saved list and goes back to the list that was shown.
func (s *server) deleteView(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), person(c)
	if err := s.review.DeleteView(ctx, by, id); err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, listQuery(listValues(c.FormValue("address")), by, now).with("did", "view-deleted"))
}

// listValues are the values in the address of a list; none if it is no such address.
func listValues(address string) url.Values {
	query, ok := strings.CutPrefix(address, "/?")
	v, err := url.ParseQuery(query)
	if !ok || err != nil {
		return url.Values{}
	}
	return v
}
