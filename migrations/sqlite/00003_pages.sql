-- +goose Up

-- The month that an item belongs to.
ALTER TABLE item_keys ADD COLUMN period TEXT NOT NULL DEFAULT '';
UPDATE item_keys SET period = coalesce((SELECT substr(r.invoice ->> 'issue_date', 1, 7) FROM revisions r WHERE r.item_id = item_keys.item_id AND r.number = 1),
    strftime('%Y-%m', item_keys.recorded_at / 1000000, 'unixepoch'));
CREATE INDEX item_keys_period ON item_keys (company_id, period, automation, item_id);

-- The last error without what differs from item to item.
ALTER TABLE items ADD COLUMN error_kind TEXT NOT NULL DEFAULT '';
-- What was seen outside, for the comparison with what was asked.
ALTER TABLE attempts ADD COLUMN record TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE attempts DROP COLUMN record;
ALTER TABLE items DROP COLUMN error_kind;
DROP INDEX item_keys_period;
ALTER TABLE item_keys DROP COLUMN period;
