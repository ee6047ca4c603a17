-- +goose Up

-- How far the set of a run that is being prepared is written down, as JSON; NULL once it is complete. A run that is being
-- prepared and has none was begun by the version before, which writes the set down while its form waits.
ALTER TABLE bulk_runs ADD COLUMN freezing text;

-- +goose Down
ALTER TABLE bulk_runs DROP COLUMN freezing;
