-- +goose Up

-- Files that people bring in: read, checked, shown, and then recorded row by row.
CREATE TABLE imports (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id bigint NOT NULL,
    system_id  text COLLATE "C" NOT NULL REFERENCES systems (id),
    automation text NOT NULL,
    name       text NOT NULL,
    hash       text COLLATE "C" NOT NULL DEFAULT '', -- of the content; empty until all of it is here
    size       bigint NOT NULL DEFAULT 0,
    state      text COLLATE "C" NOT NULL CHECK (state IN ('uploading', 'checking', 'ready', 'importing', 'done', 'holding', 'stopped', 'removed')),
    version    bigint NOT NULL CHECK (version >= 1),
    made_by    text NOT NULL, -- the actor, as JSON
    made_at    timestamptz NOT NULL,
    began_by   text NOT NULL DEFAULT '',
    began_at   timestamptz,
    done_at    timestamptz,
    checked_at timestamptz,
    row_count  bigint NOT NULL DEFAULT 0,
    row_read   bigint NOT NULL DEFAULT 0, -- of the check that is going on
    promised   bigint NOT NULL DEFAULT 0, -- how many the button named
    todo       bigint NOT NULL DEFAULT 0,
    new        bigint NOT NULL DEFAULT 0,
    known      bigint NOT NULL DEFAULT 0,
    conflict   bigint NOT NULL DEFAULT 0,
    refused    bigint NOT NULL DEFAULT 0,
    body       text NOT NULL, -- how it is read and what it adds up to, as JSON
    held_by    text COLLATE "C" NOT NULL DEFAULT '', -- the server that is at it
    held_until timestamptz
);
CREATE INDEX imports_list ON imports (company_id, id);
CREATE INDEX imports_hash ON imports (company_id, hash, id);
-- One file is under way once.
CREATE UNIQUE INDEX imports_once ON imports (company_id, hash) WHERE state IN ('checking', 'ready', 'importing');
CREATE INDEX imports_open ON imports (id) WHERE state IN ('uploading', 'checking', 'ready', 'importing', 'holding');

-- The file itself, until it is checked and begun: any server may go on with it.
CREATE TABLE import_chunks (
    import_id bigint NOT NULL REFERENCES imports (id),
    n         integer NOT NULL CHECK (n >= 0),
    content   bytea NOT NULL,
    PRIMARY KEY (import_id, n)
);

-- What was shown before it began, and then what became of it.
CREATE TABLE import_rows (
    import_id bigint NOT NULL REFERENCES imports (id),
    n         integer NOT NULL CHECK (n >= 1),
    line      integer NOT NULL,
    outcome   text COLLATE "C" NOT NULL CHECK (outcome IN ('todo', 'new', 'known', 'conflict', 'refused')),
    key       text NOT NULL,
    customer  text NOT NULL,
    currency  text NOT NULL,
    amount    text NOT NULL,
    detail    text NOT NULL,
    who       text NOT NULL,
    item_id   bigint NOT NULL DEFAULT 0,
    content   text NOT NULL, -- what is to be recorded, as JSON; empty once it is
    PRIMARY KEY (import_id, n)
);
CREATE INDEX import_rows_outcome ON import_rows (import_id, outcome, n);

-- How a file with certain headings was read the last time.
CREATE TABLE import_shapes (
    company_id bigint NOT NULL,
    shape      text COLLATE "C" NOT NULL,
    body       text NOT NULL,
    PRIMARY KEY (company_id, shape)
);

-- +goose Down
DROP TABLE import_shapes;
DROP TABLE import_rows;
DROP TABLE import_chunks;
DROP TABLE imports;
