package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"onefold/internal/work"
)

// ErrSystemUnknown says that there is no such accounting system.
var ErrSystemUnknown = errors.New("no such accounting system")

// IntakeStore is what intake needs from the database.
type IntakeStore interface {
	// Change is the one write door. It returns the new items with their ids. decide runs again if a key was recorded
	// by somebody else at the same moment. A ReferenceTaken says that nothing was written.
	Change(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error)
	// System returns one accounting system, or ErrSystemUnknown.
	System(ctx context.Context, id string) (work.System, error)
	// Fingerprints returns the fingerprints of all revisions of an item, proposed ones too.
	Fingerprints(ctx context.Context, itemID int64) ([]string, error)
	// AutomationSwitches returns the automations of a company that were ever switched off or on.
	AutomationSwitches(ctx context.Context, companyID int64) ([]work.AutomationSwitch, error)
	// BeginsUnproven reports whether the automation never recorded anything for the system, that was never proven as it is
	// connected now, and nobody let it begin there.
	BeginsUnproven(ctx context.Context, companyID int64, automation, systemID string) (bool, error)
}

// ReferenceTaken is the store's error when other items of the system already carry references of new items.
type ReferenceTaken interface {
	error
	TakenReferences() []string // some of them, at least one
}

// Intake records new items: the only way in for events, imports and planned runs. It is idempotent: the same key and
// content, in any revision, meets the item that is there.
type Intake struct {
	Store IntakeStore
	Zone  *time.Location // the firm's: an item that names no month and no issue date belongs to its month there; nil: UTC
}

// IntakeResult says what became of one new item.
type IntakeResult string

const (
	IntakeNew      IntakeResult = "new"
	IntakeKnown    IntakeResult = "known"    // it was there with this content
	IntakeConflict IntakeResult = "conflict" // it was there with another content; nothing was changed
	IntakeSpelling IntakeResult = "spelling" // the key was there, spelt differently; nothing was changed
	IntakeTaken    IntakeResult = "taken"    // its reference belongs to another item; nothing was recorded
	IntakeRefused  IntakeResult = "refused"  // it cannot be issued; nothing was recorded
	IntakeOff      IntakeResult = "off"      // its automation is switched off, or may not begin there yet (*Unproven); nothing was recorded
)

// Recorded is what became of one new item.
type Recorded struct {
	Result IntakeResult
	Item   work.Item // the item on record; empty for IntakeTaken, IntakeRefused and IntakeOff
	Err    error     // why not, in the user's words; nil for IntakeNew and IntakeKnown
}

// maxIntake is the most items in one transaction.
const maxIntake = 2000

// Record records the items, in order, in transactions of at most 2000. The company and the steps come from the system
// where they are not set. On an error the results of the transactions before it are returned; repeating the call is safe.
func (in Intake) Record(ctx context.Context, items []work.New) ([]Recorded, error) {
	results := make([]Recorded, len(items))
	systems := map[string]work.System{}
	for start := 0; start < len(items); start += maxIntake {
		end := min(start+maxIntake, len(items))
		if err := in.record(ctx, systems, items[start:end], results[start:end]); err != nil {
			return results[:start], err
		}
	}
	return results, nil
}

// candidate is a valid new item on its way in.
type candidate struct {
	item  work.Item
	key   work.PickKey
	rules work.Rules
	month string // as given; empty: found out
	off   error  // why nothing new is recorded; nil: it is
	out   *Recorded
}

func (in Intake) record(ctx context.Context, systems map[string]work.System, items []work.New, results []Recorded) error {
	var waiting []candidate
	for i, n := range items {
		system, ok := systems[n.SystemID]
		if !ok {
			var err error
			if system, err = in.Store.System(ctx, n.SystemID); err != nil {
				return fmt.Errorf("accounting system %q: %w", n.SystemID, err)
			}
			systems[n.SystemID] = system
		}
		c, err := newCandidate(n, system)
		if err != nil {
			results[i] = Recorded{Result: IntakeRefused, Err: err}
			continue
		}
		c.out = &results[i]
		waiting = append(waiting, c)
	}
	if err := in.askSwitches(ctx, waiting); err != nil {
		return err
	}
	if err := in.askProofs(ctx, systems, waiting); err != nil {
		return err
	}
	if err := in.change(ctx, waiting); err != nil {
		return err
	}
	for i := range results {
		if err := in.otherRevisions(ctx, items[i], &results[i]); err != nil {
			return err
		}
	}
	return nil
}

// candidates are the items that can be issued; the others' results are written.
func (in Intake) candidates(ctx context.Context, systems map[string]work.System, items []work.New, results []Recorded) (waiting []candidate, err error) {
	for i, n := range items {
		system, ok := systems[n.SystemID]
		if !ok {
			if system, err = in.Store.System(ctx, n.SystemID); err != nil {
				return nil, fmt.Errorf("accounting system %q: %w", n.SystemID, err)
			}
			systems[n.SystemID] = system
		}
		c, err := newCandidate(n, system)
		if err != nil {
			results[i] = Recorded{Result: IntakeRefused, Err: err}
			continue
		}
		c.out = &results[i]
		waiting = append(waiting, c)
	}
	return waiting, nil
}

func newCandidate(n work.New, system work.System) (candidate, error) {
	if (n.By.Kind == work.Person || n.By.Kind == work.Token) && !n.By.Can(work.Operator, work.Admin) {
		return candidate{}, errors.New("whoever sends this may not record invoices")
	}
	if n.CompanyID == 0 {
		n.CompanyID = system.CompanyID
	}
	if n.CompanyID != system.CompanyID {
		return candidate{}, fmt.Errorf("there is no accounting system %q", n.SystemID)
	}
	if len(n.Steps) == 0 {
		n.Steps = system.Steps
	}
	if strings.TrimSpace(n.Automation) == "" {
		return candidate{}, errors.New("the automation is missing")
	}
	item, err := work.NewItem(n, system.ReliedOn(), time.Time{})
	if err != nil {
		return candidate{}, err
	}
	item.Invoice.Total = item.Invoice.Total.Round() // exact, as it is valid: the decimals that the currency has
	return candidate{item: item, rules: system.RulesFor(n.Automation), month: n.Period, key: work.PickKey{CompanyID: item.CompanyID,
		Automation: item.Automation, FoldedKey: work.FoldKey(item.BusinessKey), Step: item.Step}}, nil
}

// change records what is new among the candidates and judges the others, leaving out those whose reference is taken.
func (in Intake) change(ctx context.Context, waiting []candidate) error {
	seen := map[string]bool{}
	for len(waiting) > 0 {
		err := in.changeOnce(ctx, waiting)
		var taken ReferenceTaken
		if !errors.As(err, &taken) {
			return err
		}
		named := map[string]bool{}
		for _, ref := range taken.TakenReferences() {
			named[ref] = true
		}
		var left []candidate
		matched := false
		for _, c := range waiting {
			ref := c.item.Reference
			matched = matched || named[ref]
			// The first time it may be our own key, recorded by somebody else at this moment: then the key is met now.
			if named[ref] && seen[ref] {
				*c.out = referenceTaken(ref)
			} else {
				left = append(left, c)
			}
		}
		if !matched {
			return err
		}
		for ref := range named {
			seen[ref] = true
		}
		waiting = left
	}
	return nil
}

func (in Intake) changeOnce(ctx context.Context, waiting []candidate) error {
	first := map[work.PickKey]int{} // the first candidate of each key
	var pick work.Pick
	for i, c := range waiting {
		if _, ok := first[c.key]; !ok {
			first[c.key] = i
			pick.Keys = append(pick.Keys, c.key)
		}
	}
	var there map[work.PickKey]work.Item
	moves, err := in.Store.Change(ctx, pick, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		there = map[work.PickKey]work.Item{}
		for _, p := range picked {
			there[keyOf(p.Item)] = p.Item
		}
		var moves []work.Move
		for i, c := range waiting {
			if _, known := there[c.key]; known || first[c.key] != i || c.off != nil {
				continue
			}
			c.item.RecordedAt = now
			if c.item.Period == "" {
				c.item.Period = work.PeriodOf(now.In(in.zone()))
			}
			move, err := work.Decide(c.item, work.Recorded{}, c.rules, now)
			if err != nil {
				return nil, err
			}
			moves = append(moves, move)
		}
		return moves, nil
	})
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	written := make(map[int64]bool, len(moves))
	for _, m := range moves {
		there[keyOf(m.Item)] = m.Item
		written[m.Item.ID] = true
	}
	for i, c := range waiting {
		item, ok := there[c.key]
		switch {
		case !ok && c.off != nil:
			*c.out = Recorded{Result: IntakeOff, Err: c.off}
		case !ok:
			return fmt.Errorf("record: the store wrote nothing for %q", c.item.BusinessKey)
		case written[item.ID] && first[c.key] == i:
			*c.out = Recorded{Result: IntakeNew, Item: item}
		default:
			c.meets(item)
		}
	}
	return nil
}

func (in Intake) zone() *time.Location {
	if in.Zone == nil {
		return time.UTC
	}
	return in.Zone
}

func keyOf(it work.Item) work.PickKey {
	return work.PickKey{CompanyID: it.CompanyID, Automation: it.Automation, FoldedKey: work.FoldKey(it.BusinessKey), Step: it.Step}
}

// otherRevisions turns a conflict with the present content into "known" if the content is that of another revision.
func (in Intake) otherRevisions(ctx context.Context, n work.New, r *Recorded) error {
	if r.Result != IntakeConflict || r.Item.SystemID != n.SystemID || n.Period != "" && n.Period != r.Item.Period || (r.Item.Revision <= 1 && r.Item.Proposed == 0) {
		return nil
	}
	known, err := in.Store.Fingerprints(ctx, r.Item.ID)
	if err != nil {
		return fmt.Errorf("revisions: %w", err)
	}
	asked := n.Invoice.Fingerprint()
	for _, f := range known {
		if f == asked {
			*r = Recorded{Result: IntakeKnown, Item: r.Item}
			return nil
		}
	}
	return nil
}
