package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/web/templates"
)

// awayCode is the code of the words for a database that cannot be asked.
const awayCode = "503/database"

// tryAgain is after how many seconds to ask again for what is not possible at the moment.
const tryAgain = "5"

// typedPages are the pages whose forms hold no secret: everything that was typed there may be shown again.
var typedPages = []string{"/items/", plansPath, bulkPath, "/views", limitsPath}

// behindForm are fields that nobody typed.
var behindForm = []string{csrfField, "version", "next", "do", "seen"}

// notSaved fills in what a person should know whose form met a database that was away: whether it can have been saved, and
// what they had typed, to be copied.
func notSaved(c echo.Context, p *templates.Problem) {
	r := c.Request()
	if safe(r) {
		return
	}
	w := templates.Away
	p.Saved = w.NotSaved
	if c.Get(personKey) != nil { // it had come further than to ask who sent it
		p.Saved = w.PerhapsSaved
	}
	if strings.HasPrefix(r.Header.Get(echo.HeaderContentType), echo.MIMEMultipartForm) || r.ParseForm() != nil {
		return
	}
	all := slices.ContainsFunc(typedPages, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) })
	names := make([]string, 0, len(r.PostForm))
	for name := range r.PostForm {
		if label := w.Label[name]; (label != "" || all) && !slices.Contains(behindForm, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if said := strings.TrimSpace(strings.Join(r.PostForm[name], ", ")); said != "" {
			label := orText(w.Label[name], strings.ReplaceAll(text(name, 60), "_", " "))
			p.Typed = append(p.Typed, templates.Field{Name: name, Label: label, Value: text(said, formSize)})
		}
	}
}

// later says when to try again.
func later(c echo.Context, status int) {
	if status == http.StatusServiceUnavailable {
		c.Response().Header().Set("Retry-After", tryAgain)
	}
}
