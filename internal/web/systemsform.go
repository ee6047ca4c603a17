package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/web/templates"
)

// The names of the form's fields. Those of secrets are never kept, shown or logged: see auth.SaveForm.
const (
	settingField = "set."
	secretField  = "secret."
	forgetField  = "forget."
	typedField   = secretField + "typed"
)

// connectPage is the form for a new system, after the choice of its kind.
func (s *server) connectPage(c echo.Context) error {
	kinds := s.Connections.Kinds()
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	name := c.QueryParam("kind")
	if kept {
		name = f.Fields.Get("kind")
	}
	if len(kinds) == 1 {
		name = kinds[0].Name
	}
	for _, k := range kinds {
		if k.Name == name {
			d := automation.Draft{Adapter: k.Name}
			if kept {
				d = draft(f.Fields, k)
			}
			return s.showSystemForm(c, http.StatusOK, "", automation.Setup{Kind: k}, d, kept, templates.SystemForm{})
		}
	}
	shell, _, err := s.shell(c, templates.SystemWords.ConnectTitle)
	if err != nil {
		return err
	}
	m := templates.SystemForm{Shell: shell, Heading: templates.SystemWords.ConnectTitle, Crumb: templates.Words.Systems, Back: systemsPath}
	for _, k := range kinds {
		m.Kinds = append(m.Kinds, templates.Link{Text: k.Title, Href: systemsPath + "/new?kind=" + url.QueryEscape(k.Name)})
	}
	return render(c, http.StatusOK, templates.SystemFormPage(m))
}

func (s *server) editSystemPage(c echo.Context) error {
	setup, err := s.Connections.Setup(c.Request().Context(), person(c), c.Param("id"))
	if err != nil {
		return err
	}
	f, kept, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	d := automation.Draft{Name: setup.Name, Address: setup.Address, Settings: setup.Settings, Mark: automation.ConnectionMark(setup.System)}
	if kept {
		d = draft(f.Fields, setup.Kind)
	}
	return s.showSystemForm(c, http.StatusOK, setup.ID, setup, d, kept, templates.SystemForm{})
}

// draft reads the form. Secrets that were entered before and are not on the page are not among it.
func draft(f url.Values, k automation.Kind) automation.Draft {
	d := automation.Draft{Adapter: f.Get("kind"), Name: f.Get("name"), Address: f.Get("address"), Mark: f.Get("mark"), Settings: map[string]string{}, Secrets: map[string]string{}}
	for _, field := range k.Fields {
		if !field.Secret {
			d.Settings[field.Name] = f.Get(settingField + field.Name)
			continue
		}
		if v := f.Get(secretField + field.Name); v != "" {
			d.Secrets[field.Name] = v
		}
		if f.Get(forgetField+field.Name) != "" {
			d.Forget = append(d.Forget, field.Name)
		}
	}
	if k.Fill != nil {
		k.Fill(d.Settings)
	}
	return d
}

// draftOf reads the form with the secrets that it was shown without.
func (s *server) draftOf(c echo.Context, k automation.Kind) automation.Draft {
	d := draft(c.Request().PostForm, k)
	for name, v := range s.Connections.Typed(person(c), c.FormValue(typedField)) {
		if d.Secrets[name] == "" {
			d.Secrets[name] = v
		}
	}
	return d
}

func (s *server) connect(c echo.Context) error {
	for _, k := range s.Connections.Kinds() {
		if k.Name != c.FormValue("kind") {
			continue
		}
		d := s.draftOf(c, k)
		return s.tryOrSave(c, "", automation.Setup{Kind: k}, d, func() (string, automation.Tried, error) {
			id, t, err := s.Connections.Add(c.Request().Context(), person(c), d)
			return systemPath(id) + "?did=" + didOr("added", t), t, err
		})
	}
	return c.Redirect(http.StatusSeeOther, systemsPath+"/new")
}

func (s *server) editSystem(c echo.Context) error {
	setup, err := s.Connections.Setup(c.Request().Context(), person(c), c.Param("id"))
	if err != nil {
		return err
	}
	d := s.draftOf(c, setup.Kind)
	return s.tryOrSave(c, setup.ID, setup, d, func() (string, automation.Tried, error) {
		t, err := s.Connections.Change(c.Request().Context(), person(c), setup.ID, d)
		return systemPath(setup.ID) + "?did=" + didOr("changed", t), t, err
	})
}

// didOr is what was done, or that the account is to be connected now.
func didOr(did string, t automation.Tried) string {
	if t.Problem == automation.TryAccount {
		return "account_next"
	}
	return did
}

// tryOrSave carries out the button that was pressed. What is refused is shown with what was typed.
func (s *server) tryOrSave(c echo.Context, id string, setup automation.Setup, d automation.Draft, save func() (to string, t automation.Tried, err error)) error {
	if c.FormValue("do") == "tryout" {
		return s.tryOutSystem(c, id, setup, d)
	}
	var t automation.Tried
	var to string
	var err error
	saving := c.FormValue("do") != "test"
	if saving {
		to, t, err = save()
	} else {
		t, err = s.Connections.Try(c.Request().Context(), person(c), id, d)
	}
	var bad automation.BadFields
	switch {
	case errors.As(err, &bad):
		return s.showSystemForm(c, http.StatusUnprocessableEntity, id, setup, d, true, templates.SystemForm{Problem: templates.SystemWords.Problems}, bad)
	case errors.Is(err, automation.ErrConnectionChanged):
		d.Mark = automation.ConnectionMark(setup.System)
		return s.showSystemForm(c, http.StatusConflict, id, setup, d, true, templates.SystemForm{Problem: templates.SystemWords.Stale})
	case errors.Is(err, automation.ErrOtherBooks):
		return s.showSystemForm(c, http.StatusConflict, id, setup, d, true, templates.SystemForm{Problem: sentence(err.Error()) + "."})
	case err != nil:
		return err
	case saving && (t.Problem == automation.TryWorks || t.Problem == automation.TryAccount):
		return c.Redirect(http.StatusSeeOther, to)
	}
	status := http.StatusOK
	if t.Problem != automation.TryWorks && t.Problem != automation.TryAccount {
		status = http.StatusUnprocessableEntity
	}
	return s.showSystemForm(c, status, id, setup, d, true, templates.SystemForm{Tried: tried(t)})
}

// showSystemForm shows the form: of a new system if id is empty. Typed says that the draft was typed and nothing of it was
// taken yet.
func (s *server) showSystemForm(c echo.Context, status int, id string, setup automation.Setup, d automation.Draft, typed bool, m templates.SystemForm, bad ...automation.BadFields) error {
	w := templates.SystemWords
	problems := automation.BadFields{}
	if len(bad) > 0 {
		problems = bad[0]
	}
	m.Account, m.Redirect = setup.Kind.Account, s.accountAddress()
	m.New, m.Kind, m.KindName, m.Mark = id == "", setup.Kind.Name, orText(setup.Kind.Title, setup.Adapter), d.Mark
	m.Heading, m.Crumb, m.Back, m.Post = w.ConnectTitle, templates.Words.Systems, systemsPath, systemsPath+"/new"
	if id != "" {
		m.Heading = templates.Say(w.EditTitle, map[string]any{"name": text(setup.Name, 80)}).String()
		m.Crumb, m.Back, m.Post = text(setup.Name, 80), systemPath(id), systemPath(id)+"/edit"
	}
	var err error
	if m.Shell, _, err = s.shell(c, m.Heading); err != nil {
		return err
	}
	m.Typed = s.Connections.KeepTyped(person(c), d.Secrets)
	m.Name = templates.FormField{Name: "name", Label: w.Name, Help: w.NameHint, Value: text(d.Name, 200), Required: true, Problem: problems[automation.FieldName]}
	if setup.Kind.Address != "" {
		m.Address = &templates.FormField{Name: "address", Label: w.Address, Help: templates.Say(w.AddressHint, map[string]any{"example": setup.Kind.Address}).String(),
			Value: text(d.Address, 2000), Required: true, Problem: problems[automation.FieldAddress]}
	}
	m.TryOut = tryOutField(c, setup.Kind, problems)
	for _, f := range setup.Kind.Fields {
		one := systemField(f, setup, d, typed)
		one.Problem = problems[f.Name]
		if f.Secret || f.Required || f.Long || len(f.Choices) > 0 {
			m.Fields = append(m.Fields, one)
			continue
		}
		m.More = append(m.More, one)
		m.MoreOpen = m.MoreOpen || one.Problem != "" || one.Value != f.Default
	}
	return render(c, status, templates.SystemFormPage(m))
}

// systemField is one field that the adapter asks for. The value of a secret is never in it.
func systemField(f automation.AdapterField, setup automation.Setup, d automation.Draft, typed bool) templates.FormField {
	w := templates.SystemWords
	if f.Secret {
		one := templates.FormField{Name: secretField + f.Name, Label: f.Label, Secret: true}
		state := w.KeptEmpty
		switch {
		case typed && d.Secrets[f.Name] != "":
			state = w.Typed
		case setup.Secrets[f.Name] == automation.SecretStored:
			state = w.Kept
			if !f.Required {
				one.Forget = forgetField + f.Name
			}
		case setup.Secrets[f.Name] == automation.SecretGiven:
			state = w.Given
		}
		if one.Help = state; f.Help != "" {
			one.Help = f.Help + " " + state
		}
		return one
	}
	value := d.Settings[f.Name]
	if value == "" {
		value = f.Default
	}
	one := templates.FormField{Name: settingField + f.Name, Label: f.Label, Help: f.Help, Value: text(value, 2000), Required: f.Required && f.Default == ""}
	if f.Long { // never asked for by the browser: another field may fill it
		one.Value, one.Longest, one.Required = text(strings.ReplaceAll(value, "\r\n", "\n"), automation.LongestText), automation.LongestText, false
	}
	words := templates.SystemWords.Choice
	for _, choice := range f.Choices {
		one.Choices = append(one.Choices, templates.Choice{Value: choice, Text: orText(words[choice], sentence(choice))})
	}
	return one
}
