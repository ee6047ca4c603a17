-- +goose Up

-- Runs that prove what a system declares, on the system itself. They stay when the system is removed.
CREATE TABLE proofs (
    id         integer PRIMARY KEY AUTOINCREMENT,
    company_id integer NOT NULL,
    system_id  text NOT NULL CHECK (system_id <> ''),
    state      text NOT NULL CHECK (state IN ('waiting', 'running', 'proven', 'failed', 'not_possible', 'interrupted')),
    version    integer NOT NULL CHECK (version >= 1),
    made_by    text NOT NULL, -- the actor, as JSON
    made_at    integer NOT NULL,
    ended_at   integer,
    live       integer NOT NULL CHECK (live IN (0, 1)), -- live books: only drafts were made
    reached    text NOT NULL, -- the connection that it is about
    body       text NOT NULL, -- what was asked, the steps, what was seen and what it left, as JSON
    held_by    text NOT NULL DEFAULT '', -- the server that is at it
    held_until integer,
    CONSTRAINT proofs_ended CHECK ((ended_at IS NULL) = (state IN ('waiting', 'running')))
);
CREATE INDEX proofs_list ON proofs (system_id, id);
-- A system is proven by one run at a time.
CREATE UNIQUE INDEX proofs_once ON proofs (system_id) WHERE ended_at IS NULL;

ALTER TABLE systems ADD COLUMN typed integer NOT NULL DEFAULT 0; -- an admin typed what it can do
ALTER TABLE systems ADD COLUMN seen text NOT NULL DEFAULT '';    -- what the last proof saw, as JSON; empty: nothing
ALTER TABLE systems ADD COLUMN caution text NOT NULL DEFAULT ''; -- what is not relied on any more, as JSON; empty: all is

-- Automations that a person let run on a system that was never proven.
CREATE TABLE unproven_runs (
    company_id integer NOT NULL,
    automation text NOT NULL CHECK (automation <> ''),
    system_id  text NOT NULL CHECK (system_id <> ''),
    PRIMARY KEY (company_id, automation, system_id)
);

-- +goose Down
DROP TABLE unproven_runs;
ALTER TABLE systems DROP COLUMN caution;
ALTER TABLE systems DROP COLUMN seen;
ALTER TABLE systems DROP COLUMN typed;
DROP TABLE proofs;
