-- +goose Up

-- How many items of a company are finished and closed, where counting takes long: the servers share what one has counted, and a
-- server that starts has something to show.
CREATE TABLE settled_counts (
    company_id integer PRIMARY KEY,
    finished   integer NOT NULL,
    closed     integer NOT NULL,
    took       integer NOT NULL, -- microseconds
    counted_at integer NOT NULL
);

-- +goose Down
DROP TABLE settled_counts;
