-- +goose Up

-- Of the calls: those of which nothing left us. Before this they were among those without a clear answer.
ALTER TABLE system_calls ADD COLUMN not_sent integer NOT NULL DEFAULT 0 CHECK (not_sent >= 0);

-- +goose Down
ALTER TABLE system_calls DROP COLUMN not_sent;
