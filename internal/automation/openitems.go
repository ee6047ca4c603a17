package automation

import (
	"time"

	"onefold/internal/work"
)

// OpenItems tells how many open items of a system have a status.
type OpenItems struct {
	SystemID string
	Status   work.Status
	Count    int64
	// Oldest is, in review, since when the longest waiting one needs a person; else when the one was last touched that was
	// not touched for the longest.
	Oldest time.Time
}
