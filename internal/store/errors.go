package store

import (
	"errors"
	"fmt"

	"onefold/internal/automation"
)

// RecordTaken says that moves would confirm items by records that belong to other items. Nothing was written: decide
// again with Answer.Taken or Lookup.Taken for these items.
type RecordTaken struct {
	ItemID  int64   // the first of ItemIDs
	ItemIDs []int64 // never empty
}

func (e *RecordTaken) Error() string {
	return fmt.Sprintf("the record of item %d already belongs to another item", e.ItemID)
}

// TakenBy is the first item that cannot have its record.
func (e *RecordTaken) TakenBy() int64 { return e.ItemID }

// KeyTaken says that a new item's business key was recorded by somebody else at the same moment, again and again.
type KeyTaken struct{ BusinessKey string }

func (e *KeyTaken) Error() string {
	return fmt.Sprintf("the business key %q is already recorded", e.BusinessKey)
}

// ReferenceTaken says that another item of the system already carries a new item's reference. Nothing was written.
type ReferenceTaken struct {
	Reference  string   // the first of References
	References []string // all that are taken; never empty
}

// TakenReferences are all references among the new items that others carry.
func (e *ReferenceTaken) TakenReferences() []string { return e.References }

func (e *ReferenceTaken) Error() string {
	return fmt.Sprintf("the reference %q is already used for another business key", e.Reference)
}

var (
	// ErrSystemUnknown says that there is no such accounting system.
	ErrSystemUnknown = automation.ErrSystemUnknown
	// ErrIdentityChanged says that a system would reach other books than the ones it was connected to.
	ErrIdentityChanged = errors.New("the address reaches other books than before: connect them as a system of their own")
	// ErrNewerSchema is wrapped when the database was made by a newer program.
	ErrNewerSchema = errors.New("the database was made by a newer version of this program")
	// ErrNotMigrated is wrapped when the database lacks migrations and Open may not run them.
	ErrNotMigrated = errors.New("the database is not up to date")
	// ErrNotDurable is wrapped when the database may forget what it has committed.
	ErrNotDurable = errors.New("the database may forget what it has committed")
)

// conflict is a unique index that refused a row.
type conflict struct {
	index string
	err   error
}

func (c *conflict) Error() string { return c.err.Error() }
func (c *conflict) Unwrap() error { return c.err }

// errAgain is wrapped by errors after which the same change may simply be tried again.
var errAgain = errors.New("try again")

// errMissed says that an item changed since it was read; nothing may be committed.
var errMissed = errors.New("an item was changed by somebody else")
