package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/auth"
	"onefold/internal/notice"
)

var (
	_ notice.Store     = (*Store)(nil)
	_ notice.PageStore = (*Store)(nil)
)

// The three ways in which the list of waiting items can be behind the items. Values are looked up one by one, by key: a
// planner that takes the waiting items for few would join them with each other. An item stays on the list while it is looked
// up for the person.
const (
	itemOfNotice = " FROM items i WHERE i.id = notice_items.item_id"
	noticeGone   = "FROM notice_items WHERE coalesce((SELECT CASE WHEN i.status = 'review' OR i.status = 'in_progress' AND i.before = 'review' THEN 1 ELSE 0 END" + itemOfNotice + "), 0) = 0"
	noticeNew    = "FROM items i WHERE i.status = 'review' AND (SELECT n.item_id FROM notice_items n WHERE n.item_id = i.id) IS NULL"
	noticeHolder = "(SELECT i.assigned_to" + itemOfNotice + " AND i.status = 'review')" // NULL if it is being looked up
	noticeHanded = noticeHolder + " <> notice_items.assigned_to"
)

// NoticeRound implements notice.Store. Rounds are made one after the other under the row's lock, so that none becomes
// visible before an earlier one; a time would not do.
func (s *Store) NoticeRound(ctx context.Context, companyID int64) (round int64, err error) {
	var behind bool
	err = s.row(ctx, "SELECT EXISTS (SELECT 1 "+noticeNew+" AND i.company_id = ?1) OR EXISTS (SELECT 1 "+noticeGone+")"+
		" OR EXISTS (SELECT 1 FROM notice_items WHERE "+noticeHanded+")", []any{companyID}, &behind)
	if err != nil {
		return 0, err
	}
	if behind {
		if err := s.nextRound(ctx, companyID); err != nil {
			return 0, fmt.Errorf("bring the list of waiting items up to date: %w", err)
		}
	}
	err = s.row(ctx, "SELECT coalesce(max(r), 0) FROM (SELECT max(round) AS r FROM notice_items WHERE company_id = ?1"+
		" UNION ALL SELECT max(assigned_round) FROM notice_items WHERE company_id = ?1) m", []any{companyID}, &round)
	return round, err
}

func (s *Store) nextRound(ctx context.Context, companyID int64) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE notice_round SET number = number + 1 WHERE one = 1").Error; err != nil {
			return err
		}
		const number = "(SELECT number FROM notice_round WHERE one = 1)"
		for _, step := range []struct {
			text string
			args []any
		}{
			{"DELETE " + noticeGone, nil},
			{"UPDATE notice_items SET assigned_to = " + noticeHolder + ", assigned_round = " + number +
				", assigned_by = coalesce((SELECT a.actor_id FROM acts a WHERE a.item_id = notice_items.item_id AND a.what = 'assign' ORDER BY a.id DESC LIMIT 1), '')" +
				" WHERE " + noticeHanded, nil},
			{"INSERT INTO notice_items (item_id, company_id, noticed_at, round, assigned_to, assigned_by, assigned_round)" +
				" SELECT i.id, i.company_id, ?, " + number + ", i.assigned_to, '', " + number + " " + noticeNew + " AND i.company_id = ?" +
				" ON CONFLICT (item_id) DO NOTHING", []any{moment(now), companyID}},
		} {
			if err := tx.Exec(step.text, step.args...).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// NoticeWaiting implements notice.Store.
func (s *Store) NoticeWaiting(ctx context.Context, f notice.Filter) (w notice.Waiting, err error) {
	b := &pageQuery{place: s.db.at}
	where := "n.company_id = " + b.add(f.CompanyID) + " AND i.status = 'review'"
	since := "n.round"
	if f.Assigned != "" {
		where += " AND i.assigned_to = " + b.add(f.Assigned)
		since = "n.assigned_round"
		if f.NotBy != "" {
			where += " AND n.assigned_by <> " + b.add(f.NotBy)
		}
	}
	if f.After > 0 {
		where += " AND " + since + " > " + b.add(f.After)
	}
	if f.UpTo > 0 {
		where += " AND " + since + " <= " + b.add(f.UpTo)
	}
	if len(f.Systems) > 0 {
		var in []string
		for _, id := range f.Systems {
			in = append(in, b.add(id))
		}
		where += " AND i.system_id IN (" + strings.Join(in, ", ") + ")"
	}
	r, err := s.db.query(ctx, "SELECT i.system_id, i.reason, i.error_kind, count(*), min(n.noticed_at), min(i.id),"+
		" CAST(sum(count(*)) OVER () AS bigint), count(*) OVER (), min(min(n.noticed_at)) OVER ()"+
		" FROM "+s.noticed()+" WHERE "+where+
		" GROUP BY i.system_id, i.reason, i.error_kind ORDER BY count(*) DESC, min(i.id) LIMIT "+fmt.Sprint(notice.GroupsInMessage), b.args...)
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var ids []int64
	for r.Next() {
		var g notice.Group
		var groups int64
		if err := r.Scan(&g.SystemID, (*string)(&g.Reason), &g.ErrorKind, &g.Count, stamp{&g.Since}, &g.First.ID, &w.Total, &groups, stamp{&w.Since}); err != nil {
			return w, fmt.Errorf("read what waits: %w", err)
		}
		w.Groups, ids = append(w.Groups, g), append(ids, g.First.ID)
		w.More = groups - int64(len(w.Groups))
	}
	if err := r.Err(); err != nil || len(ids) == 0 {
		return w, err
	}
	first, err := s.byIDs(ctx, ids)
	for _, it := range first {
		if i := slices.Index(ids, it.ID); i >= 0 {
			w.Groups[i].First = it
		}
	}
	return w, err
}

// noticed is the list of waiting items n with its items i, joined from the list to the items whatever a planner believes.
func (s *Store) noticed() string {
	if _, is := s.db.(*postgres); is {
		return "notice_items n CROSS JOIN LATERAL (SELECT * FROM items WHERE id = n.item_id OFFSET 0) i"
	}
	return "notice_items n CROSS JOIN items i ON i.id = n.item_id"
}

// NoticeState implements notice.Store.
func (s *Store) NoticeState(ctx context.Context, recipient string) (notice.State, error) {
	st := notice.State{Recipient: recipient}
	if _, err := s.maybeRow(ctx, "SELECT told, items_at, reminded_on, version FROM notice_states WHERE recipient = ?1", []any{recipient},
		&st.Told, stamp{&st.ItemsAt}, &st.Reminded, &st.Version); err != nil {
		return st, err
	}
	return st, s.row(ctx, "SELECT EXISTS (SELECT 1 FROM notice_deliveries WHERE recipient = ?1 AND status = 'waiting' AND kind IN ('items', 'reminder'))",
		[]any{recipient}, &st.Unsent)
}

// NoticeAlerts implements notice.Store.
func (s *Store) NoticeAlerts(ctx context.Context, recipient string) (list []notice.AlertState, err error) {
	r, err := s.db.query(ctx, "SELECT a.id, a.system_id, a.cause, a.words, a.raised_at, a.cleared_at, t.told_at,"+
		" (SELECT max(l.told_at) FROM notice_alerts l WHERE l.recipient = ?1 AND l.system_id = a.system_id AND l.cause = a.cause)"+
		" FROM alerts a LEFT JOIN notice_alerts t ON t.recipient = ?1 AND t.alert_id = a.id"+
		" WHERE a.cleared_at IS NULL UNION ALL"+
		" SELECT a.id, a.system_id, a.cause, a.words, a.raised_at, a.cleared_at, t.told_at, t.told_at"+
		" FROM notice_alerts t JOIN alerts a ON a.id = t.alert_id WHERE t.recipient = ?1 AND t.over_at IS NULL AND a.cleared_at IS NOT NULL ORDER BY 1", recipient)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var a notice.AlertState
		var cleared, told time.Time
		if err := r.Scan(&a.ID, &a.SystemID, &a.Cause, &a.Text, stamp{&a.RaisedAt}, stamp{&cleared}, stamp{&told}, stamp{&a.LastOne}); err != nil {
			return nil, fmt.Errorf("read alerts: %w", err)
		}
		a.Over, a.Told = !cleared.IsZero(), !told.IsZero()
		list = append(list, a)
	}
	return list, r.Err()
}

// RecordNotices implements notice.Store.
func (s *Store) RecordNotices(ctx context.Context, st notice.State, messages []notice.Delivery, told []notice.Told) (mine bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE notice_states SET told = ?, items_at = ?, reminded_on = ?, version = version + 1 WHERE recipient = ? AND version = ?",
			st.Told, moment(st.ItemsAt), st.Reminded, st.Recipient, st.Version)
		if st.Version == 0 {
			done = tx.Exec("INSERT INTO notice_states (recipient, told, items_at, reminded_on, version) VALUES (?, ?, ?, ?, 1) ON CONFLICT (recipient) DO NOTHING",
				st.Recipient, st.Told, moment(st.ItemsAt), st.Reminded)
		}
		if mine = done.RowsAffected == 1; done.Error != nil || !mine {
			return done.Error
		}
		for _, t := range told {
			text, args := "INSERT INTO notice_alerts (recipient, alert_id, system_id, cause, told_at) VALUES (?, ?, ?, ?, ?)",
				[]any{st.Recipient, t.Alert.ID, t.Alert.SystemID, t.Alert.Cause, moment(now)}
			if t.Over {
				text, args = "UPDATE notice_alerts SET over_at = ? WHERE recipient = ? AND alert_id = ?", []any{moment(now), st.Recipient, t.Alert.ID}
			}
			if err := tx.Exec(text, args...).Error; err != nil {
				return err
			}
		}
		for _, d := range messages {
			if err := addDelivery(tx, d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("record messages: %w", err)
	}
	return mine, nil
}

// NoticePeople implements notice.Store.
func (s *Store) NoticePeople(ctx context.Context, companyID int64) (list []notice.Person, err error) {
	r, err := s.db.query(ctx, "SELECT u.id, u.name, u.email, u.roles, "+settingsColumns+" FROM users u LEFT JOIN notice_settings s ON s.user_id = u.id"+
		" WHERE u.company_id = ?1 AND u.email <> '' AND u.disabled_at IS NULL ORDER BY u.id", companyID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var p notice.Person
		var roles string
		var set settingsScan
		if err := r.Scan(append([]any{&p.ID, &p.Name, &p.Email, &roles}, set.dests()...)...); err != nil {
			return nil, fmt.Errorf("read who is told: %w", err)
		}
		p.Roles, _ = auth.ParseRoles(roles) // a role of a newer version gives no right here
		if p.Settings = set.settings(); set.items == nil {
			p.Settings = notice.Suggested(p.Roles)
		}
		list = append(list, p)
	}
	return list, r.Err()
}

const settingsColumns = "s.items, s.alerts, s.systems, s.mine, s.hour, s.changed_at"

// settingsScan reads settings of which there may be none.
type settingsScan struct {
	items, systems *string
	alerts, mine   *bool
	hour           *int
	changedAt      time.Time
}

func (c *settingsScan) dests() []any {
	return []any{&c.items, &c.alerts, &c.systems, &c.mine, &c.hour, stamp{&c.changedAt}}
}

func (c *settingsScan) settings() (set notice.Settings) {
	if c.items == nil || c.systems == nil || c.alerts == nil || c.mine == nil || c.hour == nil {
		return set
	}
	set = notice.Settings{Items: notice.Mode(*c.items), Alerts: *c.alerts, Mine: *c.mine, Hour: *c.hour, ChangedAt: c.changedAt}
	if *c.systems != "" {
		set.Systems = strings.Split(*c.systems, ",")
	}
	return set
}

// NoticeSettings implements notice.PageStore.
func (s *Store) NoticeSettings(ctx context.Context, userID int64) (notice.Settings, bool, error) {
	var set settingsScan
	found, err := s.maybeRow(ctx, "SELECT "+settingsColumns+" FROM notice_settings s WHERE s.user_id = ?1", []any{userID}, set.dests()...)
	return set.settings(), found, err
}

// SaveNoticeSettings implements notice.PageStore.
func (s *Store) SaveNoticeSettings(ctx context.Context, userID int64, set notice.Settings) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO notice_settings (user_id, items, alerts, systems, mine, hour, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)"+
			" ON CONFLICT (user_id) DO UPDATE SET items = excluded.items, alerts = excluded.alerts, systems = excluded.systems, mine = excluded.mine,"+
			" hour = excluded.hour, changed_at = excluded.changed_at",
			userID, string(set.Items), set.Alerts, strings.Join(set.Systems, ","), set.Mine, set.Hour, moment(now)).Error
	})
}
