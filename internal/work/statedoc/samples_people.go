package statedoc

import "onefold/internal/work"

const lookedNote = "I looked in the books: nothing there"

func (l *list) people(status work.Status) {
	l.add(status, work.Check{By: anna}, "")
	l.add(status, work.Check{By: anna}, "cannot be searched", unsearchable)
	l.add(status, work.Retry{By: anna}, "")
	l.add(status, work.Hold{By: anna, Note: "stop"}, "")
	l.add(status, work.Approve{By: bert}, "")
	l.add(status, work.Resolve{By: anna, Reference: "R1", Note: "done"}, "")
	l.add(status, work.Close{By: anna, Note: "not needed"}, "")
	l.add(status, work.Reopen{By: anna, Note: "after all"}, "")
	l.add(status, work.Attest{By: anna, Note: lookedNote}, "")
	l.add(status, work.Correct{By: anna, Invoice: invoice("120")}, "")
	l.add(status, work.Assign{By: anna, To: "Bert"}, "")
	l.add(status, work.Note{By: anna, Text: "asked the customer"}, "")
	l.add(status, work.Note{By: anna}, "without a text")
	switch status {
	case work.Queued, work.Failed, work.Pending:
		l.add(status, work.Hold{By: anna}, "without a note")
		l.add(status, work.Correct{By: anna, Invoice: invoice("900")}, "above the approval limit")
		l.add(status, work.Correct{By: anna, Invoice: invoice("-5")}, "cannot be issued")
		l.add(status, work.Correct{By: anna, Invoice: invoice("100")}, "nothing changed")
		l.add(status, work.Correct{By: anna, Invoice: invoice("120")}, "a later step", laterStep)
	case work.Resolved, work.Closed:
		l.add(status, work.Reopen{By: anna}, "without a note")
	case work.Review:
		l.inReview()
	}
}

func (l *list) inReview() {
	add := func(ev work.Event, when string, changes ...change) { l.add(work.Review, ev, when, changes...) }
	retry := work.Retry{By: anna}
	add(retry, "outcome unknown", unsettled)
	add(retry, "absent by lookup", unsettled, proven)
	add(retry, "the lookup is too old", unsettled, provenLongAgo)
	add(retry, "it was found", found)
	add(retry, "it was reported", reported)
	add(retry, "look first", lookFirst)
	add(retry, "previous step not done", previousOpen)
	add(retry, "a correction waits", proposed)
	add(retry, "waits for approval", approvalDue)
	add(retry, "cannot be searched, key alive, settling", unsearchable, keys, justSent)
	add(retry, "cannot be searched, key alive", unsearchable, keys, unsettled)
	add(retry, "cannot be searched, key expired", unsearchable, keys, keyExpired, unsettled)
	approve := func(by work.Actor) work.Event { return work.Approve{By: by} }
	add(approve(bert), "waits for approval", approvalDue)
	add(approve(anna), "waits for approval, by who recorded it", approvalDue)
	add(approve(robot), "waits for approval, by a token", approvalDue)
	add(approve(bert), "waits for approval, it was found", approvalDue, found)
	add(work.Resolve{By: anna, Note: "done"}, "without a reference")
	add(work.Resolve{By: anna, Reference: "R1"}, "without a note")
	add(work.Close{By: anna}, "without a note")
	down := func(by work.Actor) work.Event { return work.Close{By: by, Why: work.TurnedDown, Note: "too much"} }
	add(down(bert), "turned down, waits for approval", approvalDue)
	add(down(anna), "turned down, waits for approval, by who recorded it", approvalDue)
	add(down(robot), "turned down, waits for approval, by a token", approvalDue)
	add(down(bert), "turned down, needs no approval")
	add(work.Attest{By: anna, Note: "no"}, "without a sentence")
	add(work.Attest{By: anna, Note: lookedNote, Bulk: true}, "in bulk")
	add(work.Attest{By: robot, Note: lookedNote}, "by a token")
	add(work.Attest{By: anna, Note: lookedNote}, "still settling", justSent)
	add(work.Attest{By: anna, Note: lookedNote}, "it was found", found)
	correct := func(total string) work.Event { return work.Correct{By: anna, Invoice: invoice(total)} }
	add(correct("120"), "outcome unknown", unsettled)
	add(correct("120"), "it was found", found)
	add(correct("120"), "waits for approval", approvalDue)
	add(correct("900"), "above the approval limit")
	add(correct("100"), "nothing changed")
	add(correct("100"), "as it was, a correction waits", proposed)
}
