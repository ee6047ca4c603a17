-- +goose Up

-- The servers on this database, each as it last told of itself. One row is written every 15 seconds by each.
CREATE TABLE servers (
    name         text PRIMARY KEY CHECK (name <> ''),
    life         text NOT NULL, -- another one after each start
    version      text NOT NULL,
    schema       integer NOT NULL, -- the newest migration that it knows
    state        text NOT NULL CHECK (state IN ('running', 'stopping')),
    started_at   integer NOT NULL, -- these times are by the clock of the database, microseconds
    seen_at      integer NOT NULL,
    clock_ahead  integer NOT NULL, -- of its own clock, before the database's; microseconds, not more than is certain
    jumped       integer NOT NULL DEFAULT 0, -- how far its clock was last moved, microseconds
    jumped_at    integer,
    twin         text NOT NULL DEFAULT '', -- the life of another server that used the name at the same time
    twin_at      integer
);

-- What a program must know to run on this schema: the number of the last migration that the previous version does not
-- tolerate. See migrations/README.md.
CREATE TABLE schema_needs (
    one     integer PRIMARY KEY CHECK (one = 1),
    version integer NOT NULL
);
INSERT INTO schema_needs (one, version) VALUES (1, 20);

-- +goose Down
DROP TABLE schema_needs;
DROP TABLE servers;
