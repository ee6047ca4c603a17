package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/web/templates"
)

const (
	livePath   = "/live"
	liveHeader = "Onefold-Live" // on what an open page fetches by itself

	streamTime = 15 * time.Minute // then the page connects again
	heartbeat  = 15 * time.Second
	recheck    = 5 * time.Second // how old the last look at the session may be when something is told
	writeTime  = 10 * time.Second
)

var streamBounds = bounds{streamTime, formSize}

// byItself reports whether an open page makes the request and not the person: it must not keep their session alive.
func byItself(c echo.Context) bool {
	return safe(c.Request()) && (c.Path() == livePath || c.Request().Header.Get(liveHeader) != "")
}

const markKey = "mark"

// setMark notes the state of the data before a page of it is read: what changes afterwards is told.
func (s *server) setMark(c echo.Context, r rule) {
	if r.door != doorMember || !safe(c.Request()) || c.Path() == livePath || !review.MayRead(person(c)) {
		return
	}
	if now, err := s.hub.now(c.Request().Context()); err == nil { // else the page itself says what is wrong
		c.Set(markKey, now)
	}
}

// mark is what setMark noted; empty if nothing.
func mark(c echo.Context) string {
	now, _ := c.Get(markKey).(string)
	return now
}

// news is one event of a stream.
type news struct {
	State     string `json:"state"` // to be compared only
	Say       string `json:"say,omitempty"`
	Colleague bool   `json:"colleague,omitempty"` // somebody else did it
}

// live tells an open page of changes, as server-sent events, until the session or the server ends.
func (s *server) live(c echo.Context) error {
	r := c.Request()
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return echo.NewHTTPError(http.StatusNotAcceptable)
	}
	if err := fromHere(r); err != nil {
		return review.ErrForbidden
	}
	var item int64
	if text := c.QueryParam("item"); text != "" {
		var err error
		if item, err = strconv.ParseInt(text, 10, 64); err != nil || item < 1 {
			return echo.NewHTTPError(http.StatusBadRequest)
		}
	}
	knows := text(c.QueryParam("knows"), 40)
	page, err := s.hub.join(person(c).ID, item, knows)
	if errors.Is(err, errTooManyStreams) {
		c.Response().Header().Set("Retry-After", "60")
		return echo.NewHTTPError(http.StatusTooManyRequests)
	}
	if err != nil {
		return err
	}
	defer s.hub.leave(page)
	return s.tell(c, page, knows)
}

// fromHere refuses what another site's page asks for.
func fromHere(r *http.Request) error {
	asForm := *r
	asForm.Method = http.MethodPost // what is safe is not checked
	return http.NewCrossOriginProtection().Check(&asForm)
}

// tell writes events until there is nobody to tell. The answer has begun: what goes wrong ends it, the page comes again.
func (s *server) tell(c echo.Context, page *openPage, knows string) error {
	w, ctx, v := c.Response(), c.Request().Context(), visit(c)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // proxies pass on what there is
	w.WriteHeader(http.StatusOK)
	rc := http.NewResponseController(w)
	send := func(text string) bool {
		_ = rc.SetWriteDeadline(time.Now().Add(writeTime)) // not every connection has one
		_, err := io.WriteString(w, text)
		return err == nil && rc.Flush() == nil
	}
	if !send(": hello\n\n") {
		return nil
	}
	beat := s.beat
	if beat == nil {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		beat = tick.C
	}
	checked := time.Now()
	for {
		event := ":\n\n"
		select {
		case <-ctx.Done():
			return nil
		case <-ending(ctx):
			return nil
		case <-beat:
			checked = time.Time{}
		case state := <-page.news:
			n := s.newsOf(ctx, v, page.item, state, knows)
			knows = state
			text, err := json.Marshal(n)
			if err != nil {
				return nil
			}
			event = fmt.Sprintf("data: %s\n\n", text)
		}
		if time.Since(checked) >= recheck {
			again, err := s.Auth.Again(ctx, v)
			if err != nil || !again.Ready() || !review.MayRead(again.Actor) {
				return nil
			}
			v, checked = again, time.Now()
		}
		if !send(event) {
			return nil
		}
	}
}

// newsOf says what happened to an item since the state that the page knows.
func (s *server) newsOf(ctx context.Context, v auth.Visit, item int64, state, knows string) news {
	n := news{State: state}
	seen, err := strconv.ParseInt(knows, 10, 64)
	if item == 0 || err != nil {
		return n
	}
	d, err := s.review.Detail(ctx, v.Actor, item, review.Place{})
	if err != nil {
		return n
	}
	show, w := view{s.Zone, d.Now}, templates.Keys
	if cf := d.Moved(seen); cf != nil && cf.Act != nil && !cf.Act.By.Same(v.Actor) {
		n.Colleague, n.Say = true, show.happened(cf, w.Colleague, w.Colleague).String()
	} else if cf != nil {
		n.Say = templates.Say(w.Now, map[string]any{"status": show.badge(d.Item, "").Text}).String()
	}
	return n
}

type endingKey struct{}

// endStreams lets a shutdown end the streams, which it would wait for else.
func endStreams(srv *http.Server) {
	over := make(chan struct{})
	srv.RegisterOnShutdown(sync.OnceFunc(func() { close(over) }))
	srv.BaseContext = func(net.Listener) context.Context { return context.WithValue(context.Background(), endingKey{}, over) }
}

// ending is closed when the server shuts down; nil if it does not say.
func ending(ctx context.Context) <-chan struct{} {
	over, _ := ctx.Value(endingKey{}).(chan struct{})
	return over
}
