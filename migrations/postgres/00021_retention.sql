-- +goose Up

-- Which table held our rows: a dump that is put back into the same database makes the table anew.
ALTER TABLE installation ADD COLUMN database_table text NOT NULL DEFAULT '';

-- How long a kind of history is kept. A kind without a row is kept as long as Onefold suggests.
CREATE TABLE retention_settings (
    company_id bigint NOT NULL,
    kind       text COLLATE "C" NOT NULL CHECK (kind <> ''),
    months     integer NOT NULL CHECK (months >= 0), -- 0: for ever
    PRIMARY KEY (company_id, kind)
);

-- How far each kind of history is removed: nothing before this place is looked at again.
CREATE TABLE retention_walks (
    company_id bigint NOT NULL,
    walk       text COLLATE "C" NOT NULL CHECK (walk <> ''),
    after_at   timestamptz,
    after_id   bigint NOT NULL,
    removed    bigint NOT NULL CHECK (removed >= 0), -- rows, since the beginning
    moved_at   timestamptz NOT NULL,
    PRIMARY KEY (company_id, walk)
);

-- One row: the server that removes.
CREATE TABLE retention_hold (
    one        smallint PRIMARY KEY CHECK (one = 1),
    held_by    text COLLATE "C" NOT NULL,
    held_until timestamptz
);
INSERT INTO retention_hold (one, held_by) VALUES (1, '');

-- Items whose history is not whole any more, and when that was done last.
CREATE TABLE pruned_items (
    item_id  bigint PRIMARY KEY,
    at       timestamptz NOT NULL,
    attempts bigint NOT NULL CHECK (attempts >= 1) -- that were removed
);

-- +goose Down
DROP TABLE pruned_items, retention_hold, retention_walks, retention_settings;
ALTER TABLE installation DROP COLUMN database_table;
