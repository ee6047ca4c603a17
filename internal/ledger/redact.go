package ledger

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"
)

const blot = "[hidden]"

// A name that holds one of these words names a secret. "Idempotency-Key" and "business_key" do not.
var secretWords = []string{"authorization", "authorisation", "token", "secret", "passw", "cookie", "credential", "signature", "session",
	"apikey", "api-key", "api_key", "accesskey", "access-key", "access_key", "privatekey", "private-key", "private_key"}

func namesSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// "name": "value" and "name": value in JSON, name=value in forms and queries.
var (
	jsonSecret = regexp.MustCompile(`(?i)("[^"\\]{0,60}(?:authori[sz]ation|token|secret|passw|cookie|credential|api[-_]?key|access[-_]?key|private[-_]?key)[^"\\]{0,60}"\s*:\s*)("(?:[^"\\]|\\.)*"?|[0-9A-Za-z.+-]+)`)
	formSecret = regexp.MustCompile(`(?i)(\b[\w.-]{0,60}(?:token|secret|passw|api_?key|access_?key|private_?key)[\w.-]{0,60}=)[^&\s"'<>]+`)
	bearer     = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}`)
)

// describe fills the exchange: what went over the wire, redacted and bounded.
func (t *Transport) describe(req *http.Request, body []byte, r *Reply) {
	r.Exchange.HTTPStatus = r.Status
	r.Exchange.Error = r.sentence()
	path := req.URL.EscapedPath()
	if q := req.URL.Query(); len(q) > 0 {
		path += "?" + redactQuery(q)
	}
	r.Exchange.Request = t.excerpt(req.Method+" "+path, req.Header, body)
	if r.Status != 0 {
		r.Exchange.Response = t.excerpt(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)), r.Header, r.Body)
	}
}

func (t *Transport) excerpt(first string, h http.Header, body []byte) string {
	var b strings.Builder
	b.WriteString(first)
	b.WriteByte('\n')
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		value := strings.Join(h[name], ", ")
		if namesSecret(name) {
			value = blot
		} else if name == "Location" {
			value, _, _ = strings.Cut(value, "?")
		}
		fmt.Fprintf(&b, "%s: %s\n", name, Short(value, 300))
	}
	b.WriteByte('\n')
	// Redact before the cut: a secret across the border would no longer be recognised.
	b.WriteString(redact(string(body[:min(len(body), 4*MaxExcerpt)])))
	text := b.String()
	for _, s := range t.secrets {
		text = strings.ReplaceAll(text, s, blot)
	}
	return Excerpt(text)
}

func redact(text string) string {
	if lower := strings.ToLower(text); strings.Contains(lower, "bearer") || strings.Contains(lower, "basic") {
		text = bearer.ReplaceAllString(text, `${1} `+blot)
	}
	if !namesSecret(text) { // most texts: the patterns below are slow
		return text
	}
	text = jsonSecret.ReplaceAllString(text, `${1}"`+blot+`"`)
	return formSecret.ReplaceAllString(text, `${1}`+blot)
}

func redactQuery(q url.Values) string {
	for name := range q {
		if namesSecret(name) {
			q.Set(name, blot)
		}
	}
	return q.Encode()
}
