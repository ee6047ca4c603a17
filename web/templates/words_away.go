package templates

// awayWords are what a person reads whose form met a database that could not be asked.
type awayWords struct {
	NotSaved, PerhapsSaved, Typed, Copy string
	Label                               map[string]string // of fields that people type longer texts in
}

// Away is the wording in use: English.
var Away = awayWords{
	NotSaved: "Nothing of what you sent was saved.",
	PerhapsSaved: "It is not certain whether what you sent was saved: the connection was lost on the way. Look at the page again before you " +
		"repeat it. Nothing that was saved is carried out twice.",
	Typed: "What you typed",
	Copy:  "Copy it. When the database answers, go back and look whether it is there before you send it again.",
	Label: map[string]string{"note": "Note", "reference": "Reference", "name": "Name", "email": "E-mail address"},
}
