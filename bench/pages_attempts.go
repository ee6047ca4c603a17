package main

import (
	"context"
	"time"

	"onefold/internal/review"
)

// attempts are the calls of the pages of attempts, each with a filter that is met often, seldom or never.
func (c pageCalls) attempts() (calls []pageCall) {
	for _, call := range []struct {
		name  string
		query func(it pageItem) review.AttemptQuery
	}{
		{"attempts", func(pageItem) review.AttemptQuery { return review.AttemptQuery{} }},
		{"attempts, from the middle", func(it pageItem) review.AttemptQuery {
			return review.AttemptQuery{After: review.AttemptCursor{At: it.recorded, ItemID: int64(it.id), Number: 2}}
		}},
		{"attempts of a kind", func(pageItem) review.AttemptQuery { return review.AttemptQuery{Kind: review.KindFind} }},
		{"attempts of a status, none", func(it pageItem) review.AttemptQuery {
			return review.AttemptQuery{To: it.recorded, StatusFrom: 500, StatusTo: 599}
		}},
		{"attempts, open", func(pageItem) review.AttemptQuery { return review.AttemptQuery{Result: review.ResultOpen} }},
		{"attempts of a system", func(it pageItem) review.AttemptQuery { return review.AttemptQuery{To: it.recorded, SystemID: "shop"} }},
		{"attempts of a system, ended", func(pageItem) review.AttemptQuery { return review.AttemptQuery{SystemID: "old-books"} }},
		{"attempts asked for by somebody, none", func(it pageItem) review.AttemptQuery {
			return review.AttemptQuery{To: it.recorded, AskedBy: review.AskedByAnybody}
		}},
		{"attempts that took long", func(it pageItem) review.AttemptQuery {
			return review.AttemptQuery{To: it.recorded, Longer: time.Minute}
		}},
		{"attempts of a key", func(it pageItem) review.AttemptQuery { return review.AttemptQuery{Key: it.key} }},
		{"attempts of that key with 8,000", func(pageItem) review.AttemptQuery { return review.AttemptQuery{Key: c.world.long().key} }},
		{"attempts of keys that begin so", func(it pageItem) review.AttemptQuery { return review.AttemptQuery{Key: it.key[:len(it.key)-2]} }},
		{"attempts of very many keys", func(pageItem) review.AttemptQuery { return review.AttemptQuery{Key: "TRIP-"} }},
	} {
		calls = append(calls, pageCall{name: call.name, run: func(ctx context.Context, round int) (int, error) {
			q := call.query(c.some(round))
			q.Limit = 50
			page, err := c.service.AttemptList(ctx, c.by, q)
			return len(page.Rows), err
		}})
	}
	return append(calls, pageCall{name: "attempt", run: func(ctx context.Context, round int) (int, error) {
		d, err := c.service.Attempt(ctx, c.by, int64(c.some(round).id), 1)
		return d.Attempt.Number, err
	}})
}
