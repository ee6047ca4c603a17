-- +goose Up

-- Whose limits were changed, if not the whole system's, and why.
ALTER TABLE setting_changes ADD COLUMN automation text NOT NULL DEFAULT '';
ALTER TABLE setting_changes ADD COLUMN note text NOT NULL DEFAULT '';

-- Systems whose waiting items are to be planned anew, because their limits changed: once now, and once more when every
-- call that was claimed under the old limits is over.
CREATE TABLE replans (
    system_id text PRIMARY KEY,
    change_id integer NOT NULL,
    again_at  integer NOT NULL,
    again     integer NOT NULL DEFAULT 0, -- the first time is done
    after_id  integer NOT NULL DEFAULT 0 -- items up to this one are done
);

-- +goose Down
DROP TABLE replans;
ALTER TABLE setting_changes DROP COLUMN note;
ALTER TABLE setting_changes DROP COLUMN automation;
