package templates

// tryOutWords is the wording of trying a definition out.
type tryOutWords struct {
	Title, Help, Reference, ReferenceHint, Do, Works, NotSearched, Problem, None, NeedsReference, Result, Records, Number, Customer, Total, State, Calls, NoCalls, Below,
	Asked, Answered, Read, Line, Part, Value string
	Found, Purpose map[string]string
	StateName      map[string]string
}

// TryOutWords is the wording of trying a definition out: English.
var TryOutWords = tryOutWords{
	Title: "Try it out", Help: "It asks whose books these are and searches for the reference, and shows each request, its answer and what the definition read from it. Nothing is sent or saved.",
	Reference: "Reference to search for", ReferenceHint: "Of an invoice that is in the books already; then of one that is not.", Do: "Try it out", NeedsReference: "Type a reference to search for.",
	Works: "The books are {books}. The search was carried out to its end.", NotSearched: "The books are {books}. The definition does not say how they are searched.",
	Problem: "It ended early: {text}.", None: "No record has this reference.", Result: "What was found",
	Records: "Records found", Number: "Number", Customer: "Customer", Total: "Total", State: "State", Calls: "What was asked", NoCalls: "No request was made.", Below: "What was asked and what was read from the answers stands below the form.",
	Asked: "Request", Answered: "Answer", Read: "What was read from it", Line: "Line", Part: "Part", Value: "Value",
	Found:     map[string]string{"one": "One record has this reference.", "more": "{n} records have this reference."},
	Purpose:   map[string]string{"identity": "Whose books are these?", "search": "Search for the reference", "read": "Read a record"},
	StateName: map[string]string{"": "not told", "draft": "Draft", "posted": "Issued", "void": "Void"},
}
