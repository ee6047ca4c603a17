package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const serversPath = "/servers"

// watchers may see the servers, as review.MayWatch says.
var watchers = only(work.Operator, work.Ops, work.Admin)

func (s *server) serverRoutes(r *router) { r.page(get, serversPath, watchers, s.serversPage) }

// serversPage shows the servers on this database and what each holds.
func (s *server) serversPage(c echo.Context) error {
	list, now, err := s.servers.List(c.Request().Context(), person(c))
	if err != nil {
		return err
	}
	shell, systems, err := s.shell(c, templates.ServerWords.Title)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, sys := range systems {
		names[sys.ID] = sys.Name
	}
	m := templates.Servers{Shell: shell}
	show := view{s.Zone, now}
	m.Say = serversSay(list, now)
	newest := newestSchema(list)
	for _, one := range list {
		m.Servers = append(m.Servers, show.oneServer(one, newest, names))
	}
	return render(c, http.StatusOK, templates.ServersPage(m))
}

// newestSchema is that of the servers that are alive: one that is gone may have been of a newer version.
func newestSchema(list []review.ServerState) (newest int64) {
	for _, one := range list {
		if one.State != work.ServerSilent {
			newest = max(newest, one.Schema)
		}
	}
	return newest
}

// serversSay is what concerns several servers.
func serversSay(list []review.ServerState, now time.Time) (out []templates.Sentence) {
	w := templates.ServerWords
	var known []work.Server
	var versions []string
	for _, one := range list {
		if one.Seen.IsZero() {
			continue
		}
		known = append(known, one.Server)
		if version := text(one.Version, 60); one.State != work.ServerSilent && !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	if slices.Sort(versions); len(versions) > 1 {
		out = append(out, templates.Say(w.Versions, map[string]any{"versions": strings.Join(versions[:min(len(versions), 5)], ", ")}))
	}
	if work.DatabaseClockOff(known, now) {
		out = append(out, templates.Say(w.DatabaseClock, nil))
	}
	if len(known) >= work.ShownServers {
		out = append(out, templates.Say(w.Most, map[string]any{"n": strconv.Itoa(work.ShownServers)}))
	}
	return out
}

func (v view) oneServer(one review.ServerState, newest int64, systems map[string]string) templates.Server {
	w := templates.ServerWords
	state := string(one.State)
	m := templates.Server{Name: text(one.Name, 100), Badge: templates.Badge{Sign: w.Sign[state], Text: w.State[state], Tone: w.Tone[state]}, Say: v.serverSays(one, newest)}
	if one.State == work.ServerRuns && len(m.Say) > 0 {
		m.Badge.Sign, m.Badge.Tone = w.Sign["look"], w.Tone["look"]
	}
	fact := func(name, value string) { m.Facts = append(m.Facts, templates.Fact{Name: name, Value: value}) }
	at := func(name string, t time.Time) {
		if t.IsZero() {
			fact(name, w.Never)
			return
		}
		stamp := v.ago(t)
		m.Facts = append(m.Facts, templates.Fact{Name: name, At: &stamp})
	}
	at(w.Seen, one.Seen)
	if !one.Seen.IsZero() {
		at(w.Started, one.Started)
		fact(w.Version, text(one.Version, 100))
		fact(w.Schema, filled(w.SchemaOf, "n", strconv.FormatInt(one.Schema, 10)))
		fact(w.Clock, clockSays(one, v.now))
	}
	for _, h := range one.Calls {
		m.Holds = append(m.Holds, templates.Fact{Name: text(orText(systems[h.SystemID], h.SystemID), 100), Value: strconv.FormatInt(h.Count, 10)})
	}
	for _, r := range one.Runs {
		id := strconv.FormatInt(r.ID, 10)
		l := templates.Link{Text: filled(templates.Pick(w.Run, r.Kind, "bulk"), "n", id)}
		switch r.Kind {
		case "bulk":
			l.Href = bulkPath + "/" + id
		case "import":
			l.Href = importPath + "/" + id
		}
		m.Runs = append(m.Runs, l)
	}
	return m
}

// serverSays is what somebody should know of a server.
func (v view) serverSays(one review.ServerState, newest int64) (out []templates.Sentence) {
	w := templates.ServerWords
	say := func(pattern string, values map[string]any) { out = append(out, templates.Say(pattern, values)) }
	var until, runs time.Time
	for _, h := range one.Calls {
		until = latest(until, h.Until)
	}
	for _, r := range one.Runs {
		runs = latest(runs, r.Until)
	}
	silent := one.State == work.ServerSilent
	about := map[string]any{"since": v.clock(one.Seen), "until": v.clock(until)}
	switch {
	case one.Seen.IsZero() && until.IsZero():
		say(w.NeverSeen, nil)
	case one.Seen.IsZero():
		say(w.NeverTold, about)
	case silent && until.IsZero() && !runs.IsZero():
		say(w.SilentOnly, about)
	case silent && until.IsZero():
		say(w.Silent, about)
	case silent && until.After(v.now):
		say(w.SilentHolds, about)
	case silent:
		say(w.SilentHeld, about)
	case one.State == work.ServerStops:
		say(w.Stops, nil)
	}
	switch {
	case !silent || runs.IsZero():
	case runs.After(v.now):
		say(w.RunsUntil, map[string]any{"until": v.clock(runs)})
	default:
		say(w.RunsOver, map[string]any{"until": v.clock(runs)})
	}
	if one.ClockOff(v.now) {
		say(w.ClockOff, map[string]any{"by": clockSays(one, v.now)})
	}
	if one.ClockMoved(v.now) {
		say(w.ClockMoved, map[string]any{"by": length(one.Jumped), "at": v.clock(one.JumpedAt)})
	}
	if one.HasTwin(v.now) {
		say(w.Twin, map[string]any{"at": v.clock(one.TwinAt)})
	}
	if !silent && one.Schema < newest {
		say(w.Older, nil)
	}
	return out
}

func clockSays(one review.ServerState, now time.Time) string {
	w := templates.ServerWords
	switch {
	case one.State == work.ServerSilent:
		return w.ClockUnknown
	case one.Ahead.Abs() < work.ClockRight:
		return w.ClockRight
	case one.Ahead > 0:
		return filled(w.ClockFast, "by", length(one.Ahead))
	}
	return filled(w.ClockSlow, "by", length(one.Ahead))
}

// length is how long something is, as people write it: "1 h 2 min 3 s", "2 min".
func length(d time.Duration) string {
	said := d.Abs().Round(time.Second).String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(said, none) {
			said = said[:len(said)-2]
		}
	}
	return strings.TrimSpace(strings.NewReplacer("h", " h ", "m", " min ", "s", " s").Replace(said))
}

func filled(pattern, name, value string) string {
	return templates.Say(pattern, map[string]any{name: value}).String()
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
