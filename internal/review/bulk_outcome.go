package review

// BulkOutcome is the result of one item.
type BulkOutcome string

const (
	BulkTodo    BulkOutcome = ""
	BulkActed   BulkOutcome = "acted"   // the plan's one action was carried out
	BulkSent    BulkOutcome = "sent"    // proven absent, and handed over to be sent again
	BulkFound   BulkOutcome = "found"   // there and equal; settled under Detail
	BulkSeen    BulkOutcome = "seen"    // there and equal, under Detail; not settled by the run
	BulkAbsent  BulkOutcome = "absent"  // looked, and not there; not sent by the run
	BulkDiffers BulkOutcome = "differs" // there, but different
	BulkSeveral BulkOutcome = "several" // more than one is there
	BulkVoid    BulkOutcome = "void"    // there, but void or deleted
	BulkUnclear BulkOutcome = "unclear" // looked, without a reliable answer
	BulkWaiting BulkOutcome = "waiting" // not known after the time that a run waits for a look
	BulkRefused BulkOutcome = "refused" // not allowed; Detail is the work.RefusalCode, At until when
	BulkSettled BulkOutcome = "settled" // it was finished already
	BulkChanged BulkOutcome = "changed" // changed since it was chosen: by Who, or by the automation; Detail says what, At when
	BulkGone    BulkOutcome = "gone"    // there is no such item
	BulkFailed  BulkOutcome = "failed"  // an error on our side; nothing was changed
)

// BulkClass sums outcomes up.
type BulkClass string

const (
	ClassTodo    BulkClass = "todo"
	ClassDone    BulkClass = "done"
	ClassLeft    BulkClass = "left" // left for a person, as the plan says
	ClassFailed  BulkClass = "failed"
	ClassSkipped BulkClass = "skipped"
)

// Classes lists every class in the order in which pages show them.
var Classes = []BulkClass{ClassDone, ClassLeft, ClassFailed, ClassSkipped, ClassTodo}

// Class sums an outcome up under the plan.
func (p Plan) Class(o BulkOutcome) BulkClass {
	switch o {
	case BulkTodo:
		return ClassTodo
	case BulkActed, BulkSent, BulkFound:
		return ClassDone
	case BulkChanged, BulkGone, BulkSettled:
		return ClassSkipped
	case BulkUnclear, BulkFailed:
		return ClassFailed
	case BulkRefused:
		if p == PlanRepair || p == PlanRetry {
			return ClassLeft
		}
		return ClassFailed
	case BulkSeen, BulkAbsent, BulkDiffers, BulkSeveral, BulkVoid:
		if p == PlanCheck { // it was to look, and it did
			return ClassDone
		}
	case BulkWaiting:
	}
	return ClassLeft
}

// outcomes are those that the plan sums up in the class.
func (p Plan) outcomes(c BulkClass) (list []BulkOutcome) {
	for _, o := range []BulkOutcome{BulkTodo, BulkActed, BulkSent, BulkFound, BulkSeen, BulkAbsent, BulkDiffers, BulkSeveral, BulkVoid, BulkUnclear,
		BulkWaiting, BulkRefused, BulkSettled, BulkChanged, BulkGone, BulkFailed} {
		if p.Class(o) == c {
			list = append(list, o)
		}
	}
	return list
}
