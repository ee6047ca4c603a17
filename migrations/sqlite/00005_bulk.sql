-- +goose Up

-- One plan carried out with a frozen set of items.
CREATE TABLE bulk_runs (
    id          integer PRIMARY KEY AUTOINCREMENT,
    company_id  integer NOT NULL,
    form        text NOT NULL CHECK (form <> ''), -- of the form that began it: sent twice it begins one run
    plan        text NOT NULL CHECK (plan IN ('repair', 'check', 'retry', 'hold', 'close', 'assign')),
    state       text NOT NULL CHECK (state IN ('preparing', 'running', 'stopping', 'stopped', 'finished', 'abandoned')),
    list        text NOT NULL DEFAULT '',
    why         text NOT NULL DEFAULT '',
    note        text NOT NULL DEFAULT '',
    assign_to   text NOT NULL DEFAULT '',
    actor_kind  text NOT NULL,
    actor_id    text NOT NULL,
    actor_name  text NOT NULL,
    actor_roles text NOT NULL,
    previewed   integer NOT NULL DEFAULT 0, -- how many there were when the person looked
    size        integer NOT NULL DEFAULT 0,
    looked      integer NOT NULL DEFAULT 0,
    began_at    integer NOT NULL,
    ended_at    integer,
    stopped_by  text NOT NULL DEFAULT '',
    held_by     text NOT NULL DEFAULT '', -- the server that is at it
    held_until  integer,
    version     integer NOT NULL DEFAULT 1,
    CONSTRAINT bulk_runs_ended CHECK ((ended_at IS NULL) = (state IN ('preparing', 'running', 'stopping')))
);
CREATE UNIQUE INDEX bulk_runs_form ON bulk_runs (company_id, form);
CREATE INDEX bulk_runs_open ON bulk_runs (id) WHERE ended_at IS NULL;

-- The set: each item once, in the version that it had when it was frozen.
CREATE TABLE bulk_items (
    run_id   integer NOT NULL REFERENCES bulk_runs (id),
    n        integer NOT NULL CHECK (n >= 1),
    item_id  integer NOT NULL REFERENCES item_keys (item_id),
    version  integer NOT NULL,
    looking  integer, -- since when a look that the run asked for is awaited
    outcome  text NOT NULL DEFAULT '', -- empty: still to do
    detail   text NOT NULL DEFAULT '',
    who      text NOT NULL DEFAULT '',
    at       integer,
    PRIMARY KEY (run_id, n)
);
CREATE UNIQUE INDEX bulk_items_once ON bulk_items (run_id, item_id);
CREATE INDEX bulk_items_new ON bulk_items (run_id, n) WHERE outcome = '' AND looking IS NULL;
CREATE INDEX bulk_items_looking ON bulk_items (run_id, n) WHERE outcome = '' AND looking IS NOT NULL;

-- How many items of a run came out how.
CREATE TABLE bulk_tallies (
    run_id  integer NOT NULL REFERENCES bulk_runs (id),
    outcome text NOT NULL CHECK (outcome <> ''),
    items   integer NOT NULL,
    PRIMARY KEY (run_id, outcome)
);

-- +goose Down
DROP TABLE bulk_tallies;
DROP TABLE bulk_items;
DROP TABLE bulk_runs;
