-- +goose Up
-- +goose NO TRANSACTION

-- items_open once more, with when an item should be settled: to look for overdue items, which every server does all the time,
-- reads the index alone. The former one serves until this one is there.
DROP INDEX IF EXISTS items_open_settle;
CREATE INDEX CONCURRENTLY items_open_settle ON items (company_id, status, automation, system_id, changed_at, id) INCLUDE (previous_id, reason, error_kind, settle_by)
    WHERE status IN ('review', 'pending', 'queued', 'failed') AND id > 0;
DROP INDEX IF EXISTS items_open;

-- +goose Down
CREATE INDEX CONCURRENTLY items_open ON items (company_id, status, automation, system_id, changed_at, id) INCLUDE (previous_id, reason, error_kind)
    WHERE status IN ('review', 'pending', 'queued', 'failed') AND id > 0;
DROP INDEX items_open_settle;
