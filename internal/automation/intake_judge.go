package automation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/work"
)

// ReferenceStore tells which references items carry.
type ReferenceStore interface {
	TakenReferences(ctx context.Context, systemID, step string, references []string) ([]string, error)
}

// Judge says of each item what Record would, without recording anything; IntakeNew comes without an item. Each is judged
// by itself, not against the others. The store must be a ReferenceStore.
func (in Intake) Judge(ctx context.Context, items []work.New) ([]Recorded, error) {
	refs, ok := in.Store.(ReferenceStore)
	if !ok {
		return nil, errors.New("this store cannot say which references are taken")
	}
	results := make([]Recorded, len(items))
	systems := map[string]work.System{}
	for start := 0; start < len(items); start += maxIntake {
		end := min(start+maxIntake, len(items))
		waiting, err := in.candidates(ctx, systems, items[start:end], results[start:end])
		if err != nil {
			return nil, err
		}
		if err := in.judge(ctx, refs, waiting); err != nil {
			return nil, err
		}
		for i := start; i < end; i++ {
			if err := in.otherRevisions(ctx, items[i], &results[i]); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

func (in Intake) judge(ctx context.Context, store ReferenceStore, waiting []candidate) error {
	var pick work.Pick
	for _, c := range waiting {
		pick.Keys = append(pick.Keys, c.key)
	}
	there := map[work.PickKey]work.Item{}
	if len(pick.Keys) > 0 {
		_, err := in.Store.Change(ctx, pick, func(_ time.Time, picked []work.Picked) ([]work.Move, error) {
			for _, p := range picked {
				there[keyOf(p.Item)] = p.Item
			}
			return nil, nil
		})
		if err != nil {
			return fmt.Errorf("look for what is on record: %w", err)
		}
	}
	type place struct{ system, step string }
	asked := map[place][]string{}
	for _, c := range waiting {
		if item, ok := there[c.key]; ok {
			c.meets(item)
			continue
		}
		*c.out = Recorded{Result: IntakeNew}
		p := place{c.item.SystemID, c.item.Step}
		asked[p] = append(asked[p], c.item.Reference)
	}
	for p, list := range asked {
		taken, err := store.TakenReferences(ctx, p.system, p.step, list)
		if err != nil {
			return fmt.Errorf("look for references that are taken: %w", err)
		}
		held := map[string]bool{}
		for _, ref := range taken {
			held[ref] = true
		}
		for _, c := range waiting {
			if c.out.Result == IntakeNew && held[c.item.Reference] && c.item.SystemID == p.system && c.item.Step == p.step {
				*c.out = referenceTaken(c.item.Reference)
			}
		}
	}
	return nil
}

func referenceTaken(ref string) Recorded {
	return Recorded{Result: IntakeTaken, Err: fmt.Errorf("the reference %s is already in use for another item", ref)}
}

// meets judges the candidate against the item that holds its key.
func (c candidate) meets(item work.Item) {
	*c.out = compare(c.item, item)
	if c.out.Result == IntakeKnown && c.month != "" && c.month != item.Period {
		*c.out = Recorded{Result: IntakeConflict, Item: item,
			Err: fmt.Errorf("%s is on record for another month: recorded %s, given %s", item.BusinessKey, item.Period, c.month)}
	}
}
