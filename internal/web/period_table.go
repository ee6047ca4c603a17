package web

import (
	"net/url"
	"strconv"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// signOf is the status whose sign stands for a list.
var signOf = map[review.Tab]work.Status{review.TabFinished: work.Confirmed, review.TabReview: work.Review, review.TabUnknown: work.Pending,
	review.TabWaiting: work.Queued, review.TabClosed: work.Closed}

const (
	barLength    = 1000
	smallestPart = 10 // what is there is seen, however little it is
)

// monthShares divides the bar: each part in proportion, but none too small to be seen.
func monthShares(m review.Month) []templates.Share {
	total := m.All.Expected.Count
	var shares []templates.Share
	lengths := make([]int64, len(review.MonthTabs))
	var used int64
	longest := 0
	for i, t := range review.MonthTabs {
		if n := m.All.Tabs[t].Count; n > 0 {
			lengths[i] = max(n*barLength/total, smallestPart)
		}
		used += lengths[i]
		if lengths[i] > lengths[longest] {
			longest = i
		}
	}
	lengths[longest] += barLength - used
	var x int64
	for i, t := range review.MonthTabs {
		n := m.All.Tabs[t].Count
		s := templates.Share{Code: string(t), Name: templates.Period.Column[string(t)], Sign: templates.Words.Sign[string(signOf[t])], Count: thousands(n), Part: part(n, total),
			X: strconv.FormatInt(x, 10), Width: strconv.FormatInt(lengths[i], 10)}
		if n > 0 {
			s.Href = periodList(m.Period, "", t, "")
		}
		x += lengths[i]
		shares = append(shares, s)
	}
	return shares
}

// part is a share in percent. Only nothing is 0 %, only everything is 100 %.
func part(n, total int64) string {
	tenths := (n*1000 + total/2) / total
	switch {
	case n > 0 && tenths == 0:
		return templates.Period.Below
	case n < total && tenths == 1000:
		return templates.Period.Nearly
	case tenths%10 == 0:
		return strconv.FormatInt(tenths/10, 10) + " %"
	}
	return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + " %"
}

// periodList is the address of the list behind a number.
func periodList(period, automation string, tab review.Tab, reason work.Reason) string {
	v := url.Values{"tab": {string(tab)}, "period": {period}}
	if automation != "" {
		v.Set("automation", automation)
	}
	if reason != "" {
		v.Set("reason", string(reason))
	}
	return "/?" + v.Encode()
}

// monthLine is an automation's row of counts, with a row of amounts for each currency.
func monthLine(period string, l *review.MonthLine) templates.MonthLine {
	w := templates.Period
	line := templates.MonthLine{Name: text(l.Automation, 200)}
	if l.Automation == "" {
		line.Name, line.Together = w.AllTogether, true
	}
	for _, c := range monthColumns(period, l) {
		line.Counts = append(line.Counts, templates.Figure{Column: c.name, Text: thousands(c.n), Links: c.links, Nil: c.n == 0})
	}
	for _, code := range l.Currencies() {
		amounts := templates.MonthAmounts{Code: code}
		for _, c := range monthColumns(period, l) {
			a := c.in(code)
			amounts.Amounts = append(amounts.Amounts, templates.Figure{Column: c.name, Text: amountNumber(a.Round()), Nil: a.IsZero()})
		}
		line.Currencies = append(line.Currencies, amounts)
	}
	return line
}

// monthColumn is one column of a month's table for an automation.
type monthColumn struct {
	name  string
	n     int64
	links []templates.Link
	in    func(code string) currency.Amount
}

func monthColumns(period string, l *review.MonthLine) []monthColumn {
	w := templates.Period
	link := func(n int64, tab review.Tab, reason work.Reason, pattern string) []templates.Link {
		if n == 0 {
			return nil
		}
		return []templates.Link{{Text: say(pattern, "n", thousands(n)), Href: periodList(period, l.Automation, tab, reason)}}
	}
	all := []monthColumn{{w.Column["expected"], l.Expected.Count, link(l.Expected.Count, review.TabAll, "", "{n}"), l.Expected.In}}
	for _, t := range review.MonthTabs {
		sum := l.Tabs[t]
		all = append(all, monthColumn{w.Column[string(t)], sum.Count, link(sum.Count, t, "", "{n}"), sum.In})
		if t != review.TabReview {
			continue
		}
		var links []templates.Link
		for _, r := range review.Differing {
			links = append(links, link(l.Differing[r].Count, t, r, w.Different[string(r)])...)
		}
		all = append(all, monthColumn{w.Column["different"], l.Different.Count, links, l.Different.In})
	}
	return all
}
