package templates

// SignInPage is the page to sign in by password or at the identity provider.
type SignInPage struct {
	Shell
	Login     string
	Next      string
	Again     bool // somebody is signed in and proves once more who they are
	Problem   string
	Hint      string // why one is here
	Passwords bool
	SSO       string // what the identity provider is called; empty: there is none
	SSOHref   string
}

// CodePage asks for the code of the second step.
type CodePage struct {
	Shell
	Next    string
	Problem string
}

// EnrolPage sets up the second step.
type EnrolPage struct {
	Shell
	Next     string
	Problem  string
	Required bool
	Secret   string // in groups, to be typed
	URL      string // otpauth://…
	Picture  string // address of the QR code
	Post     string
}

// CodesPage shows recovery codes, once.
type CodesPage struct {
	Shell
	Next  string
	Codes []string
}

// PasswordPage asks for another password.
type PasswordPage struct {
	Shell
	Next      string
	Login     string // for password managers
	Problem   string
	MustDo    bool // it must be changed now
	Post      string
	MinLength string
}

// WelcomePage is where a one-time link leads.
type WelcomePage struct {
	Shell
	Post       string
	Login      string
	Name       string
	Invitation bool // else the password was reset
	Problem    string
	MinLength  string
}

// SetUpPage is where the first person is added.
type SetUpPage struct {
	Shell
	Login     string
	Name      string
	Problem   string
	MinLength string
}

// Profile is a person's own page.
type Profile struct {
	Shell
	Name       string
	Facts      []Fact
	Password   bool // the person has one
	Step       []Sentence
	HasStep    bool
	MayHave    bool // a second step can be set up
	Sessions   []Browser
	Problem    string
	Everywhere bool // other sessions are open
	Notices    NoticeSettings
}

// Browser is one open session.
type Browser struct {
	Text    string
	Agent   string // what the browser calls itself
	Address string
	Since   Stamp
	Seen    Stamp
	Here    bool
	End     string // where the form that ends it is sent to
}

// PeopleList is the page of all persons.
type PeopleList struct {
	Shell
	Rows    []PersonRow
	Require bool // a second step
	Invite  Invite
	Link    *OneTimeLink
}

// PersonRow is one person in the list.
type PersonRow struct {
	Href  string
	Login string
	Name  string
	Roles string
	Step  string
	Badge Badge
	Last  Stamp
	Never string // instead of Last
}

// Invite is the form for a new person.
type Invite struct {
	Help    string
	Label   string
	Login   string
	Name    string
	Roles   []Tick
	Problem string
}

// Tick is a box to tick.
type Tick struct {
	Value string
	Text  string
	Help  string
	On    bool
}

// OneTimeLink is shown once, to be handed on.
type OneTimeLink struct {
	Say  Sentence
	Href string
}

// PersonPage is the page of one person, for admins.
type PersonPage struct {
	Shell
	Path      string // its address, which those of its forms begin with
	TrailHref string // what was done by the person
	Login     string
	Name      string
	Badge     Badge
	Facts     []Fact
	Roles     []Tick
	Disabled  bool
	HasStep   bool
	Email     string
	LinkText  string // of the button that makes a one-time link; empty: not possible
	Link      *OneTimeLink
	Sessions  []Browser
	Problem   string
}

// Tokens is the page of the API tokens.
type Tokens struct {
	Shell
	Rows    []TokenRow
	Name    string
	Scopes  []Tick
	Days    []Choice
	Day     string
	Limit   string
	Problem string
	Secret  *NewSecret
}

// NewSecret is a new token, shown once.
type NewSecret struct {
	Say   Sentence
	Value string
}

// TokenRow is one API token.
type TokenRow struct {
	Name    string
	Begins  string
	Scopes  string
	By      string
	Badge   Badge
	Created Stamp
	Expires Stamp
	Used    Stamp
	From    string
	Never   string // instead of Used
	Revoke  string // where the form is sent to; empty: it works no more
}

// Trail is the page of who did what.
type Trail struct {
	Shell
	Who      string
	People   []Choice
	What     string
	Acts     []Choice
	Object   string
	From     string
	To       string
	Text     string
	Rows     []TrailRow
	Filtered bool
	Export   string // address of the same as a file
	First    string
	Next     string
	Looked   Sentence // how far back was looked, if not to the end
	Problem  string
}

// TrailRow is one record of the trail.
type TrailRow struct {
	At     Stamp
	Who    string
	What   string
	Object string
	Href   string // the page of the object; empty: it has none
	Before string
	After  string
	Note   string
	From   string
	Agent  string
}
