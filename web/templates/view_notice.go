package templates

// NoticeSettings is the part of a person's own page about messages to them.
type NoticeSettings struct {
	Email     string
	Modes     []Tick // one is on
	Alerts    bool
	Mine      bool
	Systems   []Tick // none: there is only one
	Hour      string
	Hours     []Choice
	HourHint  Sentence
	Suggested bool // the person has not chosen yet
	NoMail    bool // no mail server is set up
	NoAddress bool
	Problem   string // with the settings
	Recent    []NoticeRow
}

// NoticeList is the page of the messages to anybody, for admins.
type NoticeList struct {
	Shell
	Channels []Sentence
	HowTo    bool // something is not set up
	Rows     []NoticeRow
}

// NoticeRow is one message.
type NoticeRow struct {
	At      Stamp
	To      string
	Address string
	Kind    string
	Subject string
	Badge   Badge
	Also    Sentence // when it was taken or is tried again, how often it was tried, and why it was not taken
}
