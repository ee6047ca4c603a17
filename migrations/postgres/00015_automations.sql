-- +goose Up

-- Automations that somebody switched. One without a row is on.
CREATE TABLE automations (
    company_id bigint NOT NULL,
    name       text COLLATE "C" NOT NULL CHECK (name <> ''),
    off_at     timestamptz, -- none: it is on
    off_kind   text NOT NULL,
    off_id     text NOT NULL,
    off_name   text NOT NULL,
    off_note   text NOT NULL,
    version    bigint NOT NULL CHECK (version >= 1),
    PRIMARY KEY (company_id, name),
    CONSTRAINT automations_off CHECK ((off_at IS NOT NULL) = (off_kind <> ''))
);

-- +goose Down
DROP TABLE automations;
