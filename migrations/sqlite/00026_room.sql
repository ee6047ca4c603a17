-- +goose Up

-- SQLite changes rows in place and needs no room; the number is PostgreSQL's. See docs/decisions/0019-room-in-pages.md.
SELECT 1;

-- +goose Down
SELECT 1;
