package automation

import (
	"context"
	"errors"
	"fmt"

	"onefold/internal/work"
)

// switchedOff is the one place that decides which automations of a company are off: why, by name. It asks the database
// each time, so that all servers obey at once.
func (in Intake) switchedOff(ctx context.Context, companyID int64) (map[string]error, error) {
	switches, err := in.Store.AutomationSwitches(ctx, companyID)
	if err != nil {
		return nil, fmt.Errorf("automations: %w", err)
	}
	off := map[string]error{}
	for _, s := range switches {
		if s.Off() {
			off[s.Name] = &work.SwitchedOff{Switch: s, Zone: in.zone()}
		}
	}
	return off, nil
}

// askSwitches notes which candidates' automations are off, before each transaction. What is on record is still answered for.
func (in Intake) askSwitches(ctx context.Context, waiting []candidate) error {
	companies := map[int64]map[string]error{}
	for i := range waiting {
		it := waiting[i].item
		off, asked := companies[it.CompanyID]
		if !asked {
			var err error
			if off, err = in.switchedOff(ctx, it.CompanyID); err != nil {
				return err
			}
			companies[it.CompanyID] = off
		}
		waiting[i].off = off[it.Automation]
	}
	return nil
}

// mayImport refuses a whole file whose automation is off with one *FileError, instead of one refusal for each row.
func (in Intake) mayImport(ctx context.Context, systemID, automation string) error {
	system, known, err := in.system(ctx, systemID)
	if err != nil || !known {
		return err
	}
	off, err := in.switchedOff(ctx, system.CompanyID)
	if err != nil {
		return err
	}
	var why *work.SwitchedOff
	if errors.As(off[automation], &why) {
		return fileErrorf(0, "%s", why.Error())
	}
	return nil
}

// system finds the accounting system that a file names. Whoever records its rows says that there is none.
func (in Intake) system(ctx context.Context, id string) (system work.System, known bool, err error) {
	switch system, err = in.Store.System(ctx, id); {
	case errors.Is(err, ErrSystemUnknown):
		return system, false, nil
	case err != nil:
		return system, false, fmt.Errorf("the file's accounting system: %w", err)
	}
	return system, true, nil
}
