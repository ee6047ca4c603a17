-- +goose Up

-- The list's filters. What never changes about an item has its indexes beside the item, where they are written once;
-- those on the state hold only rows with trouble, or are written when an item is settled.
CREATE INDEX items_reason ON items (company_id, status, reason, changed_at, id) WHERE reason <> '';
CREATE INDEX items_error ON items (company_id, status, error_kind, changed_at, id) WHERE error_kind <> '';
CREATE INDEX items_assigned ON items (company_id, status, assigned_to, changed_at, id) WHERE assigned_to <> '';
DROP INDEX item_keys_source;
CREATE INDEX item_keys_source ON item_keys (source, period, item_id) WHERE source <> '';
CREATE INDEX item_keys_automation ON item_keys (company_id, automation, system_id, item_id);
-- The amount in ten-thousandths, which every currency fits exactly: text has no order of numbers, a float is not exact.
ALTER TABLE revisions ADD COLUMN units INTEGER GENERATED ALWAYS AS
    (CAST(substr(total, 1, instr(total || '.', '.') - 1) || substr(substr(total, instr(total || '.', '.') + 1) || '0000', 1, 4) AS INTEGER)) VIRTUAL;
CREATE INDEX revisions_amount ON revisions (currency, units, item_id);

-- The automation and the month stand with the state too: old rows are found in the order of the list, without a walk past
-- all newer ones.
ALTER TABLE items ADD COLUMN automation TEXT NOT NULL DEFAULT '';
ALTER TABLE items ADD COLUMN period TEXT NOT NULL DEFAULT '';
UPDATE items SET (automation, period) = (SELECT k.automation, k.period FROM item_keys k WHERE k.item_id = items.id);
CREATE INDEX items_automation ON items (company_id, automation, system_id, status, changed_at, id) WHERE status IN ('confirmed', 'resolved', 'closed');
CREATE INDEX items_period ON items (company_id, period, status, changed_at, id) WHERE status IN ('confirmed', 'resolved', 'closed');

-- Lists that somebody saved under a name.
CREATE TABLE saved_views (
    id         integer PRIMARY KEY AUTOINCREMENT,
    company_id integer NOT NULL,
    owner      text NOT NULL CHECK (owner <> ''),
    name       text NOT NULL CHECK (name <> ''),
    address    text NOT NULL CHECK (address <> ''),
    shared     integer NOT NULL
);
CREATE UNIQUE INDEX saved_views_name ON saved_views (company_id, owner, name);

-- +goose Down
DROP TABLE saved_views;
DROP INDEX items_period;
DROP INDEX items_automation;
ALTER TABLE items DROP COLUMN period;
ALTER TABLE items DROP COLUMN automation;
DROP INDEX revisions_amount;
ALTER TABLE revisions DROP COLUMN units;
DROP INDEX item_keys_automation;
DROP INDEX item_keys_source;
CREATE INDEX item_keys_source ON item_keys (source, item_id) WHERE source <> '';
DROP INDEX items_assigned;
DROP INDEX items_error;
DROP INDEX items_reason;
