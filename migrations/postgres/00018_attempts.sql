-- +goose Up

-- The attempts of all items, newest first. It is written once, at the opening of an attempt and at the index's right end, and
-- with all three columns a page goes on in the middle of a batch that began at one instant. What the end of an attempt fills
-- in must be in no index, not even as a condition: each close would then write every index of the table once more.
CREATE INDEX attempts_started ON attempts (started_at, item_id, number);

-- +goose Down
DROP INDEX attempts_started;
