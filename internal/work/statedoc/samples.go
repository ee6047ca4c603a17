package statedoc

import (
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// Samples are the situations that the table is made of: every status with every event, and with what makes a difference.
func Samples() []Sample {
	l := &list{}
	l.newItem()
	for _, status := range work.Statuses {
		l.claims(status)
		l.sends(status)
		l.finds(status)
		l.leases(status)
		l.lateAnswers(status)
		l.lateLookups(status)
		l.people(status)
		l.reports(status)
		l.replans(status)
	}
	return l.samples
}

type list struct{ samples []Sample }

// change makes a sample special.
type change func(*work.Item, *work.Rules)

func (l *list) add(status work.Status, ev work.Event, when string, changes ...change) {
	it, r := item(status), rules()
	for _, c := range changes {
		c(&it, &r)
	}
	l.samples = append(l.samples, Sample{status, ev, when, it, r})
}

func rules() work.Rules {
	p := work.DefaultPolicy()
	p.Misses = 1
	limit := amount("500")
	p.ApprovalLimit = &limit
	return work.Rules{Policy: p, Capabilities: work.Capabilities{Searchable: true, Misses: 1}}
}

func amount(number string) currency.Amount {
	a, err := currency.NewAmount(number, "EUR")
	if err != nil {
		panic(err)
	}
	return a
}

func invoice(total string) work.Invoice {
	return work.Invoice{CustomerID: "C1", Total: amount(total)}
}

var (
	anna  = work.Actor{Kind: work.Person, ID: "1", Name: "Anna"}
	bert  = work.Actor{Kind: work.Person, ID: "2", Name: "Bert"}
	robot = work.Actor{Kind: work.Token, ID: "3", Name: "Script"}
)

// item is a plain item in the status: sent once where that makes sense, an hour ago.
func item(status work.Status) work.Item {
	sent := Now.Add(-time.Hour)
	it := work.Item{ID: 1, CompanyID: 1, Automation: "monthly", BusinessKey: "INV-1", Step: "create", Steps: []string{"create"},
		SystemID: "books", Reference: "INV-1", Key: "KEY", Revision: 1, Invoice: invoice("100"), RecordedBy: anna, RecordedAt: sent,
		Version: 3, Status: status, SettleBy: Now.Add(time.Hour)}
	if status != work.Queued && status != "" {
		it.Attempts, it.Sends, it.SendsUsed, it.FirstSentAt = 1, 1, 1, sent
	}
	switch status {
	case work.Queued, work.Failed:
		it.DueAt = Now
	case work.Pending:
		it.DueAt, it.Unsettled, it.SettleFrom = Now, []int{1}, sent
	case work.InProgress:
		opened(work.Send, work.Queued)(&it, nil)
	case work.Confirmed, work.Resolved:
		it.ExternalID, it.Evidence, it.Positive = "R1", "answer", work.RecordWasFound
	case work.Review:
		it.Reason = work.ReasonRejected
	}
	if status == work.Resolved || status == work.Closed {
		it.Reason = work.ReasonRejected
	}
	return it
}

// opened puts an open attempt on the item, claimed when it was in the status before.
func opened(kind work.Kind, before work.Status) change {
	return func(it *work.Item, _ *work.Rules) {
		if before == work.Pending || before == work.Failed || before == work.Review {
			it.Attempts = 2
		}
		if before == work.Pending {
			it.Unsettled, it.SettleFrom = []int{1}, Now.Add(-time.Hour)
		}
		if before == work.Review {
			it.Reason = work.ReasonRejected
		}
		it.OpenAttempt, it.OpenKind, it.OpenNode, it.Before = it.Attempts, kind, "n1", before
		it.OpenSince, it.LeaseUntil = Now.Add(-time.Minute), Now
		it.DueAt = time.Time{}
	}
}

// The changes that the samples are made of.

func unsearchable(_ *work.Item, r *work.Rules) { r.Capabilities.Searchable = false }
func keys(_ *work.Item, r *work.Rules)         { r.Capabilities.HonoursKeys = true }
func keyExpired(it *work.Item, r *work.Rules)  { r.Capabilities.KeyLifetime = time.Hour }
func lookFirst(_ *work.Item, r *work.Rules)    { r.LookFirst = Now.Add(-30 * time.Minute) }
func paused(_ *work.Item, r *work.Rules)       { r.NoSends = true }
func askMisses(_ *work.Item, r *work.Rules)    { r.Policy.Misses = 2 }
func sendLimit(it *work.Item, r *work.Rules)   { it.SendsUsed = r.Policy.Sends }
func lookLimit(it *work.Item, r *work.Rules)   { it.LookupsUsed = r.Policy.Lookups }
func notDue(it *work.Item, _ *work.Rules)      { it.DueAt = Now.Add(time.Minute) }
func due(it *work.Item, _ *work.Rules)         { it.DueAt = Now }
func sendLater(it *work.Item, _ *work.Rules)   { it.SendAfter = Now.Add(time.Minute) }
func proposed(it *work.Item, _ *work.Rules)    { it.Proposed = 2 }
func reported(it *work.Item, _ *work.Rules)    { it.Positive = work.ReportedThere }
func found(it *work.Item, _ *work.Rules)       { it.Positive, it.SeenID = work.RecordWasFound, "R1" }
func lateRecord(it *work.Item, _ *work.Rules)  { it.Positive, it.LateID = work.RecordWasFound, "R1" }
func lookAsked(it *work.Item, _ *work.Rules)   { it.LookAsked, it.DueAt = anna.Label(), Now }
func lookOwed(it *work.Item, _ *work.Rules)    { it.LastLook, it.DueAt = work.LastLookOwed, Now }
func approvalDue(it *work.Item, _ *work.Rules) { it.Reason = work.ReasonApprovalRequired }
func laterStep(it *work.Item, _ *work.Rules)   { it.PreviousID, it.PreviousStatus = 9, work.Confirmed }
func previousOpen(it *work.Item, _ *work.Rules) {
	it.PreviousID, it.PreviousStatus = 9, work.Review
}
func unsettled(it *work.Item, _ *work.Rules) {
	it.Unsettled, it.SettleFrom = []int{1}, Now.Add(-time.Hour)
}
func justSent(it *work.Item, _ *work.Rules) {
	it.Unsettled, it.SettleFrom, it.FirstSentAt = []int{1}, Now.Add(-time.Second), Now.Add(-time.Minute)
}
func twoUnsettled(it *work.Item, _ *work.Rules) {
	it.Attempts, it.Sends, it.Unsettled = 2, 2, []int{1, 2}
}
func neverSent(it *work.Item, _ *work.Rules) {
	it.Sends, it.SendsUsed, it.FirstSentAt, it.Unsettled = 0, 0, time.Time{}, nil
}
func missedOnce(it *work.Item, _ *work.Rules) {
	it.Misses, it.LastMissAt = 1, Now.Add(-10*time.Minute)
}
func proven(it *work.Item, _ *work.Rules) { it.AbsentAt, it.AbsentBy = Now.Add(-time.Minute), "lookup" }
func provenLongAgo(it *work.Item, _ *work.Rules) {
	it.AbsentAt, it.AbsentBy = Now.Add(-16*time.Minute), "lookup"
}
