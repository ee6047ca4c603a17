package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/work"
)

// columns are all columns of the state but the fixed ones (id, company, system, step, previous item, version). The
// order is that of every statement.
var columns = []column[work.Item]{
	intColumn("revision", func(it *work.Item) *int { return &it.Revision }),
	intColumn("proposed", func(it *work.Item) *int { return &it.Proposed }),
	textColumn("status", func(it *work.Item) *string { return (*string)(&it.Status) }),
	textColumn("reason", func(it *work.Item) *string { return (*string)(&it.Reason) }),
	intColumn("attempts", func(it *work.Item) *int { return &it.Attempts }),
	intColumn("open_attempt", func(it *work.Item) *int { return &it.OpenAttempt }),
	textColumn("open_kind", func(it *work.Item) *string { return (*string)(&it.OpenKind) }),
	textColumn("open_node", func(it *work.Item) *string { return &it.OpenNode }),
	timeColumn("open_since", func(it *work.Item) *time.Time { return &it.OpenSince }),
	timeColumn("lease_until", func(it *work.Item) *time.Time { return &it.LeaseUntil }),
	textColumn("before", func(it *work.Item) *string { return (*string)(&it.Before) }),
	intColumn("sends", func(it *work.Item) *int { return &it.Sends }),
	intColumn("sends_used", func(it *work.Item) *int { return &it.SendsUsed }),
	intColumn("lookups_used", func(it *work.Item) *int { return &it.LookupsUsed }),
	{name: "unsettled", kind: listKind, list: func(it *work.Item) *[]int { return &it.Unsettled }},
	timeColumn("settle_from", func(it *work.Item) *time.Time { return &it.SettleFrom }),
	timeColumn("first_sent_at", func(it *work.Item) *time.Time { return &it.FirstSentAt }),
	{name: "resent", kind: boolKind, flag: func(it *work.Item) *bool { return &it.Resent }},
	intColumn("misses", func(it *work.Item) *int { return &it.Misses }),
	timeColumn("last_miss_at", func(it *work.Item) *time.Time { return &it.LastMissAt }),
	timeColumn("absent_at", func(it *work.Item) *time.Time { return &it.AbsentAt }),
	textColumn("absent_by", func(it *work.Item) *string { return &it.AbsentBy }),
	textColumn("positive", func(it *work.Item) *string { return (*string)(&it.Positive) }),
	textColumn("seen_id", func(it *work.Item) *string { return &it.SeenID }),
	textColumn("seen_number", func(it *work.Item) *string { return &it.SeenNumber }),
	textColumn("late_id", func(it *work.Item) *string { return &it.LateID }),
	textColumn("external_id", func(it *work.Item) *string { return &it.ExternalID }),
	textColumn("external_number", func(it *work.Item) *string { return &it.ExternalNumber }),
	textColumn("external_url", func(it *work.Item) *string { return &it.ExternalURL }),
	textColumn("evidence", func(it *work.Item) *string { return &it.Evidence }),
	textColumn("remark", func(it *work.Item) *string { return &it.Remark }),
	textColumn("identity", func(it *work.Item) *string { return &it.Identity }),
	timeColumn("due_at", func(it *work.Item) *time.Time { return &it.DueAt }),
	timeColumn("send_after", func(it *work.Item) *time.Time { return &it.SendAfter }),
	timeColumn("settle_by", func(it *work.Item) *time.Time { return &it.SettleBy }),
	textColumn("look_asked", func(it *work.Item) *string { return &it.LookAsked }),
	textColumn("last_look", func(it *work.Item) *string { return (*string)(&it.LastLook) }),
	textColumn("last_error", func(it *work.Item) *string { return &it.LastError }),
	textColumn("error_kind", func(it *work.Item) *string { return &it.ErrorKind }),
	timeColumn("last_try_at", func(it *work.Item) *time.Time { return &it.LastTryAt }),
	timeColumn("changed_at", func(it *work.Item) *time.Time { return &it.ChangedAt }),
	textColumn("assigned_to", func(it *work.Item) *string { return &it.AssignedTo }),
}

// differs reports whether the column has another value in b than in a.
func (c *column[R]) differs(a, b *R) bool {
	switch c.kind {
	case textKind:
		return *c.text(a) != *c.text(b)
	case intKind:
		return *c.number(a) != *c.number(b)
	case timeKind:
		return !c.moment(a).Equal(*c.moment(b))
	case boolKind:
		return *c.flag(a) != *c.flag(b)
	case bigKind, linkKind:
		return *c.big(a) != *c.big(b)
	default:
		return joinInts(*c.list(a)) != joinInts(*c.list(b))
	}
}

// stateSet is a set of columns that one prepared statement updates.
type stateSet struct {
	columns    []column[work.Item]
	updateMany string // PostgreSQL; parameters: ids, seen versions, new versions, columns
	updateOne  string // SQLite; parameters: new version, columns, id, seen version
}

// A claim, an acceptance and any other close write some columns; a move that changes others writes all. So a few fixed statements stay
// prepared, whatever a batch is made of.
var (
	claimSet = newStateSet("status", "attempts", "open_attempt", "open_kind", "open_node", "open_since", "lease_until", "before", "sends",
		"sends_used", "lookups_used", "first_sent_at", "identity", "due_at", "last_try_at", "changed_at")
	acceptSet = newStateSet("status", "open_attempt", "open_kind", "open_node", "open_since", "lease_until", "before", "positive",
		"external_id", "external_number", "external_url", "evidence", "changed_at")
	closeSet = newStateSet("status", "reason", "open_attempt", "open_kind", "open_node", "open_since", "lease_until", "before", "sends_used",
		"unsettled", "settle_from", "positive", "external_id", "external_number", "external_url", "evidence", "remark", "identity",
		"due_at", "send_after", "last_error", "error_kind", "changed_at")
	wholeSet = newStateSet()
)

func newStateSet(some ...string) *stateSet {
	s := &stateSet{}
	for _, c := range columns {
		if len(some) == 0 || slices.Contains(some, c.name) {
			s.columns = append(s.columns, c)
		}
	}
	from := append([]column[work.Item]{bigColumn[work.Item]("id", nil), bigColumn[work.Item]("seen", nil), versionColumn}, s.columns...)
	s.updateMany = "UPDATE items AS i SET (version, " + names(s.columns, "") + ") = ROW (u.version, " + names(s.columns, "u.") + ") FROM " +
		unnest(from, 1) + " WHERE i.id = u.id AND i.version = u.seen"
	s.updateOne = "UPDATE items SET (version, " + names(s.columns, "") + ") = (?" + strings.Repeat(", ?", len(s.columns)) + ") WHERE id = ? AND version = ?"
	return s
}

// covers reports whether a and b differ in none but the set's columns.
func (s *stateSet) covers(a, b *work.Item) bool {
	at := 0
	for i := range columns {
		if at < len(s.columns) && s.columns[at].name == columns[i].name {
			at++
			continue
		}
		if columns[i].differs(a, b) {
			return false
		}
	}
	return true
}

// joinInts writes numbers as the text that is stored: "3,7".
func joinInts(list []int) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

func splitInts(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("a stored list of numbers is damaged: %q", s)
		}
		list = append(list, n)
	}
	return list, nil
}
