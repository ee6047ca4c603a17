package templates

// retentionWords is the wording about how long history is kept.
type retentionWords struct {
	Nav, Say, Stays, Would, WouldMore, WouldNone, WouldOne, Gone, GoneNone, Months, Years, Year, Month, ForEver, Preview, PreviewHelp, Save, SaveHelp,
	Saved, Previewed, Refused, Pruned, PrunedOne, Kept string
	Title, What, Unit, UnitOne map[string]string
}

// Retention is the wording about how long history is kept in use: English.
var Retention = retentionWords{
	Nav: "History kept",
	Say: "Old history is removed little by little, so that years of it do not fill the disk. Removed is removed: a longer time brings nothing back.",
	Stays: "What always stays: every invoice with its key, its amounts and every version of it; what people decided and noted; the evidence that an invoice is in the " +
		"accounting system; reports; the audit trail. Of an invoice that is not settled everything stays.",
	Would: "With this time {n} {unit} are old enough.", WouldOne: "With this time 1 {unit} is old enough.", WouldMore: "With this time more than {n} {unit} are old enough.", WouldNone: "With this time nothing is old enough.",
	Gone: "{n} removed so far, last {at}.", GoneNone: "Nothing removed so far.",
	Month: "1 month", Months: "{n} months", Year: "1 year", Years: "{n} years", ForEver: "for ever",
	Preview: "Show what would go", PreviewHelp: "Changes nothing.",
	Save: "Keep history this long", SaveHelp: "Goes on record in the audit trail. What is old enough is removed from then on.",
	Saved:     "Saved. What is old enough is removed in the background from now on.",
	Previewed: "Nothing is changed yet. This is what would be old enough; what stays of it is said with each kind.",
	Refused:   "Choose for each kind one of the times that are offered. Nothing was changed.",
	Kept:      "You were signed out. Nothing was changed; what you had chosen is still here.",
	Pruned:    "{n} older tries were removed ({at}): history is kept for a set time. What shows that the invoice is there was kept.",
	PrunedOne: "1 older try was removed ({at}): history is kept for a set time. What shows that the invoice is there was kept.",

	Title: map[string]string{"excerpts": "What was exchanged", "attempts": "Tries of settled invoices", "events": "Messages received from shops and accounting systems",
		"outcomes": "Messages to other programs", "notices": "Messages to people", "runs": "Single invoices of finished bulk runs", "imports": "Single rows of imported files"},
	What: map[string]string{
		"excerpts": "The text of requests and answers, without secrets, of settled invoices. It may name customers. The tries themselves stay.",
		"attempts": "What was tried and looked up before an invoice was settled, except the evidence. An invoice that went through at the first try keeps that one.",
		"events":   "One that is sent again after its time finds its invoice by the order's reference, and records nothing twice.",
		"outcomes": "What was delivered or given up. What still waits stays.",
		"notices":  "E-mails and alerts that were sent or given up. What still waits stays.",
		"runs":     "The run itself, who began it and its totals stay.",
		"imports":  "The file's name, who imported it and its totals stay, and so do the invoices.",
	},
	Unit: map[string]string{"excerpts": "settled invoices", "attempts": "settled invoices", "events": "messages", "outcomes": "messages", "notices": "messages", "runs": "bulk runs", "imports": "files"},
	UnitOne: map[string]string{"excerpts": "settled invoice", "attempts": "settled invoice", "events": "message", "outcomes": "message", "notices": "message", "runs": "bulk run",
		"imports": "file"},
}
