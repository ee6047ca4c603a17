package proof

// Codes are all that Step.Says may be; pages have words for each.
var Codes = []string{
	"any/over", "any/inside", "any/skipped", "any/interrupted",
	"books/silent", "books/other", "books/reached",
	"nothing/unsearchable", "nothing/finds", "nothing/could_not", "nothing/missed",
	"made/made", "made/unknown", "made/refused",
	"found/unsearchable", "found/late", "found/found", "found/could_not", "found/never",
	"same/reference", "same/different", "same/untold", "same/same",
	"repeat/not_declared", "repeat/second", "repeat/several", "repeat/recognised", "repeat/duplicate", "repeat/unclear",
	"unique/not_declared", "unique/second", "unique/unclear", "unique/refused",
	"lost/person", "lost/review", "lost/not_lost", "lost/by_key", "lost/confirmed", "lost/several", "lost/not_found",
	"refused/here", "refused/taken", "refused/unclear", "refused/elsewhere", "refused/few", "refused/final", "refused/limit",
	"refused/final/unsearchable", "refused/limit/unsearchable", "refused/created", "refused/could_not",
	"cleaning/nothing", "cleaning/none", "cleaning/all", "cleaning/left",
}
