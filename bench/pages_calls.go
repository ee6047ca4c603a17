package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"onefold/internal/review"
	"onefold/internal/work"
)

// pageCalls are the calls that the pages make.
type pageCalls struct {
	service *review.Service
	world   world
	by      work.Actor
}

// pageCall is one kind of call; each round asks for something else. It returns how many rows came.
type pageCall struct {
	name   string
	run    func(ctx context.Context, round int) (int, error)
	before func(ctx context.Context, round int) error // what is not measured; may be nil
}

// some is the item of a round: any, from the newest to the oldest.
func (c pageCalls) some(round int) pageItem { return c.world.item(1 + mix(round, 30)%c.world.n) }

func (c pageCalls) all() (calls []pageCall) {
	add := func(name string, run func(ctx context.Context, round int) (int, error)) {
		calls = append(calls, pageCall{name: name, run: run})
	}
	list := func(name string, query func(round int) review.Query) {
		add(name, func(ctx context.Context, round int) (int, error) {
			q := query(round)
			q.Limit = 50
			page, err := c.service.Search(ctx, c.by, q)
			return len(page.Items), err
		})
	}
	for _, tab := range []review.Tab{review.TabReview, review.TabUnknown, review.TabWaiting, review.TabFinished, review.TabClosed, review.TabAll} {
		list("list "+string(tab), func(int) review.Query { return review.Query{Tab: tab} })
	}
	list("list all, from the middle", func(round int) review.Query {
		return review.Query{After: review.Cursor{At: c.some(round).changed, ID: 1 << 40}}
	})
	tabs := len(calls)
	for name, text := range map[string]func(it pageItem) string{
		"1 key":           func(it pageItem) string { return strings.ToLower(it.key) },
		"2 key, prefix":   func(it pageItem) string { return it.key[:len(it.key)-2] },
		"3 key, part":     func(it pageItem) string { return it.key[3:] },
		"4 number":        func(it pageItem) string { return fmt.Sprintf("%s/%08d", it.period[:4], it.id) },
		"5 number, part":  func(it pageItem) string { return fmt.Sprintf("%s/%05d", it.period[:4], it.id/1000) },
		"6 customer":      func(it pageItem) string { return strings.ToUpper(it.customer) },
		"7 common word":   func(it pageItem) string { return strings.Fields(it.customer)[1] },
		"8 amount":        func(it pageItem) string { return fmt.Sprintf("%d,%02d", it.cents/100, it.cents%100) },
		"9 common amount": func(pageItem) string { return "129 EUR" },
		"a no match":      func(it pageItem) string { return "nothing like " + it.key },
		"c two words":     func(it pageItem) string { return strings.Join(strings.Fields(it.customer)[:2], " ") },
		"b two letters":   func(it pageItem) string { return string([]rune(it.customer)[:2]) },
	} {
		list("search "+name, func(round int) review.Query { return review.Query{Text: text(c.some(round))} })
	}
	for name, filter := range map[string]func(it pageItem) review.Filter{
		"status":            func(it pageItem) review.Filter { return review.Filter{Status: work.Status(it.status)} },
		"reason":            func(pageItem) review.Filter { return review.Filter{Reason: work.ReasonMismatch} },
		"system":            func(pageItem) review.Filter { return review.Filter{SystemID: "shop"} },
		"system, ended":     func(pageItem) review.Filter { return review.Filter{SystemID: "old-books"} },
		"automation":        func(pageItem) review.Filter { return review.Filter{Automation: "renewals"} },
		"automation, rare":  func(pageItem) review.Filter { return review.Filter{Automation: "travel"} },
		"automation, ended": func(pageItem) review.Filter { return review.Filter{Automation: "contracts"} },
		"assigned to":       func(it pageItem) review.Filter { return review.Filter{Assigned: people[it.id%len(people)]} },
		"nobody":            func(pageItem) review.Filter { return review.Filter{Assigned: review.AssignedNobody} },
		"source":            func(it pageItem) review.Filter { return review.Filter{Source: it.source} },
		"source, import": func(it pageItem) review.Filter {
			return review.Filter{Source: fmt.Sprintf("import:%d", it.document/2000)}
		},
		"period": func(it pageItem) review.Filter { return review.Filter{Period: it.period} },
		"error": func(it pageItem) review.Filter {
			return review.Filter{ErrorKind: fmt.Sprintf("the accounting system refused it: trouble of kind %c", 'A'+it.id%20)}
		},
		"overdue":        func(pageItem) review.Filter { return review.Filter{Overdue: true} },
		"changed before": func(it pageItem) review.Filter { return review.Filter{ChangedBefore: it.changed} },
		"amount, narrow": func(it pageItem) review.Filter {
			return review.Filter{Least: fmt.Sprint(it.cents / 100), Most: fmt.Sprint(it.cents/100 + 1)}
		},
		"amount, wide":   func(pageItem) review.Filter { return review.Filter{Least: "1000"} },
		"currency":       func(pageItem) review.Filter { return review.Filter{Currency: "USD"} },
		"currency, rare": func(pageItem) review.Filter { return review.Filter{Currency: "SEK"} },
	} {
		list("filter "+name, func(round int) review.Query { return review.Query{Filter: filter(c.some(round))} })
	}
	for name, query := range map[string]func(it pageItem) review.Query{
		"finished of a month and automation": func(it pageItem) review.Query {
			return review.Query{Tab: review.TabFinished, Filter: review.Filter{Period: it.period, Automation: it.automation}}
		},
		"review of a system and reason": func(pageItem) review.Query {
			return review.Query{Tab: review.TabReview, Filter: review.Filter{SystemID: "erp", Reason: work.ReasonRejected}}
		},
		"review, amount of a currency, nobody": func(pageItem) review.Query {
			return review.Query{Tab: review.TabReview, Filter: review.Filter{Least: "2000", Currency: "USD", Assigned: review.AssignedNobody}}
		},
		"closed of an import": func(it pageItem) review.Query {
			return review.Query{Tab: review.TabClosed, Filter: review.Filter{Source: fmt.Sprintf("import:%d", it.document/2000)}}
		},
		"customer in a month": func(it pageItem) review.Query {
			return review.Query{Text: strings.Join(strings.Fields(it.customer)[:2], " "), Filter: review.Filter{Period: it.period}}
		},
		"waiting of a month and system": func(it pageItem) review.Query {
			return review.Query{Tab: review.TabWaiting, Filter: review.Filter{Period: it.period, SystemID: "books"}}
		},
	} {
		list("both "+name, func(round int) review.Query { return query(c.some(round)) })
	}
	slices.SortStableFunc(calls[tabs:], func(a, b pageCall) int { return strings.Compare(a.name, b.name) })
	return append(append(calls, c.others()...), c.attempts()...)
}

// note changes something: a note on any item.
func (c pageCalls) note(ctx context.Context, round int) error {
	it, err := c.service.Item(ctx, c.by, int64(c.some(round).id))
	if err != nil {
		return err
	}
	now, err := c.service.Now(ctx)
	if err != nil {
		return err
	}
	_, err = c.service.Act(ctx, c.by, review.Note, review.Seen{ID: it.ID, Version: it.Version, At: now}, review.Input{Note: "Seen by the bench."})
	return err
}

// others are the calls beside the list.
func (c pageCalls) others() []pageCall {
	count := func(q review.Query, most int64) func(ctx context.Context, round int) (int, error) {
		return func(ctx context.Context, _ int) (int, error) {
			n, err := c.service.Count(ctx, c.by, q, most)
			return int(n), err
		}
	}
	counts := func(ctx context.Context, _ int) (int, error) {
		counts, err := c.service.Counts(ctx, c.by)
		return int(counts[review.TabAll]), err
	}
	return []pageCall{
		{name: "item", run: func(ctx context.Context, round int) (int, error) {
			d, err := c.service.Detail(ctx, c.by, int64(c.some(round).id), review.Place{})
			return len(d.Attempts), err
		}},
		c.long("item with 8,000 attempts", review.Place{}),
		c.long("item with 8,000 attempts, its last part", review.Place{Attempt: 21}),
		{name: "counts", run: counts, before: c.note},
		{name: "counts, nothing changed", run: counts},
		{name: "count review", run: count(review.Query{Tab: review.TabReview}, 100_000)},
		{name: "count review of a system", run: count(review.Query{Tab: review.TabReview, Filter: review.Filter{SystemID: "erp"}}, 100_000)},
		{name: "count all, to 10,000", run: count(review.Query{}, 10_000)},
		{name: "count a search", run: func(ctx context.Context, round int) (int, error) {
			n, err := c.service.Count(ctx, c.by, review.Query{Text: strings.Join(strings.Fields(c.some(round).customer)[:2], " ")}, 201)
			return int(n), err
		}},
		{name: "groups of review", run: func(ctx context.Context, _ int) (int, error) {
			groups, err := c.service.Groups(ctx, c.by, review.Query{Tab: review.TabReview}, 100)
			return len(groups), err
		}},
		{name: "automations", run: func(ctx context.Context, _ int) (int, error) {
			list, err := c.service.Automations(ctx, c.by)
			return len(list), err
		}},
		{name: "views", run: func(ctx context.Context, _ int) (int, error) {
			list, err := c.service.Views(ctx, c.by)
			return len(list), err
		}},
		{name: "now", run: func(ctx context.Context, _ int) (int, error) {
			_, err := c.service.Now(ctx)
			return 0, err
		}},
	}
}
