-- +goose Up

-- SQLite has no vacuum in the background; the number is PostgreSQL's.
SELECT 1;

-- +goose Down
SELECT 1;
