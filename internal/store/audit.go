package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/auth"
	"onefold/internal/work"
)

// auditRow is an entry of the audit trail in the database.
type auditRow struct {
	CompanyID int64
	At        moment
	ActorKind string
	ActorID   string
	ActorName string
	Address   string
	UserAgent string
	What      string
	Object    string
	Before    string
	After     string
	Note      string
}

func (auditRow) TableName() string { return "audit" }

// appendEntry writes an entry in the transaction of what it tells of.
func appendEntry(tx *gorm.DB, e auth.Entry, now time.Time) error {
	if e.CompanyID == 0 {
		e.CompanyID = 1
	}
	row := auditRow{CompanyID: e.CompanyID, At: moment(now), ActorKind: string(e.By.Kind), ActorID: tidy(e.By.ID, maxShort), ActorName: tidy(e.By.Name, maxShort),
		Address: tidy(e.From.Address, maxShort), UserAgent: tidy(e.From.UserAgent, 500), What: e.What, Object: tidy(e.Object, maxShort),
		Before: tidy(e.Before, maxLong), After: tidy(e.After, maxLong), Note: tidy(e.Note, maxLong)}
	if err := tx.Create(&row).Error; err != nil {
		return fmt.Errorf("record in the audit trail: %w", err)
	}
	return nil
}

// Audit implements auth.Trail.
func (s *Store) Audit(ctx context.Context, e auth.Entry) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error { return appendEntry(tx, e, now) })
}

// trailSource is one of the histories that make the trail.
type trailSource struct {
	name  string
	table string
	// inner is a query for the columns of trailColumns.
	inner string
}

const trailColumns = "id, company_id, at, actor_kind, actor_id, actor_name, address, user_agent, what, object, before, after, note"

// trailSources are in the order of their names.
var trailSources = []trailSource{
	{"act", "acts", "SELECT a.id AS id, k.company_id AS company_id, a.at AS at, a.actor_kind AS actor_kind, a.actor_id AS actor_id, a.actor_name AS actor_name," +
		" '' AS address, '' AS user_agent, 'item_' || replace(a.what, ' ', '_') AS what, 'item:' || a.item_id || ' ' || k.business_key AS object," +
		" a.from_status AS before, a.to_status AS after, CASE WHEN a.detail = '' THEN a.note WHEN a.note = '' THEN a.detail ELSE a.note || ' · ' || a.detail END AS note" +
		" FROM acts a JOIN item_keys k ON k.item_id = a.item_id"},
	{"audit", "audit", "SELECT " + trailColumns + " FROM audit"},
	// What the loop asks is no act; before and after are whole plans.
	{"plan", "plan_changes", "SELECT h.id AS id, p.company_id AS company_id, h.at AS at, h.actor_kind AS actor_kind, h.actor_id AS actor_id, h.actor_name AS actor_name," +
		" '' AS address, '' AS user_agent, 'plan_' || h.what AS what, 'plan:' || p.id || ' ' || p.code AS object, h.before AS before, h.after AS after, h.note AS note" +
		" FROM plan_changes h JOIN plans p ON p.id = h.plan_id WHERE h.what <> 'asked'"},
	{"setting", "setting_changes", "SELECT c.id AS id, coalesce(y.company_id, 1) AS company_id, c.at AS at, c.actor_kind AS actor_kind, c.actor_id AS actor_id, c.actor_name AS actor_name," +
		" '' AS address, '' AS user_agent, CASE c.what WHEN 'policy' THEN 'policy_changed' WHEN 'limits' THEN 'policy_changed' WHEN 'pause' THEN 'system_paused'" +
		" WHEN 'resume' THEN 'system_resumed' WHEN 'connection' THEN 'system_changed' WHEN 'credentials' THEN 'system_credentials' ELSE replace(c.what, ' ', '_') END AS what, 'system:' || c.system_id AS object," +
		" c.before AS before, c.after AS after, CASE WHEN c.automation = '' THEN c.note WHEN c.note = '' THEN c.automation ELSE c.automation || ' · ' || c.note END AS note FROM setting_changes c LEFT JOIN systems y ON y.id = c.system_id"}, // systems may be removed
}

// AuditPage implements auth.Trail.
func (s *Store) AuditPage(ctx context.Context, f auth.AuditFilter) (page auth.AuditPage, err error) {
	if f.Limit <= 0 {
		f.Limit = 50
	}
	f.Limit = min(f.Limit, 500)
	floor, err := s.trailFloor(ctx, f)
	if err != nil {
		return page, err
	}
	q := &pageQuery{place: s.db.at}
	part := "strpos(lower(%s), lower(%s)) > 0"
	if _, file := filePath(s.cfg.URL); file {
		part = "instr(lower(%s), lower(%s)) > 0"
	}
	var branches []string
	for _, src := range trailSources {
		inner := src.inner
		if src.name == "act" {
			if !mayBeAct(f) {
				continue
			}
			if id := trailItem(f); id > 0 {
				inner += " WHERE a.item_id = " + q.add(id)
			}
		}
		branches = append(branches, "SELECT * FROM (SELECT '"+src.name+"' AS source, t.* FROM ("+inner+") t WHERE "+trailWhere(q, f, floor, src.name, part)+
			" ORDER BY t.at DESC, t.id DESC LIMIT "+strconv.Itoa(f.Limit+1)+") b")
	}
	text := "SELECT source, " + trailColumns + " FROM (" + strings.Join(branches, " UNION ALL ") + ") u ORDER BY at DESC, source DESC, id DESC LIMIT " + strconv.Itoa(f.Limit+1)
	r, err := s.db.query(ctx, text, q.args...)
	if err != nil {
		return page, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var rec auth.Record
		var kind string
		if err := r.Scan(&rec.Source, &rec.ID, &rec.CompanyID, stamp{&rec.At}, &kind, &rec.By.ID, &rec.By.Name, &rec.From.Address, &rec.From.UserAgent,
			&rec.What, &rec.Object, &rec.Before, &rec.After, &rec.Note); err != nil {
			return page, fmt.Errorf("read the audit trail: %w", err)
		}
		rec.By.Kind = work.ActorKind(kind)
		page.Records = append(page.Records, rec)
	}
	if len(page.Records) > f.Limit {
		page.Records = page.Records[:f.Limit]
		page.Next = page.Records[f.Limit-1].Cursor
	} else {
		page.Further = floor
	}
	return page, r.Err()
}

// trailWhere is the filter for one of the histories, down to the floor.
func trailWhere(q *pageQuery, f auth.AuditFilter, floor auth.Cursor, source, part string) string {
	company := f.CompanyID
	if company == 0 {
		company = 1
	}
	c := []string{"t.company_id = " + q.add(company)}
	if kind, id, ok := strings.Cut(f.Who, ":"); ok {
		c = append(c, "t.actor_kind = "+q.add(tidy(kind, maxShort)), "t.actor_id = "+q.add(tidy(id, maxShort)))
	}
	if len(f.What) > 0 {
		var places []string
		for _, what := range f.What {
			places = append(places, q.add(tidy(what, maxShort)))
		}
		c = append(c, "t.what IN ("+strings.Join(places, ", ")+")")
	}
	if f.Object != "" {
		object := q.add(tidy(f.Object, maxShort))
		c = append(c, "(t.object = "+object+" OR substr(t.object, 1, length("+object+") + 1) = "+object+" || ' ')")
	}
	c = append(c, trailWindow(q, f, source)...)
	if floor.Source != "" {
		at := q.add(q.place(floor.At))
		switch {
		case source < floor.Source:
			c = append(c, "t.at > "+at)
		case source > floor.Source:
			c = append(c, "t.at >= "+at)
		default:
			c = append(c, "(t.at, t.id) >= ("+at+", "+q.add(floor.ID)+")")
		}
	}
	if f.Text != "" {
		text := q.add(tidy(f.Text, maxShort))
		var any []string
		for _, column := range []string{"actor_name", "object", "before", "after", "note", "address", "what"} {
			any = append(any, fmt.Sprintf(part, "t."+column, text))
		}
		c = append(c, "("+strings.Join(any, " OR ")+")")
	}
	return strings.Join(c, " AND ")
}

// AuditAll implements auth.Trail.
func (s *Store) AuditAll(ctx context.Context, f auth.AuditFilter) iter.Seq2[auth.Record, error] {
	return func(yield func(auth.Record, error) bool) {
		f.Limit = 500
		for {
			page, err := s.AuditPage(ctx, f)
			if err != nil {
				yield(auth.Record{}, err)
				return
			}
			for _, r := range page.Records {
				if !yield(r, nil) {
					return
				}
			}
			if f.After = page.Next; f.After.Source == "" {
				f.After = page.Further
			}
			if f.After.Source == "" {
				return
			}
		}
	}
}
