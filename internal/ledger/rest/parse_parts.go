package rest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"onefold/internal/ledger"
)

var (
	odataName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./]{0,99}$`)
	headerName = regexp.MustCompile(`^[A-Za-z0-9-]{1,60}$`)
	stepName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,29}$`)
)

// ours are headers that the transport sets, or that would change how a request is cut off.
var ours = []string{"Authorization", "Host", "Content-Length", "Transfer-Encoding", "Connection", "User-Agent", "Trailer", "Te", "Upgrade", "Expect", "Accept-Encoding", "Content-Encoding"}

func (p *parser) auth(n *yaml.Node) (a auth) {
	m := p.part(n, "auth")
	kinds := 0
	for _, kind := range []string{"none", "bearer", "basic", "header", "oauth2"} {
		inner := m.get(kind)
		if inner == nil {
			continue
		}
		kinds++
		a.kind = kind
		if kind == "none" {
			continue
		}
		in := p.part(inner, "auth."+kind)
		switch kind {
		case "bearer":
			a.secret = in.word("secret", secretNames...)
			in.need("secret", "the name of the secret: token")
		case "basic":
			a.user, a.secret = in.text("user"), in.word("secret", secretNames...)
			in.need("user", "the user's name, or an expression over .settings")
			in.need("secret", "the name of the secret: password")
		case "header":
			a.header, a.before, a.secret = in.word("name"), in.word("before"), in.word("secret", secretNames...)
			if !headerName.MatchString(a.header) || slices.Contains(ours[1:], http.CanonicalHeaderKey(a.header)) {
				p.wrong(inner, "auth.header", "name must be the name of a header")
			}
			in.need("secret", "the name of the secret: token")
		case "oauth2":
			p.oauth(in, &a)
		}
		in.end()
	}
	if kinds != 1 {
		p.wrong(n, "auth", "it must be one of none, bearer, basic, header, oauth2")
	}
	m.end()
	return a
}

func (p *parser) oauth(in *part, a *auth) {
	a.tokens, a.client, a.scope = in.text("token_url"), in.text("client_id"), in.text("scope")
	a.grant, a.before = in.word("grant", "client_credentials", "refresh_token"), in.word("before")
	a.further = in.namedTexts("further", false)
	if a.before == "" {
		a.before = "Bearer"
	}
	in.need("token_url", "the address that gives out tokens")
	in.need("client_id", "the client's id, or an expression over .settings")
	in.need("grant", "client_credentials or refresh_token")
}

func (p *parser) request(n *yaml.Node, name string, methods ...string) request {
	m := p.part(n, name)
	r := request{line: n.Line, part: name, method: m.word("method", methods...), query: m.namedTexts("query", true), headers: m.namedTexts("headers", false),
		body: m.asks("body"), form: m.namedTexts("form", false)}
	m.need("method", strings.Join(methods, " or "))
	if list := m.need("path", "the parts of the address below the system's own, as a list"); list != nil {
		if list.Kind != yaml.SequenceNode {
			p.wrong(list, m.inner("path"), "it must be a list such as [api, invoices, =.id]: each part is escaped for itself")
		} else {
			for i, one := range list.Content {
				r.path = append(r.path, p.segment(one, fmt.Sprintf("%s[%d]", m.inner("path"), i+1)))
			}
		}
	}
	for _, h := range r.headers {
		if name := http.CanonicalHeaderKey(h.name); !headerName.MatchString(h.name) || slices.Contains(ours, name) {
			p.wrong(n, m.inner("headers"), "the header %q cannot be set here", ledger.Short(h.name, 40))
		}
	}
	if r.body != nil && r.form != nil {
		p.wrong(n, name, "there is a body and a form: one of them")
	}
	m.end()
	return r
}

func (p *parser) segment(n *yaml.Node, name string) segment {
	if n.Kind != yaml.MappingNode {
		s := segment{text: p.text(n, name)}
		if s.made == nil && badSegment(s.fixed) {
			p.wrong(n, name, "a part of a path cannot be empty or dots, or hold a slash: write two parts")
		}
		return s
	}
	m := p.part(n, name)
	s := segment{odata: m.word("odata")}
	if !odataName.MatchString(s.odata) {
		p.wrong(n, name, "odata must be the name of a collection")
	}
	if id := m.need("id", "which of them"); id != nil {
		s.text = p.text(id, name+".id")
	}
	m.end()
	return s
}

func badSegment(s string) bool {
	return strings.Trim(s, ". ") == "" || strings.ContainsAny(s, "/\\?#") || len(s) > 500
}

func (p *parser) steps(n *yaml.Node) (steps []step) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(n.Content) > mostSteps {
		p.wrong(n, "steps", "it must be a list of one to %d steps", mostSteps)
		return nil
	}
	for i, one := range n.Content {
		m := p.part(one, fmt.Sprintf("steps[%d]", i+1))
		s := step{name: m.word("name")}
		if !stepName.MatchString(s.name) {
			p.wrong(one, m.inner("name"), "it must be a short word such as create or post")
		}
		for _, before := range steps {
			if before.name == s.name {
				p.wrong(one, m.inner("name"), "two steps have the name %q", s.name)
			}
		}
		if stepName.MatchString(s.name) {
			m.name = "steps." + s.name
		}
		if r := m.need("request", "the request that does it"); r != nil {
			s.request = p.request(r, m.inner("request"), http.MethodPost, http.MethodPut, http.MethodPatch)
		}
		if a := m.need("answer", "what its answers mean"); a != nil {
			s.answer = p.answer(a, m.inner("answer"), i == 0)
		}
		s.later = i > 0
		if !s.later {
			s.done = m.asks("done")
		} else {
			s.done = m.mustAsk("done", "how a record shows that this step was done, for example .state != \"draft\"")
		}
		m.end()
		steps = append(steps, s)
	}
	return steps
}

func (p *parser) answer(n *yaml.Node, name string, first bool) answer {
	m := p.part(n, name)
	a := answer{line: n.Line, shape: m.shape(), rejected: m.asks("rejected"), duplicate: m.asks("duplicate"), inProgress: m.asks("in_progress"), login: m.asks("login"),
		wait: m.asks("wait"), final: m.asks("final"), waitSeconds: m.asks("wait_seconds"), reason: m.asks("reason")}
	a.accepted = m.mustAsk("accepted", "how an answer shows that it was done")
	if first {
		a.record = m.mustAsk("record", "where the new record is in the answer")
	} else {
		a.record = m.asks("record")
	}
	m.end()
	return a
}

func (m *part) shape() string {
	if s := m.word("body", "object", "list", "any"); s != "" {
		return s
	}
	return "object"
}

func (p *parser) record(n *yaml.Node) record {
	m := p.part(n, "record")
	r := record{line: n.Line, number: m.asks("number"), customer: m.asks("customer"), state: m.asks("state"), url: m.asks("url")}
	r.id = m.mustAsk("id", "the system's own id of a record")
	r.reference = m.mustAsk("reference", "our reference as it comes back")
	r.total = m.mustAsk("total", "the amount to pay, tax included")
	r.currency = m.mustAsk("currency", "its currency, such as EUR")
	m.end()
	return r
}

func (p *parser) identity(n *yaml.Node) identity {
	m := p.part(n, "identity")
	v := identity{told: m.asks("told"), fixed: m.asks("fixed"), login: m.flag("login")}
	v.books = m.mustAsk("books", "the name or id of the books in the answer")
	if r := m.need("request", "the request that asks for it"); r != nil {
		v.request = p.request(r, "identity.request", http.MethodGet, http.MethodPost)
	}
	ways := 0
	for _, is := range []bool{v.told != nil, v.fixed != nil, v.login} {
		if is {
			ways++
		}
	}
	if ways != 1 {
		p.wrong(n, "identity", "say how each answer is known to be of these books, by one of: told (an expression over each answer), fixed (an expression over .settings, if they are in each address), login: true (the login reaches only these books)")
	}
	m.end()
	return v
}

func (p *parser) search(n *yaml.Node) *search {
	m := p.part(n, "search")
	s := &search{line: n.Line, shape: m.shape(), single: m.flag("one_page"), last: m.asks("last"), next: m.asks("next"), link: m.asks("link")}
	if r := m.need("request", "the request that searches by our reference, in every state"); r != nil {
		s.request = p.request(r, "search.request", http.MethodGet, http.MethodPost)
	}
	s.done = m.mustAsk("done", "how an answer shows that the search was carried out")
	s.records = m.mustAsk("records", "the list of records in the answer")
	s.first = 1
	if m.get("first") != nil {
		s.first = m.count("first", 1_000_000)
	}
	ways := 0
	for _, is := range []bool{s.single, s.link != nil, s.last != nil || s.next != nil} {
		if is {
			ways++
		}
	}
	if ways != 1 {
		p.wrong(n, "search", "say how it comes to its end, by one of: one_page: true, link (the next page's address; null on the last), last and next (is this the last page, and .page of the next)")
	} else if (s.last == nil) != (s.next == nil) {
		p.wrong(n, "search", "last and next belong together")
	}
	m.end()
	return s
}

func (p *parser) read(n *yaml.Node) *read {
	m := p.part(n, "read")
	r := &read{shape: m.shape(), gone: m.asks("gone"), record: m.mustAsk("record", "where the record is in the answer")}
	if one := m.need("request", "the request that reads a record by .id"); one != nil {
		r.request = p.request(one, "read.request", http.MethodGet, http.MethodPost)
	}
	m.end()
	return r
}

func (p *parser) removal(n *yaml.Node) *removal {
	m := p.part(n, "remove")
	r := &removal{done: m.mustAsk("done", "how an answer shows that the record is gone"), leaves: m.word("leaves")}
	if one := m.need("request", "the request that removes the draft .id"); one != nil {
		r.request = p.request(one, "remove.request", http.MethodDelete, http.MethodPost, http.MethodPut)
	}
	m.end()
	return r
}
