-- +goose Up

-- items_open once more, with when an item should be settled: to look for overdue items, which every server does all the time,
-- reads the index alone.
CREATE INDEX items_open_settle ON items (company_id, status, automation, system_id, changed_at, id, previous_id, reason, error_kind, settle_by)
    WHERE status IN ('review', 'pending', 'queued', 'failed') AND id > 0;
DROP INDEX items_open;

-- +goose Down
CREATE INDEX items_open ON items (company_id, status, automation, system_id, changed_at, id, previous_id, reason, error_kind)
    WHERE status IN ('review', 'pending', 'queued', 'failed') AND id > 0;
DROP INDEX items_open_settle;
