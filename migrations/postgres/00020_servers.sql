-- +goose Up

-- The servers on this database, each as it last told of itself. One row is written every 15 seconds by each.
CREATE TABLE servers (
    name         text COLLATE "C" PRIMARY KEY CHECK (name <> ''),
    life         text NOT NULL, -- another one after each start
    version      text NOT NULL,
    schema       bigint NOT NULL, -- the newest migration that it knows
    state        text COLLATE "C" NOT NULL CHECK (state IN ('running', 'stopping')),
    started_at   timestamptz NOT NULL, -- these times are by the database's clock
    seen_at      timestamptz NOT NULL,
    clock_ahead  bigint NOT NULL, -- of its own clock, before the database's; microseconds, not more than is certain
    jumped       bigint NOT NULL DEFAULT 0, -- how far its clock was last moved, microseconds
    jumped_at    timestamptz,
    twin         text NOT NULL DEFAULT '', -- the life of another server that used the name at the same time
    twin_at      timestamptz
) WITH (fillfactor = 50);

-- What a program must know to run on this schema: the number of the last migration that the previous version does not
-- tolerate. See migrations/README.md.
CREATE TABLE schema_needs (
    one     smallint PRIMARY KEY CHECK (one = 1),
    version bigint NOT NULL
);
INSERT INTO schema_needs (one, version) VALUES (1, 20);

-- +goose Down
DROP TABLE schema_needs;
DROP TABLE servers;
