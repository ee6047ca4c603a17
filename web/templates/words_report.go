package templates

// reportWords are the fixed texts of the pages about reports, and those that follow a code.
type reportWords struct {
	Title, Intro, Upload, UploadTitle, File, FileHint, NoFile, Earlier, Uploaded, UploadedBy, Came, None, By, Compare, CompareHint, Read, ReadHint, Unused, Made, MadeHint, MadeFile,
	From, To, PeriodHint, Everything, EverythingHint, Code, Void, VoidHint, Written, ByItself, Decimal, DateOrder, Delimiter, Samples, Shows, Invoice, Asked,
	InReport, What, Lines, Next, First, Apply, ApplyHelp, ApplyNone, Applying, ApplyingHelp, Applied, Begun, Remove, RemoveHelp, Results, Bad, BadMore, Doubts, DoubtsNone,
	Recheck, Changed, Refresh, Line, Rows, Period, AllTime, Agree, CompareLink, FileName string
	Column, Kind, KindHelp, Empty, Doubt, Why, State, Result, Refusal, Happens, Find, Point, Order, Separator map[string]string
}

// Reports is the wording of the pages about reports.
var Reports = reportWords{
	Title: "Compare with a report", Intro: "For an accounting system that cannot be searched from here: export its list of invoices, upload it, look at what we find, and apply it. Nothing changes before you apply.",
	Upload: "Upload and compare", UploadTitle: "Upload a report", File: "Report (Excel .xlsx or CSV)", NoFile: "Choose the file that you exported.",
	FileHint: "As the accounting system exported it: all invoices of the period, drafts and void or deleted ones too.",
	Earlier:  "Reports so far", Uploaded: "Uploaded", UploadedBy: "Uploaded by", Came: "What came of it", None: "No report has been uploaded yet.", By: "by",
	Compare: "Compare again", CompareHint: "Say what you know about the report. What is proven depends on it.", Read: "How the report is read", ReadHint: "Remembered for the next report of this system.",
	Unused: "not used", Made: "Exported at", MadeHint: "When the accounting system made it, in {zone}. If you are not sure, the earlier time.", MadeFile: "The file says {at}.",
	From: "First day", To: "Last day", PeriodHint: "The days that you chose for the export. Empty: as the dates in it.",
	Everything: "It was exported without filters", EverythingHint: "Every customer and every state: drafts, paid, void and deleted ones too. Only then can it show that something is not there.",
	Code: "Currency of all amounts", Void: "These mean void or deleted", VoidHint: "Untick what does not.", Written: "Numbers and dates", ByItself: "as the file shows", Decimal: "Decimal mark", DateOrder: "Dates",
	Delimiter: "Separator", Samples: "The first rows", Shows: "What it shows", Invoice: "Invoice", Asked: "Our amount", InReport: "In the report", What: "What happens",
	Lines: "line {n}", Next: "Next page", First: "First page",
	Apply: "Apply to {n}", ApplyHelp: "Matches are confirmed, differences go to a person, and what is proven not there can be sent again. What a colleague changes meanwhile is left out.",
	ApplyNone: "There is nothing to apply.", Applying: "Being applied", ApplyingHelp: "{done} of {all} done. You may leave this page; it goes on.", Applied: "Applied {at} by {who}.", Begun: "Begun {at} by {who}.",
	Remove: "Remove this report", RemoveHelp: "Nothing was changed by it.", Results: "Download the results (CSV)", Bad: "Rows that could not be read", BadMore: "And {n} more.",
	Doubts: "What is not in this report is not taken for absent, because:", DoubtsNone: "The report is whole: what is not in it is not there.",
	Recheck: "Refresh", Changed: "Not done: a colleague changed or applied this report meanwhile. What you see now is how it stands.", Refresh: "Refresh",
	Line: "Line", Rows: "Rows", Period: "Period", AllTime: "all", Agree: "Already as in the report",
	CompareLink: "Compare with a report", FileName: "File",

	Column: map[string]string{"reference": "Our reference", "number": "Its number", "customer": "Customer", "amount": "Total", "currency": "Currency", "status": "Status", "date": "Date"},
	Kind: map[string]string{"match": "Matches", "different": "Differences", "absent": "Not there", "unclear": "Cannot tell", "missing": "Confirmed, but not in it",
		"stranger": "Not from here"},
	KindHelp: map[string]string{"match": "In the report as we asked for it.", "different": "In the report, but not as we asked for it, or against how it was settled.",
		"absent": "Open here, and the report proves that it is not there.", "unclear": "Open here, and the report does not tell.",
		"missing": "Confirmed before the report was made, of its period, and not in it: the export was filtered, or is of other books.", "stranger": "In the report, under no reference of ours. Nothing happens with these."},
	Empty: map[string]string{"": "There are none.", "match": "No open invoice matches.", "different": "All is well: nothing differs.", "absent": "Nothing is proven not there.",
		"unclear": "All is well: the report tells about every open invoice.", "missing": "All is well: every confirmed invoice of the period is in it.", "stranger": "Every row belongs to an invoice from here."},
	Doubt: map[string]string{"time": "nobody said when it was exported.", "everything": "nobody said that it was exported without filters.",
		"missing": "{n} confirmed invoices of its period are not in it: it was filtered, or is of other books.", "none_known": "no confirmed invoice belongs to its period, so nothing shows that it is whole.",
		"rows": "{n} rows could not be read.", "problem": ""},
	Why: map[string]string{"similar": "Not in it under this reference, but {rows} looks alike: look there yourself.", "doubts": "Not in it, which proves nothing: see above.",
		"period": "Its date is outside of the report’s period.", "settling": "Not in it, but the last send had not ended for certain before {until}. Export again after that time.",
		"report_old": "Not in it, but the report is older than 15 minutes. Export again.", "open_attempt": "It is on its way at this moment.", "row": "{rows} cannot be read.",
		"evidence": "Kept as evidence; a person decides", "miss": "Counts as one look that did not find it; another one is needed.",
		"contradiction": "Goes to a person: there was word that it is there, and it is not in the report.",
		"step":          "A report does not show this step.", "taken": "The record already belongs to another invoice.", "report": "The report proves nothing about it.", "person": "Only a signed-in person may apply it."},
	Happens: map[string]string{"match": "Will be confirmed", "different": "Goes to a person", "absent": "Proven not there", "unclear": "", "missing": "", "stranger": ""},
	State:   map[string]string{"open": "Not applied", "applying": "Being applied", "applied": "Applied"},
	Result: map[string]string{"": "Waiting", "changed": "Left out: it changed meanwhile", "gone": "Left out: no such invoice", "confirmed": "Confirmed", "absent": "Not there: can be sent again", "review": "Needs a person", "failed": "Not there: sent again",
		"queued": "Not there: sent", "pending": "Outcome still unknown", "settling": "Left out: not settled yet", "report_old": "Left out: the report is too old", "open_attempt": "Left out: it was on its way",
		"report": "Left out: it proves nothing", "unchanged": "As it was", "status": "Left out: it changed meanwhile"},
	Refusal: map[string]string{"report_future": "The report cannot have been exported after it was uploaded.", "report_period": "The period is not one: the first day must not be after the last.",
		"made": "The time of the export is not a time: write it as 2026-11-30T14:05.", "not_ready": "There is nothing to apply."},
	Find: map[string]string{"found_matching": "A report of {system} made {at} has it as {ref}, and it matches.", "found_different": "A report of {system} made {at} has {ref}, but it differs.",
		"found_several": "A report of {system} made {at} has more than one.", "found_void": "A report of {system} made {at} has {ref}, but void or deleted.", "not_found": "Not in a whole report of {system} made {at}."},
	Point: map[string]string{".": "Point: 1,234.50", ",": "Comma: 1.234,50"}, Order: map[string]string{"dmy": "Day first: 30/11/2026", "mdy": "Month first: 11/30/2026", "ymd": "Year first: 2026-11-30"},
	Separator: map[string]string{",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Bar"},
}
