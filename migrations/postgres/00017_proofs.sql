-- +goose Up

-- Runs that prove what a system declares, on the system itself. They stay when the system is removed.
CREATE TABLE proofs (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id bigint NOT NULL,
    system_id  text COLLATE "C" NOT NULL CHECK (system_id <> ''),
    state      text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'running', 'proven', 'failed', 'not_possible', 'interrupted')),
    version    bigint NOT NULL CHECK (version >= 1),
    made_by    text NOT NULL, -- the actor, as JSON
    made_at    timestamptz NOT NULL,
    ended_at   timestamptz,
    live       boolean NOT NULL, -- live books: only drafts were made
    reached    text COLLATE "C" NOT NULL, -- the connection that it is about
    body       text NOT NULL, -- what was asked, the steps, what was seen and what it left, as JSON
    held_by    text COLLATE "C" NOT NULL DEFAULT '', -- the server that is at it
    held_until timestamptz,
    CONSTRAINT proofs_ended CHECK ((ended_at IS NULL) = (state IN ('waiting', 'running')))
);
CREATE INDEX proofs_list ON proofs (system_id, id);
-- A system is proven by one run at a time.
CREATE UNIQUE INDEX proofs_once ON proofs (system_id) WHERE ended_at IS NULL;

ALTER TABLE systems ADD COLUMN typed boolean NOT NULL DEFAULT false; -- an admin typed what it can do
ALTER TABLE systems ADD COLUMN seen text NOT NULL DEFAULT '';    -- what the last proof saw, as JSON; empty: nothing
ALTER TABLE systems ADD COLUMN caution text NOT NULL DEFAULT ''; -- what is not relied on any more, as JSON; empty: all is

-- Automations that a person let run on a system that was never proven.
CREATE TABLE unproven_runs (
    company_id bigint NOT NULL,
    automation text COLLATE "C" NOT NULL CHECK (automation <> ''),
    system_id  text COLLATE "C" NOT NULL CHECK (system_id <> ''),
    PRIMARY KEY (company_id, automation, system_id)
);

-- +goose Down
DROP TABLE unproven_runs;
ALTER TABLE systems DROP COLUMN caution;
ALTER TABLE systems DROP COLUMN seen;
ALTER TABLE systems DROP COLUMN typed;
DROP TABLE proofs;
