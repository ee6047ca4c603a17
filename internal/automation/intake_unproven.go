package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"onefold/internal/work"
)

// Unproven says that an automation may not begin on a system that was never proven, before a person agreed.
type Unproven struct {
	Automation string
	System     work.System
}

func (e *Unproven) Error() string {
	return fmt.Sprintf("the automation %q may not begin on %s yet, which was never proven: an admin proves it, or lets it begin on the page Automations. Send this again then", e.Automation, e.System.Name)
}

// mayBegin is the one place that refuses what would begin on a system that was never proven: *Unproven. Every way in passes it.
func (in Intake) mayBegin(ctx context.Context, system work.System, automation string) error {
	unproven, err := in.Store.BeginsUnproven(ctx, system.CompanyID, automation, system.ID)
	if err != nil {
		return fmt.Errorf("proofs: %w", err)
	}
	if unproven {
		return &Unproven{automation, system}
	}
	return nil
}

// askProofs notes which candidates' automations may not begin yet, before each transaction. What is on record is still
// answered for.
func (in Intake) askProofs(ctx context.Context, systems map[string]work.System, waiting []candidate) error {
	type place struct{ automation, system string }
	asked := map[place]error{}
	for i := range waiting {
		c := &waiting[i]
		at := place{c.item.Automation, c.item.SystemID}
		why, known := asked[at]
		if !known {
			why = in.mayBegin(ctx, systems[at.system], at.automation)
			var unproven *Unproven
			if why != nil && !errors.As(why, &unproven) {
				return why
			}
			asked[at] = why
		}
		if c.off == nil {
			c.off = why
		}
	}
	return nil
}

// mayBeginImport refuses a whole file with *Unproven, instead of one refusal for each row.
func (in Intake) mayBeginImport(ctx context.Context, systemID, automation string) error {
	system, known, err := in.system(ctx, systemID)
	if err != nil || !known {
		return err
	}
	return in.mayBegin(ctx, system, strings.TrimSpace(automation))
}
