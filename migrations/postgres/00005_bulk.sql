-- +goose Up

-- One plan carried out with a frozen set of items.
CREATE TABLE bulk_runs (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id  bigint NOT NULL,
    form        text COLLATE "C" NOT NULL CHECK (form <> ''), -- of the form that began it: sent twice it begins one run
    plan        text COLLATE "C" NOT NULL CHECK (plan IN ('repair', 'check', 'retry', 'hold', 'close', 'assign')),
    state       text COLLATE "C" NOT NULL CHECK (state IN ('preparing', 'running', 'stopping', 'stopped', 'finished', 'abandoned')),
    list        text NOT NULL DEFAULT '',
    why         text NOT NULL DEFAULT '',
    note        text NOT NULL DEFAULT '',
    assign_to   text NOT NULL DEFAULT '',
    actor_kind  text NOT NULL,
    actor_id    text NOT NULL,
    actor_name  text NOT NULL,
    actor_roles text NOT NULL,
    previewed   bigint NOT NULL DEFAULT 0, -- how many there were when the person looked
    size        bigint NOT NULL DEFAULT 0,
    looked      bigint NOT NULL DEFAULT 0,
    began_at    timestamptz NOT NULL,
    ended_at    timestamptz,
    stopped_by  text NOT NULL DEFAULT '',
    held_by     text COLLATE "C" NOT NULL DEFAULT '', -- the server that is at it
    held_until  timestamptz,
    version     bigint NOT NULL DEFAULT 1,
    CONSTRAINT bulk_runs_ended CHECK ((ended_at IS NULL) = (state IN ('preparing', 'running', 'stopping')))
);
CREATE UNIQUE INDEX bulk_runs_form ON bulk_runs (company_id, form);
CREATE INDEX bulk_runs_open ON bulk_runs (id) WHERE ended_at IS NULL;

-- The set: each item once, in the version that it had when it was frozen.
CREATE TABLE bulk_items (
    run_id   bigint NOT NULL REFERENCES bulk_runs (id),
    n        integer NOT NULL CHECK (n >= 1),
    item_id  bigint NOT NULL REFERENCES item_keys (item_id),
    version  bigint NOT NULL,
    looking  timestamptz, -- since when a look that the run asked for is awaited
    outcome  text COLLATE "C" NOT NULL DEFAULT '', -- empty: still to do
    detail   text NOT NULL DEFAULT '',
    who      text NOT NULL DEFAULT '',
    at       timestamptz,
    PRIMARY KEY (run_id, n)
);
CREATE UNIQUE INDEX bulk_items_once ON bulk_items (run_id, item_id);
CREATE INDEX bulk_items_new ON bulk_items (run_id, n) WHERE outcome = '' AND looking IS NULL;
CREATE INDEX bulk_items_looking ON bulk_items (run_id, n) WHERE outcome = '' AND looking IS NOT NULL;

-- How many items of a run came out how.
CREATE TABLE bulk_tallies (
    run_id  bigint NOT NULL REFERENCES bulk_runs (id),
    outcome text COLLATE "C" NOT NULL CHECK (outcome <> ''),
    items   bigint NOT NULL,
    PRIMARY KEY (run_id, outcome)
);

-- +goose Down
DROP TABLE bulk_tallies;
DROP TABLE bulk_items;
DROP TABLE bulk_runs;
