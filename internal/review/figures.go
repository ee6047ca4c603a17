package review

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"onefold/internal/work"
)

// Figure is how often something was counted in one stretch of time.
type Figure struct {
	CompanyID  int64
	Grain      Grain
	StartsAt   time.Time // the beginning of the stretch; the zero Unix time for GrainAll
	Measure    Measure
	SystemID   string
	Automation string // empty for durations: by automation their many buckets would be read for nothing
	Bucket     int    // of a duration, see Bucket; of Sends how many; else 0
	Count      int64
}

// Grain is how long the stretches are.
type Grain string

// The grains that are counted. Days and months are those of the firm's zone; a day may have 23 or 25 hours.
const (
	GrainHour  Grain = "hour"
	GrainDay   Grain = "day"
	GrainMonth Grain = "month"
	GrainAll   Grain = "all"
)

var grains = []Grain{GrainHour, GrainDay, GrainMonth, GrainAll}

// Begin is when the stretch began that t is in. Hours begin at full hours of the zone's clocks, and the hour that a clock
// shows twice is two.
func (g Grain) Begin(t time.Time, zone *time.Location) time.Time {
	in := t.In(zone)
	switch g {
	case GrainHour:
		return in.Add(-time.Duration(in.Minute())*time.Minute - time.Duration(in.Second())*time.Second - time.Duration(in.Nanosecond())).UTC()
	case GrainDay:
		return time.Date(in.Year(), in.Month(), in.Day(), 0, 0, 0, 0, zone).UTC()
	case GrainMonth:
		return time.Date(in.Year(), in.Month(), 1, 0, 0, 0, 0, zone).UTC()
	}
	return time.Unix(0, 0).UTC()
}

// Measure is what is counted. Where it is the name of a duration, its buckets are those of Bucket.
type Measure string

const (
	sent   = "send:" // sends by outcome
	looked = "find:" // lookups by finding

	Confirmed Measure = "confirmed" // from the recording of an item to the answer or lookup that confirmed it
	Sends     Measure = "sends"     // how many sends an item had taken when it was confirmed; most is mostSends
	Limited   Measure = "limited"   // calls that the accounting system put off with 429
	Barred    Measure = "barred"    // calls that were put off with 401 or 403: our login was refused
	Answered  Measure = "answered"  // how long calls took that were answered, from their start
	settled           = "settled:"  // sends with an unknown outcome, by how it was settled; how long that took
)

func (m Measure) isDuration() bool {
	return m == Confirmed || m == Answered || strings.HasPrefix(string(m), string(settled))
}

// SentWith counts sends by outcome.
func SentWith(o work.Outcome) Measure { return sent + Measure(o) }

// LookedWith counts lookups by finding.
func LookedWith(f work.Finding) Measure { return looked + Measure(f) }

// SettledBy counts the sends whose outcome was unknown, by how it was settled.
func SettledBy(how Settled) Measure { return settled + Measure(how) }

// Settled says how the unknown outcome of a send was settled.
type Settled string

const (
	SettledFound   Settled = "lookup"  // a lookup found the record, and nothing was sent in between
	SettledLate    Settled = "late"    // the answer came late: it is there
	SettledReport  Settled = "report"  // a report of the accounting system showed the record
	SettledAbsent  Settled = "absent"  // proven not there, and sent again
	SettledRefused Settled = "refused" // the answer came late: nothing was made
	SettledKey     Settled = "key"     // sent again under the same key, where a system that cannot be searched knows repeats
	SettledPerson  Settled = "person"  // a person said what is there
	SettledShown   Settled = "shown"   // a lookup, late answer or report showed the record, and still a person had to decide
)

// SettledWays are all of them, in the order of the page.
var SettledWays = []Settled{SettledFound, SettledLate, SettledReport, SettledAbsent, SettledRefused, SettledKey, SettledShown, SettledPerson}

// Prevents reports whether a send that was settled so would have been a second invoice, had it been sent again blindly.
func (s Settled) Prevents() bool { return s == SettledFound || s == SettledLate || s == SettledReport }

const mostSends = 5 // so many and more are counted together

// Durations are counted in buckets that grow by a quarter of an octave, so that the counts of any stretches can be added and a
// quantile be read from the sum. A bucket is taken for its middle: what is read is off by less than 9.1 percent.
const perOctave = 4

// Bucket is the bucket of a duration: those from 2^((b-1)/4) ms, without it, to 2^(b/4) ms. Up to a millisecond it is 0.
func Bucket(d time.Duration) int {
	if d <= time.Millisecond {
		return 0
	}
	return int(math.Ceil(perOctave*math.Log2(float64(d)/float64(time.Millisecond)) - 1e-9))
}

// Middle is the duration that a bucket is taken for.
func Middle(bucket int) time.Duration {
	if bucket <= 0 {
		return time.Millisecond
	}
	return time.Duration(math.Exp2((float64(bucket)-0.5)/perOctave) * float64(time.Millisecond))
}

// CallID names an attempt.
type CallID struct {
	ItemID int64
	Number int
}

// FigurePlace is how far was counted.
type FigurePlace struct {
	Version   int64     // changes with every step: two servers never count the same
	At        time.Time // with Last: the last attempt that was looked at, in the order of the starts; zero: not begun
	Last      CallID
	ActID     int64     // the last decision of a person that was looked at
	CountedTo time.Time // all that ended before is counted, but for calls that began later than they are known
}

// CountedItem is what counting needs to know of an item.
type CountedItem struct {
	CompanyID  int64
	SystemID   string
	Automation string
	RecordedAt time.Time
	Confirmed  bool // it is confirmed now
}

// FigureBatch is what is to be counted next. Attempts are without the large columns.
type FigureBatch struct {
	Calls   []work.Attempt // ended, and each comes once; what a report held is left out
	Waiting []CallID       // looked at, but not over: they come later
	Waited  []CallID       // those of Calls that were not over when they were looked at
	Acts    []Decision     // of people
	Place   FigurePlace    // behind all of it
	More    bool           // there is more to count at once
	Items   map[int64]CountedItem
	// Of items of which NeedsHistory says so: the attempts that Telling keeps, and the decisions that settle or attest, in order.
	Attempts map[int64][]work.Attempt
	Decided  map[int64][]Decision
}

// Decision is an act with the number that it has on record.
type Decision struct {
	work.Act
	ID int64
}

// ErrFiguresLost says that another server has counted on: nothing was written.
var ErrFiguresLost = errors.New("another server counts")

// FigureStore is what counting needs from the database.
type FigureStore interface {
	Now(ctx context.Context) (time.Time, error)
	// HoldFigures takes the counting for a server for a time; held is false while another one has it.
	HoldFigures(ctx context.Context, node string, hold time.Duration) (at FigurePlace, held bool, err error)
	// ReleaseFigures lets another server have it.
	ReleaseFigures(ctx context.Context, node string) error
	// FigureBatch reads on from a place: about most attempts and acts of before upTo. Its cost does not grow with the history.
	FigureBatch(ctx context.Context, at FigurePlace, upTo time.Time, most int) (FigureBatch, error)
	// SaveFigures adds the figures and moves the place on, in one transaction, and holds on. It returns ErrFiguresLost if the
	// place is not at any more or the server does not hold it.
	SaveFigures(ctx context.Context, node string, hold time.Duration, at FigurePlace, b FigureBatch, figures []Figure) error
	// DropFigures removes hours that began before a time, at most some; days and months stay.
	DropFigures(ctx context.Context, before time.Time) error
}
