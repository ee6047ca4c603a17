package notice

import (
	"html/template"
	"strings"
)

// text is the message as plain text.
func (m Message) text() string {
	var b strings.Builder
	b.WriteString(m.Lead + "\n")
	for _, l := range m.Lines {
		b.WriteString("\n* " + l.Text + "\n")
		for _, more := range []string{l.Note, l.Link} {
			if more != "" {
				b.WriteString("  " + more + "\n")
			}
		}
	}
	if m.More != "" {
		b.WriteString("\n" + m.More + "\n")
	}
	if m.Link != "" {
		b.WriteString("\n" + m.Open + ": " + m.Link + "\n")
	}
	if m.Foot != "" {
		b.WriteString("\n-- \n" + m.Foot + "\n")
	}
	return b.String()
}

// page is the mail's HTML: simple, readable in light and dark, without anything that is fetched from elsewhere.
var page = template.Must(template.New("mail").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{{.Subject}}</title></head>
<body style="font-family: system-ui, 'Segoe UI', Roboto, Arial, sans-serif; font-size: 15px; line-height: 1.45; margin: 0; padding: 16px;">
<div style="max-width: 40em;">
<p style="font-size: 17px; margin: 0 0 14px;">{{.Lead}}</p>
{{if .Lines}}<ul style="padding-left: 18px; margin: 0 0 14px;">{{range .Lines}}
<li style="margin: 0 0 10px;">{{if .Link}}<a href="{{.Link}}">{{.Text}}</a>{{else}}{{.Text}}{{end}}{{if .Note}}<br>{{.Note}}{{end}}</li>{{end}}
</ul>{{end}}
{{if .More}}<p style="margin: 0 0 14px;">{{.More}}</p>{{end}}
{{if .Link}}<p style="margin: 0 0 18px;"><a href="{{.Link}}" style="display: inline-block; padding: 9px 16px; background: #1f5fae; color: #ffffff; text-decoration: none; border-radius: 6px; font-weight: 600;">{{.Open}}</a></p>{{end}}
{{if .Foot}}<p style="font-size: 13px; opacity: .75; margin: 0; padding-top: 10px; border-top: 1px solid #8a94a0;">{{.Foot}}</p>{{end}}
</div></body></html>
`))

// html is the message as a mail's HTML; everything in it is escaped by its place.
func (m Message) html() (string, error) {
	var b strings.Builder
	err := page.Execute(&b, m)
	return b.String(), err
}

// chat is the message as Slack, Mattermost and Teams show it: no word of it mentions anybody, begins a link with another
// name, or changes the look of the rest.
func (m Message) chat() string {
	var b strings.Builder
	b.WriteString("*" + plainChat(m.Subject) + "*\n" + plainChat(m.Lead))
	for _, l := range m.Lines {
		b.WriteString("\n• " + plainChat(l.Text))
		if l.Note != "" {
			b.WriteString(" (" + plainChat(l.Note) + ")")
		}
		if l.Link != "" {
			b.WriteString("\n   " + escapeChat(l.Link))
		}
	}
	if m.More != "" {
		b.WriteString("\n" + plainChat(m.More))
	}
	if m.Link != "" {
		b.WriteString("\n" + plainChat(m.Open) + ": " + escapeChat(m.Link))
	}
	return b.String()
}

var (
	chatSigns  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	chatMarkup = strings.NewReplacer("@", "@\u200b", "*", "∗", "~", "∼", "`", "'", "[", "(", "]", ")", "|", "¦")
)

func escapeChat(s string) string { return chatSigns.Replace(s) }
func plainChat(s string) string  { return escapeChat(chatMarkup.Replace(s)) }
