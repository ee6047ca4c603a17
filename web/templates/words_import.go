package templates

// importWords are the fixed texts of the pages about imports, and those that follow a code.
type importWords struct {
	Title, Intro, File, FileHint, NoFile, Upload, UploadTitle, Earlier, None, By, FileName, Number, Older, Newest,
	Checking, CheckingRows, Running, Holding, Stays, LookAgain, Same, Before, Changed, Begun, Ended, HoldBegun,
	ToImport, Imported, Import, ImportHelp, ImportNone, ImportNoneHelp, Remove, Results, List, HoldTitle, HoldHelp, HoldNote, HoldNoteHint, Hold, HoldAgain, Stopped, StoppedBy, LeftOut, BegunBy,
	Read, ReadHint, ReadAgain, Remembered, ByItself, Encoding, Delimiter, Decimal, DateOrder, Heading, Sheet, Columns, ColumnsHint, Must,
	Agree, NotAgreed, AskAdmin, MayNotAgree,
	Unused, ChooseColumn, Ignored, Samples, Rows, Line, What, All, Empty, SameLine, ChooseColumns, FormatAt, Total, Invoices string
	Column, State, StateSign, StateTone, Outcome, OutcomeSign, OutcomeTone, OutcomeHelp, Says, Known, Code, Point, Order, Separator, Refusal map[string]string
}

// Imports is the wording of the pages about imports.
var Imports = importWords{
	Title: "Import", Intro: "One invoice a row, from Excel or any program that writes CSV. You see what is in the file before anything is recorded.",
	File: "File (Excel .xlsx or CSV)", FileHint: "Drop it here or choose it. It must name the invoice, the customer’s number, the currency and the amount; German headings are known as well.",
	NoFile: "Choose a file.", Upload: "Check the file", UploadTitle: "A new file", Earlier: "Imports so far", None: "No file has been imported yet.", By: "by", FileName: "File",
	Number: "Import no. {n}", Older: "Older imports", Newest: "Newest imports",

	Checking: "The file is being checked.", CheckingRows: "{done} of {all} rows checked.", Running: "{done} of {all} invoices recorded.",
	Holding: "What came from this file is being stopped. {n} stopped so far.", Stays: "You may leave this page; it goes on.", LookAgain: "Refresh",
	Same: "This file was here already. This is what you see; it is not imported twice.", Before: "The same file was imported before: {import}. What is known since then is not recorded again.",
	Changed: "Not done: this import has changed meanwhile. What you see now is how it stands.", Begun: "The import has begun.", Ended: "The import is finished: what became of each row is below.", HoldBegun: "Everything from this file is being stopped.",

	ToImport: "To import", Imported: "Imported", Import: "Import {n}", ImportHelp: "Each is sent by itself once it is recorded. Rows that are known, different or refused are left out.",
	ImportNone: "There is nothing new in this file.", ImportNoneHelp: "Nothing needs to be imported. The rows say why.", Remove: "Do not import this file",

	Agree: "Import anyway", NotAgreed: "Not begun. Tick that it is to be imported anyway, or prove the accounting system first. The file stays here.",
	AskAdmin: "An admin can prove it, or agree on this page to import anyway. The file stays here.", MayNotAgree: "Not begun: only an admin may agree to import anyway.",

	Results: "Download the results (CSV)", List: "Show these invoices", HoldTitle: "Was it the wrong file?",
	HoldHelp: "Stops every invoice from this file that has not been sent yet, until a person decides. What is on its way is let finish.", HoldNote: "Why", HoldNoteHint: "Kept with each invoice",
	Hold: "Stop everything from this file", HoldAgain: "Stop what waits again", Stopped: "{n} stopped", StoppedBy: "Stopped by {who}: {note}", LeftOut: "{n} rows were not imported: the import was stopped.",
	BegunBy: "Begun {at} by {who}",

	Read: "How the file is read", ReadHint: "Found out from the whole file. Change what is wrong and have it read again.", ReadAgain: "Read again", Remembered: "Columns as you chose them for the last file with these headings.",
	ByItself: "found: {found}", Encoding: "Encoding", Delimiter: "Separator", Decimal: "Decimal mark", DateOrder: "Dates", Heading: "Headings in line", Sheet: "Sheet",
	Columns: "Columns", ColumnsHint: "Remembered for the next file with the same headings. So are the decimal mark and the order of dates, for files that leave them open.", Must: "needed", Unused: "not used", ChooseColumn: "Choose a column", Ignored: "Columns that are not used", Samples: "The first rows",
	Rows: "Rows of the file", Line: "Line", What: "What happens", All: "All", Empty: "There are none.", SameLine: "The same as line {n}",
	ChooseColumns: "Choose below which column holds: {columns}.", FormatAt: "{format}, headings in line {n}", Total: "Amount", Invoices: "Invoices",

	Column: map[string]string{"key": "Invoice or order number", "customer_id": "Customer number", "customer_name": "Customer name", "currency": "Currency", "amount": "Amount", "issue_date": "Invoice date",
		"due_date": "Due date", "description": "Description", "quantity": "Quantity", "unit_price": "Unit price", "tax_code": "Tax code", "note": "Note", "period": "Month"},
	State:       map[string]string{"checking": "Being checked", "ready": "Not imported yet", "problem": "Cannot be read yet", "importing": "Being imported", "done": "Imported", "holding": "Being stopped", "stopped": "Stopped"},
	StateSign:   map[string]string{"checking": "…", "ready": "○", "problem": "!", "importing": "…", "done": "✓", "holding": "…", "stopped": "■"},
	StateTone:   map[string]string{"checking": "busy", "ready": "wait", "problem": "ask", "importing": "busy", "done": "good", "holding": "busy", "stopped": "ask"},
	Outcome:     map[string]string{"todo": "New", "new": "Imported", "known": "Known", "conflict": "Different", "refused": "Refused", "todo/stopped": "Not imported", "todo/importing": "Waiting"},
	OutcomeSign: map[string]string{"todo": "○", "new": "✓", "known": "=", "conflict": "≠", "refused": "!"},
	OutcomeTone: map[string]string{"todo": "wait", "new": "good", "known": "wait", "conflict": "ask", "refused": "ask"},
	OutcomeHelp: map[string]string{"": "Every row of the file, in its order.", "todo": "Not on record yet: these are imported.", "new": "Recorded by this import.", "known": "On record already, with the same content: left out.",
		"conflict": "On record already, but with another content or spelling: left out, and nothing is changed.", "refused": "Cannot be issued: left out. Mend the file and import it again; what is known by then is recognised."},
	Says:  map[string]string{"todo": "Will be imported", "todo/stopped": "Not imported", "todo/importing": "Waiting", "new": "Imported", "known": "Known", "conflict": "Different", "refused": "Refused"},
	Known: map[string]string{"closed": "Known, closed by {who}", "resolved": "Known, resolved by {who}", "confirmed": "Known, confirmed", "": "Known: {status}"},
	Code: map[string]string{"utf-8": "UTF-8", "windows-1252": "Windows, western Europe (1252)", "iso-8859-15": "ISO 8859-15, western Europe", "windows-1250": "Windows, central Europe (1250)", "iso-8859-2": "ISO 8859-2, central Europe",
		"macintosh": "Mac"},
	Point: map[string]string{".": "Point: 1,234.50", ",": "Comma: 1.234,50"}, Order: map[string]string{"dmy": "Day first: 30/11/2026", "mdy": "Month first: 11/30/2026", "ymd": "Year first: 2026-11-30"},
	Separator: map[string]string{",": "Comma", ";": "Semicolon", "tab": "Tab", "|": "Bar"},
	Refusal:   map[string]string{"note": "A note is needed.", "too_long": "The note is too long."},
}
