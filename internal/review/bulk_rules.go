package review

import (
	"time"

	"onefold/internal/work"
)

// bulkSettled refuses an item that is finished, where a plan is about open ones only.
func bulkSettled(p Plan, it work.Item) error {
	if p == PlanRepair && it.Status.Settled() {
		return &work.Refusal{Code: work.RefusedStatus}
	}
	return nil
}

// maxLooking is how long a run waits for a look that it asked for. Looking goes on by itself afterwards.
const maxLooking = time.Hour

// next is what a run does after a look: a result, or another action. Neither: it waits.
type next struct {
	result BulkResult
	action Action
	in     Input
	looked bool
}

// awaited reports whether the automation will find out more about the item by itself.
func awaited(it work.Item) bool {
	return it.OpenAttempt != 0 || it.LookAsked != "" || it.Status == work.Pending
}

// afterLook judges an item that a run asked to look for at a time. Find is the newest lookup begun since, with its end;
// sent says that the newest call since was a send.
func afterLook(p Plan, it work.Item, find *work.Attempt, sent bool, asked, now time.Time) next {
	switch waits := awaited(it); {
	case waits && now.Sub(asked) > maxLooking:
		return next{result: BulkResult{Outcome: BulkWaiting}, looked: find != nil}
	case waits:
		return next{}
	case sent: // proven absent, the automation was faster
		return next{result: BulkResult{Outcome: BulkSent, Detail: orElse(it.ExternalNumber, it.ExternalID)}, looked: find != nil}
	case find == nil:
		return next{result: BulkResult{Outcome: BulkUnclear}}
	}
	n := next{looked: true}
	switch find.Finding {
	case work.FoundMatching:
		number := orElse(find.ExternalNo, find.ExternalID)
		switch {
		case it.Status.Settled() && p == PlanRepair:
			n.result = BulkResult{Outcome: BulkFound, Detail: number}
		case p == PlanRepair && repairs(it) && it.SeenID == find.ExternalID:
			n.action, n.in = Resolve, Input{Reference: it.SeenID}
			n.result.Detail = number
		default:
			n.result = BulkResult{Outcome: BulkSeen, Detail: number}
		}
	case work.FoundDifferent:
		n.result = BulkResult{Outcome: BulkDiffers, Detail: orElse(find.ExternalNo, find.ExternalID)}
	case work.FoundSeveral:
		n.result = BulkResult{Outcome: BulkSeveral}
	case work.FoundVoid:
		n.result = BulkResult{Outcome: BulkVoid, Detail: orElse(find.ExternalNo, find.ExternalID)}
	case work.NotFound:
		if p == PlanRepair && !it.Status.Settled() && (it.Status != work.Review || repairs(it)) {
			n.action = Retry
		} else {
			n.result = BulkResult{Outcome: BulkAbsent}
		}
	default:
		n.result = BulkResult{Outcome: BulkUnclear}
	}
	return n
}

// repairs reports whether what needs a person may be settled without one looking at it singly. What a colleague stopped,
// what waits for approval or has a correction waiting, what was decided before and where more than one record was seen
// stays theirs.
func repairs(it work.Item) bool {
	switch it.Reason {
	case work.ReasonHeld, work.ReasonApprovalRequired, work.ReasonLateEvidence, work.ReasonDuplicates:
		return false
	}
	return it.Status == work.Review && it.Proposed == 0 && (it.LateID == "" || it.LateID == it.SeenID)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
