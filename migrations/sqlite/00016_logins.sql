-- +goose Up

-- The login of a system whose account a person connected in the browser; all servers share it. The row stays when the
-- account is disconnected, so that no version comes twice.
CREATE TABLE system_logins (
    system_id      text PRIMARY KEY REFERENCES systems (id) ON DELETE CASCADE,
    company_id     integer NOT NULL,
    token          text    NOT NULL, -- sealed; empty: disconnected
    expires_at     integer,         -- of the access; none: never, or not told
    refused_at     integer,         -- when the system refused to renew it; none: it did not
    refused_why    text    NOT NULL,
    renewing_by    text    NOT NULL, -- who began the newest renewal, until its result is stored
    renewing_until integer,         -- nobody else begins one before
    version        integer NOT NULL CHECK (version >= 1), -- counts on with the token
    scopes         text    NOT NULL,
    connected_kind text    NOT NULL,
    connected_id   text    NOT NULL,
    connected_name text    NOT NULL,
    connected_at   integer NOT NULL,
    CONSTRAINT system_logins_refused CHECK ((refused_at IS NOT NULL) = (refused_why <> '')),
    CONSTRAINT system_logins_renewing CHECK ((renewing_until IS NOT NULL) = (renewing_by <> ''))
);

-- What a server must remember while a person is at the accounting system to connect an account: good once.
CREATE TABLE login_trips (
    id         text PRIMARY KEY CHECK (id <> ''), -- a hash of what the browser holds
    system_id  text NOT NULL REFERENCES systems (id) ON DELETE CASCADE,
    person_id  text    NOT NULL CHECK (person_id <> ''),
    sealed     text    NOT NULL CHECK (sealed <> ''),
    expires_at integer NOT NULL
);

-- +goose Down
DROP TABLE login_trips;
DROP TABLE system_logins;
