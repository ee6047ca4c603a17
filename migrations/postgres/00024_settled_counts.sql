-- +goose Up

-- How many items of a company are finished and closed, where counting takes long: the servers share what one has counted, and a
-- server that starts has something to show.
CREATE TABLE settled_counts (
    company_id bigint PRIMARY KEY,
    finished   bigint NOT NULL,
    closed     bigint NOT NULL,
    took       bigint NOT NULL, -- microseconds
    counted_at timestamptz NOT NULL
);

-- +goose Down
DROP TABLE settled_counts;
