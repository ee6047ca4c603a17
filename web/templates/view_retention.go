package templates

// RetentionPage is the page on which admins decide how long history is kept.
type RetentionPage struct {
	Shell
	Problem string
	Kinds   []RetentionKind
}

// RetentionKind is one kind of history.
type RetentionKind struct {
	Name, Title, What string
	Months            []Choice
	Value             string   // the chosen number of months
	Would             string   // what would go; empty: nobody asked
	Gone              Sentence // what went so far
}
