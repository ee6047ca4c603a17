-- +goose Up

-- Automations that somebody switched. One without a row is on.
CREATE TABLE automations (
    company_id integer NOT NULL,
    name       text NOT NULL CHECK (name <> ''),
    off_at     integer, -- none: it is on
    off_kind   text NOT NULL,
    off_id     text NOT NULL,
    off_name   text NOT NULL,
    off_note   text NOT NULL,
    version    integer NOT NULL CHECK (version >= 1),
    PRIMARY KEY (company_id, name),
    CONSTRAINT automations_off CHECK ((off_at IS NOT NULL) = (off_kind <> ''))
);

-- +goose Down
DROP TABLE automations;
