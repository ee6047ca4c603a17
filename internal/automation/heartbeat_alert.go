package automation

import (
	"context"
	"fmt"
	"strings"
	"time"

	"onefold/internal/work"
)

// AlertClock is the cause of the one alert about clocks that are wrong; it belongs to no accounting system.
const AlertClock = "clock"

// databaseClock is what the alert says if the database's own clock seems to be the wrong one.
const databaseClock = "Servers: all their clocks differ from the database's alike, so it is probably the database's that is wrong; nothing is sent twice," +
	" but what falls due and the times on pages go by it"

const (
	namedClocks   = 3  // in the alert; a page shows no more than 300 characters of it
	longestServer = 50 // of a server, there
)

// alert keeps one alert about all clocks that are wrong, and lets it say what is true now.
func (h *Heartbeat) alert(ctx context.Context, now time.Time) error {
	servers, err := h.Store.Servers(ctx)
	if err != nil {
		return err
	}
	open, err := h.Store.OpenAlert(ctx, "", AlertClock)
	if err != nil {
		return err
	}
	switch says := clockSays(servers, now, open); {
	case says == open:
		return nil
	case says == "":
		return h.Store.ClearAlerts(ctx, "", AlertClock)
	case open == "":
		_, err = h.Store.RaiseAlert(ctx, "", AlertClock, says)
		return err
	default:
		return h.Store.RewordAlert(ctx, "", AlertClock, says)
	}
}

// clockSays is what the alert should say where it says open now; empty: all clocks are right. How far each is off it leaves to the page:
// it would change all the time.
func clockSays(servers []work.Server, now time.Time, open string) string {
	if work.DatabaseClockOff(servers, now) {
		return databaseClock
	}
	var wrong []string
	for _, s := range servers {
		name := shortName(s.Name)
		bound := work.ClockTolerance
		if open == databaseClock || strings.Contains(open, "the clock of "+name+" ") {
			bound = work.ClockRight
		}
		switch {
		case s.State(now) == work.ServerSilent:
		case s.Ahead > bound:
			wrong = append(wrong, "the clock of "+name+" is ahead of the database's")
		case s.Ahead < -bound:
			wrong = append(wrong, "the clock of "+name+" is behind the database's")
		case s.ClockMoved(now):
			wrong = append(wrong, "the clock of "+name+" was moved")
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	if more := len(wrong) - namedClocks; more > 0 {
		wrong = append(wrong[:namedClocks], fmt.Sprintf("and of %d more", more))
	}
	return "Servers: " + strings.Join(wrong, ", ") + "; no invoice is at risk, but times in the logs are wrong"
}

func shortName(name string) string {
	if r := []rune(name); len(r) > longestServer {
		return string(r[:longestServer]) + "…"
	}
	return name
}
