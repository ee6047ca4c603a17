package rest

import (
	"onefold/internal/ledger"
	"onefold/internal/work"
)

// definition is an accounting system as an admin described it. The page any-rest-system.md in docs/accounting-systems
// explains each part.
type definition struct {
	name     string
	settings []setting
	auth     auth
	can      work.Capabilities
	identity identity
	record   record
	steps    []step
	search   *search
	read     *read
	drafts   string // the last step of a document that stays a draft; empty: there are no drafts
	remove   *removal
}

// setting is a value that an admin types beside the definition.
type setting struct {
	name, help string
	required   bool
	fallback   string
}

// auth is how calls are authorized. Secrets are named, never written into a definition.
type auth struct {
	kind   string // none, bearer, basic, header, oauth2
	header string // of header: its name
	before string // of header and oauth2: what stands before the secret, for example "token"
	secret string // of bearer and header
	user   *text  // of basic

	// Of oauth2.
	tokens  *text  // the address that gives out tokens
	grant   string // client_credentials, refresh_token
	client  *text
	scope   *text
	further []named
}

// text is fixed, or made by an expression.
type text struct {
	fixed string
	made  *expression
}

func (t *text) value(d document) (string, error) {
	if t.made == nil {
		return t.fixed, nil
	}
	return t.made.plain(d)
}

type named struct {
	name string
	text
	odata string // of a query value: an OData filter for this field, equal to the text
}

// segment is one part of a path. It is escaped as a whole.
type segment struct {
	text
	odata string // an OData entity: name(text)
}

type request struct {
	line    int
	part    string
	method  string
	path    []segment
	query   []named
	headers []named
	body    *expression // JSON
	form    []named     // instead of a body
}

// answer says what an answer with a status of 2xx or 4xx means, and where the record is in it.
type answer struct {
	line                                             int
	shape                                            string // object, list, any
	accepted, rejected, duplicate, inProgress, login *expression
	wait, final                                      *expression
	waitSeconds, reason, record                      *expression
}

type step struct {
	name    string
	request request
	answer  answer
	later   bool        // it is not the first
	done    *expression // its effect is on the record; nil for a first step whose record alone is the effect
}

type record struct {
	line                                                         int
	id, number, reference, customer, total, currency, state, url *expression
}

type identity struct {
	request request
	books   *expression
	told    *expression // in each answer
	fixed   *expression // by the settings, because they are part of each address
	login   bool        // by the login
}

type search struct {
	line    int
	request request
	shape   string
	done    *expression // the search was carried out
	records *expression
	single  bool // all hits come at once
	first   any  // of paging: what .page is on the first page
	last    *expression
	next    *expression // .page of the next page
	link    *expression // or its address; null: there is none
}

type read struct {
	request request
	shape   string
	gone    *expression
	record  *expression
}

type removal struct {
	request request
	done    *expression
	leaves  string
}

// The names of the secrets that a definition may use.
var secretNames = []string{"token", "password", "client_secret", "refresh_token"}

// capabilities are what the definition declares. They count only after a proof: see ledger.Adapter.Typed.
func (d *definition) capabilities() work.Capabilities { return d.can }

func (d *definition) step(name string) (step, bool) {
	for _, s := range d.steps {
		if s.name == name {
			return s, true
		}
	}
	return step{}, false
}

// stepNames are the steps of a document, or of one that stays a draft.
func (d *definition) stepNames(drafts bool) []string {
	var names []string
	for _, s := range d.steps {
		names = append(names, s.name)
		if drafts && s.name == d.drafts {
			break
		}
	}
	return names
}

// problem is an error of the definition as its form shows it.
func problem(field string, err error) error { return &ledger.FieldError{Field: field, Err: err} }
