package main

import (
	"context"
	"fmt"
	"io"
	"sort"
	"text/tabwriter"
	"time"

	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

// closing is the closing table of the demo. Each invoice is in exactly one of the rows below asked.
type closing struct {
	asked      int
	records    int // in the accounting system, by its own journal
	firstTime  int // confirmed, every step by the first answer
	byLookup   int // confirmed, at least one outcome settled by looking
	retried    int // confirmed, sent more than once, each time after proof
	waiting    map[work.Reason]int
	open       int // neither settled nor with a person
	duplicates int // keys and steps that took effect twice in the accounting system
	lost       int // confirmed here but not there
}

func closeMonth(ctx context.Context, st *store.Store, outside *sandboxserver.Server, journal string) (closing, error) {
	c := closing{waiting: map[work.Reason]int{}}
	held := map[string]bool{}
	for _, r := range outside.Records(demoBooks, "") {
		held[r.ID] = true
	}
	q := review.Query{CompanyID: 1, Tab: review.TabAll, Limit: 200}
	for {
		page, err := st.Search(ctx, q)
		if err != nil {
			return c, err
		}
		for _, it := range page.Items {
			chain, err := st.Chain(ctx, it)
			if err != nil {
				return c, err
			}
			c.add(chain, held)
		}
		if q.After = page.Next; q.After == (review.Cursor{}) {
			break
		}
	}
	audit, err := sandboxserver.Audit(journal)
	if err != nil {
		return c, err
	}
	c.records, c.duplicates = audit.Records, len(audit.Duplicates)
	return c, nil
}

func (c *closing) add(chain []work.Item, held map[string]bool) {
	c.asked++
	resent, looked := false, false
	for _, it := range chain {
		switch {
		case it.Status == work.Review:
			c.waiting[it.Reason]++
			return
		case !it.Status.Settled():
			c.open++
			return
		case it.Status == work.Confirmed && !held[it.ExternalID]:
			c.lost++
		}
		resent = resent || it.Sends > 1
		looked = looked || it.Evidence == "lookup"
	}
	switch {
	case looked:
		c.byLookup++
	case resent:
		c.retried++
	default:
		c.firstTime++
	}
}

func (c closing) print(out io.Writer, took time.Duration) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what string, n int) { fmt.Fprintf(w, "%d\t  %s\n", n, what) }
	row("invoices asked for", c.asked)
	row("records in the accounting system", c.records)
	row("confirmed the first time", c.firstTime)
	row("confirmed by looking them up: the answer was lost", c.byLookup)
	row("confirmed after sending again: proven absent or refused before", c.retried)
	reasons := make([]string, 0, len(c.waiting))
	total := 0
	for why, n := range c.waiting {
		reasons = append(reasons, string(why))
		total += n
	}
	sort.Strings(reasons)
	row("waiting for a person", total)
	for _, why := range reasons {
		fmt.Fprintf(w, "%d\t    %s\n", c.waiting[work.Reason(why)], reasonWords(work.Reason(why)))
	}
	if c.open > 0 {
		row("still open", c.open)
	}
	if c.lost > 0 {
		row("CONFIRMED BUT NOT THERE", c.lost)
	}
	row("duplicates", c.duplicates)
	w.Flush() //nolint:errcheck // the output is a terminal
	fmt.Fprintf(out, "took %s\n", took.Round(100*time.Millisecond))
}

// reasonWords are the review reasons in finance's words.
func reasonWords(why work.Reason) string {
	words := map[work.Reason]string{
		work.ReasonRejected:          "the accounting system refused it each time",
		work.ReasonAttemptsExhausted: "not there, and all tries are used up",
		work.ReasonCouldNotCheck:     "it could not be checked",
		work.ReasonCannotLookUp:      "the accounting system cannot be searched",
		work.ReasonMismatch:          "the record differs from what was asked",
		work.ReasonDuplicates:        "more than one record",
		work.ReasonFoundVoid:         "the record is void",
		work.ReasonContradiction:     "it was said to be there, but is not shown",
	}
	if s, ok := words[why]; ok {
		return s
	}
	return string(why)
}
