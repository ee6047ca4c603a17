-- +goose Up

-- The reports of accounting systems, their own exports, that people upload to compare with what we know.
CREATE TABLE reports (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id bigint NOT NULL,
    system_id  text COLLATE "C" NOT NULL REFERENCES systems (id),
    name       text NOT NULL,
    state      text COLLATE "C" NOT NULL CHECK (state IN ('open', 'applying', 'applied', 'removed')),
    version    bigint NOT NULL CHECK (version >= 1),
    made_by    text NOT NULL,
    made_at    timestamptz NOT NULL,
    body       text NOT NULL, -- how it is read and what was found, as JSON
    applied_by text NOT NULL DEFAULT '', -- the actor, as JSON
    applied_at timestamptz,
    done_at    timestamptz
);
CREATE INDEX reports_system ON reports (company_id, system_id, id);
CREATE INDEX reports_applying ON reports (id) WHERE state = 'applying';

CREATE TABLE report_files (
    report_id bigint PRIMARY KEY REFERENCES reports (id),
    content   bytea NOT NULL
);

-- What was shown before it was applied: with the items' versions.
CREATE TABLE report_lines (
    report_id bigint NOT NULL REFERENCES reports (id),
    number    integer NOT NULL CHECK (number >= 1),
    kind      text COLLATE "C" NOT NULL CHECK (kind IN ('match', 'different', 'absent', 'unclear', 'missing', 'stranger')),
    applies   boolean NOT NULL,
    body      text NOT NULL,
    result    text NOT NULL DEFAULT '',
    PRIMARY KEY (report_id, number)
);

-- +goose Down
DROP TABLE report_lines, report_files, reports;
