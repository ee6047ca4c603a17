-- +goose Up

CREATE TABLE users (
    id                  integer PRIMARY KEY AUTOINCREMENT,
    company_id          integer NOT NULL,
    login               text NOT NULL CHECK (login <> ''),
    folded_login        text NOT NULL CHECK (folded_login <> ''),
    name                text NOT NULL,
    roles               text NOT NULL, -- with commas, in order
    password_hash       text NOT NULL DEFAULT '',  -- empty: no sign-in by password
    password_changed_at integer,
    must_change         integer NOT NULL DEFAULT 0,
    disabled_at         integer,
    totp_secret         text NOT NULL DEFAULT '',  -- sealed; empty: no second step
    totp_pending        text NOT NULL DEFAULT '',  -- sealed; not yet proven by a code
    totp_step           integer NOT NULL DEFAULT 0, -- the last time step that was used
    oidc_issuer         text NOT NULL DEFAULT '',
    oidc_subject        text NOT NULL DEFAULT '',
    created_at          integer NOT NULL,
    last_sign_in_at     integer,
    CONSTRAINT users_oidc_pair CHECK ((oidc_issuer = '') = (oidc_subject = ''))
);
CREATE UNIQUE INDEX users_login ON users (company_id, folded_login);
CREATE UNIQUE INDEX users_oidc ON users (company_id, oidc_issuer, oidc_subject) WHERE oidc_subject <> '';

-- One row of what admins decide about signing in.
CREATE TABLE sign_in_settings (
    company_id          integer PRIMARY KEY,
    require_second_step integer NOT NULL
);

CREATE TABLE recovery_codes (
    user_id   integer NOT NULL REFERENCES users (id),
    code_hash text NOT NULL,
    used_at   integer,
    PRIMARY KEY (user_id, code_hash)
);

-- Invitations and resets: whoever holds the token sets the password, once.
CREATE TABLE password_links (
    token_hash text PRIMARY KEY,
    user_id    integer NOT NULL REFERENCES users (id),
    kind       text NOT NULL CHECK (kind IN ('invitation', 'reset')),
    created_by text NOT NULL,
    created_at integer NOT NULL,
    expires_at integer NOT NULL,
    used_at    integer
);
CREATE INDEX password_links_user ON password_links (user_id);

-- Addresses from which a person has signed in: a flood of wrong passwords from elsewhere does not slow them down there.
CREATE TABLE known_addresses (
    user_id integer NOT NULL REFERENCES users (id),
    address text NOT NULL,
    seen_at integer NOT NULL,
    PRIMARY KEY (user_id, address)
);

-- Ended and expired rows stay for a while: they still tell whose the session was.
CREATE TABLE sessions (
    id            integer PRIMARY KEY AUTOINCREMENT,
    id_hash       text NOT NULL,
    previous_hash text NOT NULL DEFAULT '',
    rotated_at    integer,
    rotate        integer NOT NULL DEFAULT 0, -- a new id with the next request
    user_id       integer NOT NULL REFERENCES users (id),
    method        text NOT NULL CHECK (method IN ('password', 'single_sign_on')),
    passed        integer NOT NULL,               -- nothing is missing, or the second step was passed
    wrong_codes   integer NOT NULL DEFAULT 0,
    created_at    integer NOT NULL,
    seen_at       integer NOT NULL,
    idle_until    integer NOT NULL,
    expires_at    integer NOT NULL,
    ended_at      integer,
    address       text NOT NULL,
    user_agent    text NOT NULL,
    csrf_secret   text NOT NULL
);
CREATE UNIQUE INDEX sessions_id_hash ON sessions (id_hash);
CREATE INDEX sessions_previous ON sessions (previous_hash) WHERE previous_hash <> '';
CREATE INDEX sessions_user ON sessions (user_id, id);

-- What was typed when the session was over, for the same person.
CREATE TABLE saved_forms (
    id_hash    text PRIMARY KEY,
    user_id    integer NOT NULL REFERENCES users (id),
    path       text NOT NULL,
    fields     text NOT NULL,
    saved_at   integer NOT NULL,
    expires_at integer NOT NULL
);

CREATE TABLE api_tokens (
    id             integer PRIMARY KEY AUTOINCREMENT,
    company_id     integer NOT NULL,
    name           text NOT NULL CHECK (name <> ''),
    prefix         text NOT NULL,
    token_hash     text NOT NULL,
    scopes         text NOT NULL CHECK (scopes <> ''), -- with commas
    per_minute     integer NOT NULL CHECK (per_minute >= 0),       -- 0: the server's default
    created_by     text NOT NULL,
    created_at     integer NOT NULL,
    expires_at     integer NOT NULL,
    last_used_at   integer,
    last_used_from text NOT NULL DEFAULT '',
    revoked_at     integer,
    revoked_by     text NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX api_tokens_hash ON api_tokens (token_hash);

CREATE TABLE audit (
    id         integer PRIMARY KEY AUTOINCREMENT,
    company_id integer NOT NULL,
    at         integer NOT NULL,
    actor_kind text NOT NULL,
    actor_id   text NOT NULL,
    actor_name text NOT NULL,
    address    text NOT NULL,
    user_agent text NOT NULL,
    what       text NOT NULL CHECK (what <> ''),
    object     text NOT NULL,
    before     text NOT NULL,
    after      text NOT NULL,
    note       text NOT NULL
);
CREATE INDEX audit_at ON audit (company_id, at, id);

-- +goose StatementBegin
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the history in audit cannot be changed');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'the history in audit cannot be changed');
END;
-- +goose StatementEnd

-- The trail shows these too, by time.
CREATE INDEX acts_at ON acts (at, id);
CREATE INDEX setting_changes_at ON setting_changes (at, id);

-- +goose Down
DROP INDEX setting_changes_at;
DROP INDEX acts_at;
DROP TABLE audit;
DROP TABLE api_tokens;
DROP TABLE saved_forms;
DROP TABLE sessions;
DROP TABLE known_addresses;
DROP TABLE password_links;
DROP TABLE recovery_codes;
DROP TABLE sign_in_settings;
DROP TABLE users;
