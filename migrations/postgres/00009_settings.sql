-- +goose Up

-- What automations do differently from their system's policy, and what an adapter needs to be told; both as JSON.
ALTER TABLE systems ADD COLUMN overrides text NOT NULL DEFAULT '';
ALTER TABLE systems ADD COLUMN settings text NOT NULL DEFAULT '';
-- Sealed; never read with the rest of the row.
ALTER TABLE systems ADD COLUMN credentials text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE systems DROP COLUMN credentials;
ALTER TABLE systems DROP COLUMN settings;
ALTER TABLE systems DROP COLUMN overrides;
