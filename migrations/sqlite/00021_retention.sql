-- +goose Up

-- Which table held our rows: a dump that is put back into the same database makes the table anew.
ALTER TABLE installation ADD COLUMN database_table text NOT NULL DEFAULT '';

-- How long a kind of history is kept. A kind without a row is kept as long as Onefold suggests.
CREATE TABLE retention_settings (
    company_id integer NOT NULL,
    kind       text NOT NULL CHECK (kind <> ''),
    months     integer NOT NULL CHECK (months >= 0), -- 0: for ever
    PRIMARY KEY (company_id, kind)
);

-- How far each kind of history is removed: nothing before this place is looked at again.
CREATE TABLE retention_walks (
    company_id integer NOT NULL,
    walk       text NOT NULL CHECK (walk <> ''),
    after_at   integer,
    after_id   integer NOT NULL,
    removed    integer NOT NULL CHECK (removed >= 0), -- rows, since the beginning
    moved_at   integer NOT NULL,
    PRIMARY KEY (company_id, walk)
);

-- One row: the server that removes.
CREATE TABLE retention_hold (
    one        integer PRIMARY KEY CHECK (one = 1),
    held_by    text NOT NULL,
    held_until integer
);
INSERT INTO retention_hold (one, held_by) VALUES (1, '');

-- Items whose history is not whole any more, and when that was done last.
CREATE TABLE pruned_items (
    item_id  integer PRIMARY KEY,
    at       integer NOT NULL,
    attempts integer NOT NULL CHECK (attempts >= 1) -- that were removed
);

-- +goose Down
DROP TABLE pruned_items;
DROP TABLE retention_hold;
DROP TABLE retention_walks;
DROP TABLE retention_settings;
ALTER TABLE installation DROP COLUMN database_table;
