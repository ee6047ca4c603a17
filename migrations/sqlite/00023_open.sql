-- +goose Up

-- What is open, by what the list is filtered by, and with all that its counts and groups ask of a row: they no longer read the
-- rows themselves. A call that confirms an item writes neither. A statement that wants one of these indexes says so with
-- id > 0.
CREATE INDEX items_open ON items (company_id, status, automation, system_id, changed_at, id, previous_id, reason, error_kind)
    WHERE status IN ('review', 'pending', 'queued', 'failed') AND id > 0;
CREATE INDEX items_open_period ON items (company_id, period, status, changed_at, id)
    WHERE status IN ('review', 'pending', 'queued', 'failed') AND id > 0;

-- +goose Down
DROP INDEX items_open_period;
DROP INDEX items_open;
