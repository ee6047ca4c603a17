package web

import (
	"context"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/internal/review"
)

// planRunStore is what running plans at once needs from the database.
type planRunStore interface {
	recurring.Store
	// NextPlanDay is the first day on which a period of an active plan begins that was not taken up; zero: there is none.
	NextPlanDay(ctx context.Context, companyID int64) (time.Time, error)
}

// planRuns runs the recurring invoices of a company.
type planRuns struct {
	store   planRunStore
	company int64
	runner  recurring.Runner
}

// automationRunners are the automations that record by themselves.
func automationRunners(c Config) map[string]review.AutomationRunner {
	return map[string]review.AutomationRunner{recurring.Automation: planRuns{c.Store, c.CompanyID, recurring.Runner{Store: c.Store, Intake: c.Intake, Zone: c.Zone}}}
}

// Next implements review.AutomationRunner: a period is due from the beginning of its first day in the firm's zone.
func (p planRuns) Next(ctx context.Context) (time.Time, error) {
	day, err := p.store.NextPlanDay(ctx, p.company)
	if err != nil || day.IsZero() {
		return time.Time{}, err
	}
	return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, p.runner.Zone), nil
}

// Run implements review.AutomationRunner.
func (p planRuns) Run(ctx context.Context) (review.AutomationRun, error) {
	s, err := p.runner.RunOnce(ctx)
	ran := review.AutomationRun{Recorded: s.Recorded, Asked: s.Asked}
	for _, problem := range s.Problems {
		ran.Problems = append(ran.Problems, problem.Error())
	}
	return ran, err
}
