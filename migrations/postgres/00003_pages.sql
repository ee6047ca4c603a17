-- +goose Up

-- The month that an item belongs to.
ALTER TABLE item_keys ADD COLUMN period text COLLATE "C" NOT NULL DEFAULT '';
UPDATE item_keys AS k SET period = coalesce((SELECT left(r.invoice ->> 'issue_date', 7) FROM revisions r WHERE r.item_id = k.item_id AND r.number = 1),
    to_char(k.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM'));
CREATE INDEX item_keys_period ON item_keys (company_id, period, automation, item_id);

-- The last error without what differs from item to item.
ALTER TABLE items ADD COLUMN error_kind text NOT NULL DEFAULT '';
-- What was seen outside, for the comparison with what was asked.
ALTER TABLE attempts ADD COLUMN record text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE attempts DROP COLUMN record;
ALTER TABLE items DROP COLUMN error_kind;
DROP INDEX item_keys_period;
ALTER TABLE item_keys DROP COLUMN period;
