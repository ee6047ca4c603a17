-- +goose Up

-- The reports of accounting systems, their own exports, that people upload to compare with what we know.
CREATE TABLE reports (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL,
    system_id  TEXT NOT NULL REFERENCES systems (id),
    name       TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('open', 'applying', 'applied', 'removed')),
    version    INTEGER NOT NULL CHECK (version >= 1),
    made_by    TEXT NOT NULL,
    made_at    INTEGER NOT NULL,
    body       TEXT NOT NULL, -- how it is read and what was found, as JSON
    applied_by TEXT NOT NULL DEFAULT '', -- the actor, as JSON
    applied_at INTEGER,
    done_at    INTEGER
);
CREATE INDEX reports_system ON reports (company_id, system_id, id);
CREATE INDEX reports_applying ON reports (id) WHERE state = 'applying';

CREATE TABLE report_files (
    report_id INTEGER PRIMARY KEY REFERENCES reports (id),
    content   BLOB NOT NULL
);

-- What was shown before it was applied: with the items' versions.
CREATE TABLE report_lines (
    report_id INTEGER NOT NULL REFERENCES reports (id),
    number    INTEGER NOT NULL CHECK (number >= 1),
    kind      TEXT NOT NULL CHECK (kind IN ('match', 'different', 'absent', 'unclear', 'missing', 'stranger')),
    applies   INTEGER NOT NULL,
    body      TEXT NOT NULL,
    result    TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (report_id, number)
);

-- +goose Down
DROP TABLE report_lines;
DROP TABLE report_files;
DROP TABLE reports;
