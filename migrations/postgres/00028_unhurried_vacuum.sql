-- +goose Up

-- Two of a hundred rows that changed are reason enough to vacuum: the claim walks the leftovers of what was due. But each time the indexes
-- over the whole history are read for it, at ten million items for 15 seconds as fast as the machine allows, and a busy engine is
-- due for it every minute. So it takes its time. See docs/decisions/0019-room-in-pages.md.
ALTER TABLE items SET (autovacuum_vacuum_cost_delay = 10);
ALTER TABLE attempts SET (autovacuum_vacuum_cost_delay = 10);

-- +goose Down
ALTER TABLE attempts RESET (autovacuum_vacuum_cost_delay);
ALTER TABLE items RESET (autovacuum_vacuum_cost_delay);
