-- +goose Up

ALTER TABLE systems ADD COLUMN breaker_since integer;
-- Counts on with the credentials, so that every server notices that they changed.
ALTER TABLE systems ADD COLUMN credentials_version integer NOT NULL DEFAULT 0;

-- What calls to each system brought back, in slots of five minutes: a page must not count attempts.
CREATE TABLE system_calls (
    system_id  text    NOT NULL,
    slot       integer NOT NULL,
    calls      integer NOT NULL CHECK (calls >= 0),
    unanswered integer NOT NULL CHECK (unanswered >= 0), -- not reached, or no clear answer
    refused    integer NOT NULL CHECK (refused >= 0),    -- answered, with a refusal
    PRIMARY KEY (system_id, slot)
);

-- +goose Down
DROP TABLE system_calls;
ALTER TABLE systems DROP COLUMN credentials_version;
ALTER TABLE systems DROP COLUMN breaker_since;
