-- +goose Up
-- +goose NO TRANSACTION

-- What is open, by what the list is filtered by, and with all that its counts and groups ask of a row: they no longer read the
-- rows themselves. A call that confirms an item writes neither. A statement that wants one of these indexes says so with
-- id > 0: for a page of one status the planner would often take one of them too, and sort what the list's index has in order.
DROP INDEX IF EXISTS items_open;
CREATE INDEX CONCURRENTLY items_open ON items (company_id, status, automation, system_id, changed_at, id) INCLUDE (previous_id, reason, error_kind)
    WHERE status IN ('review', 'pending', 'queued', 'failed') AND id > 0;
DROP INDEX IF EXISTS items_open_period;
CREATE INDEX CONCURRENTLY items_open_period ON items (company_id, period, status, changed_at, id)
    WHERE status IN ('review', 'pending', 'queued', 'failed') AND id > 0;

-- +goose Down
DROP INDEX items_open_period;
DROP INDEX items_open;
