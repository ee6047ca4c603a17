package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/securecookie"
)

// Form is what a person typed into a form that could not be honoured.
type Form struct {
	Page   string     // the path of the page that it is on, where it is filled in again
	Path   string     // where it was sent to
	Fields url.Values // without passwords, codes and tokens
}

// SavedForm is a form as it is stored.
type SavedForm struct {
	IDHash    string
	UserID    int64
	Path      string
	Fields    string // JSON
	SavedAt   time.Time
	ExpiresAt time.Time
}

const (
	maxForm  = 64 << 10
	formsFor = time.Hour
)

// ErrFormTooLarge says that a form is too large to be kept.
var ErrFormTooLarge = errors.New("the form is too large to be kept")

// SaveForm keeps what was typed when the session was over, for the person whose session it was. It reports false if the
// browser carries no session that we know. The caller checks first that the form came from a page of ours. Of each page
// the newest form is kept.
func (a *Auth) SaveForm(w http.ResponseWriter, r *http.Request, f Form) (bool, error) {
	v, err := a.load(r)
	if err != nil || v.User.ID == 0 {
		return false, err
	}
	keep := url.Values{}
	for name, values := range f.Fields {
		if !secretField(name) {
			keep[name] = values
		}
	}
	fields, err := json.Marshal(keep)
	if err != nil {
		return false, err
	}
	if len(fields)+len(f.Path) > maxForm {
		return false, ErrFormTooLarge
	}
	id, now := newID(), a.now()
	saved := SavedForm{hashID(id), v.User.ID, f.Path, string(fields), now, now.Add(formsFor)}
	if err := a.store.SaveForm(r.Context(), saved); err != nil {
		return false, fmt.Errorf("keep the form: %w", err)
	}
	name := a.typedCookie(f.Page)
	value, err := securecookie.EncodeMulti(name, id, a.codecs("typed")...)
	if err != nil {
		return false, err
	}
	http.SetCookie(w, a.cookie(name, value, formsFor))
	return true, nil
}

// secretField reports whether a field holds what must not be kept.
func secretField(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"password", "csrf", "token", "secret", "otp"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "code"
}

// TypedCookie is in the names of the cookies of kept forms.
const TypedCookie = "onefold-typed-"

// typedCookie is one cookie for each page, so that what was typed in another tab is not lost.
func (a *Auth) typedCookie(page string) string {
	return a.cookieName(TypedCookie + digest("page", page)[:12])
}

// TakeForm returns what was kept of the page on this browser, once, if the same person is signed in now. Nobody else gets it: for them
// it stays where it is until it expires.
func (a *Auth) TakeForm(w http.ResponseWriter, r *http.Request, page string) (Form, bool, error) {
	name := a.typedCookie(page)
	cookie, err := r.Cookie(name)
	if err != nil {
		return Form{}, false, nil
	}
	var id string
	if securecookie.DecodeMulti(name, cookie.Value, &id, a.codecs("typed")...) != nil {
		return Form{}, false, nil
	}
	v, err := a.load(r)
	if err != nil || !v.Ready() {
		return Form{}, false, err
	}
	saved, err := a.store.TakeForm(r.Context(), hashID(id), v.User.ID, a.now())
	if errors.Is(err, ErrNotFound) {
		return Form{}, false, nil
	}
	if err != nil {
		return Form{}, false, fmt.Errorf("read the kept form: %w", err)
	}
	http.SetCookie(w, a.cookie(name, "", 0))
	f := Form{Page: page, Path: saved.Path}
	if err := json.Unmarshal([]byte(saved.Fields), &f.Fields); err != nil {
		return Form{}, false, fmt.Errorf("the kept form is damaged: %w", err)
	}
	return f, true, nil
}
