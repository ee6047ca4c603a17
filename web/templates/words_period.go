package templates

// periodWords is the wording about months.
type periodWords struct {
	Nav, Question, Choose, Show, Previous, Next, Automation, AllTogether, EmptyTitle, Empty, Shares, Download, CSV, Excel, Below, Nearly,
	PerAutomation, Month, Automatic string
	Months                          [12]string
	Answer, Column, Different, Head map[string]string
	How                             map[string]string
}

// Period is the wording about months in use: English.
var Period = periodWords{
	Nav: "Months", Question: "Is {month} complete?", Choose: "Month", Show: "Show", Previous: "Month before", Next: "Month after",
	Automation: "Automation", AllTogether: "All together", EmptyTitle: "Nothing is recorded for {month}",
	Empty:  "Invoices belong to the month that they name, else to that of their issue date.",
	Shares: "What became of them", Download: "For the auditor, one row for each invoice:", CSV: "CSV", Excel: "Excel",
	Below: "<0.1 %", Nearly: ">99.9 %", PerAutomation: "By automation",
	Months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	Month:  "{month} {year}", Automatic: "Automation",

	Answer: map[string]string{
		"complete":     "Yes. All {n} invoices of {month} are settled.",
		"complete/one": "Yes. The one invoice of {month} is settled.",
		"running":      "So far, yes. All {n} invoices recorded for {month} are settled, but the month is not over.",
		"running/one":  "So far, yes. The one invoice recorded for {month} is settled, but the month is not over.",
		"open":         "Not yet: {open} of {n} invoices of {month} are still open.",
		"open/one":     "Not yet: 1 of {n} invoices of {month} is still open.",
		"person":       "{person} of them need a person.",
		"person/one":   "1 of them needs a person.",
		"person/all":   "All of them need a person.",
		"person/it":    "It needs a person.",
		"none":         "Nothing is recorded for {month}.",
		"closed":       "{closed} were closed without sending.",
		"closed/one":   "1 was closed without sending.",
	},
	Column: map[string]string{"expected": "Expected", "finished": "Confirmed", "review": "Needs a person", "different": "Of these: different",
		"unknown": "Outcome unknown", "waiting": "Waiting", "closed": "Closed"},
	Different: map[string]string{"mismatch": "{n} not as asked", "duplicates": "{n} there twice"},

	// The file for the auditor.
	Head: map[string]string{"automation": "Automation", "key": "Key", "customer_id": "Customer number", "customer": "Customer", "amount": "Amount",
		"currency": "Currency", "issue_date": "Issue date", "status": "Status", "reason": "Reason", "system": "Accounting system", "number": "Number there",
		"id": "Id there", "reference": "Our reference", "how": "How we know", "settled": "Settled at ({zone})", "by": "Settled by", "note": "Note", "month": "Month"},
	How: map[string]string{
		"answer":      "{system} said so when it was sent",
		"lookup":      "Looked in {system} and found it",
		"report":      "A report of {system} shows it",
		"late answer": "{system} said so, later",
		"resolved":    "{who} says that it is done",
		"closed":      "{who} decided that it will not be done",
		"never":       "Nothing was ever sent",
		"absent":      "Every try is known to have made nothing",
		"unknown":     "Not known yet whether it is there",
		"seen":        "A record was seen there: {ref}",
	},
}
