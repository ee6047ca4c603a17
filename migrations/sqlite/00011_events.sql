-- +goose Up

-- Who may send signed events: shops and the like ("orders"), and accounting systems ("system", the id is the system's).
CREATE TABLE event_senders (
    kind       text NOT NULL CHECK (kind IN ('orders', 'system')),
    id         text NOT NULL CHECK (id <> ''),
    company_id integer NOT NULL,
    name       text NOT NULL,
    system_id  text NOT NULL,  -- where its items go
    automation text NOT NULL,
    secrets    text NOT NULL,  -- sealed, newest first
    secret_n   integer NOT NULL CHECK (secret_n >= 1),
    changed_at integer NOT NULL,
    changed_by text NOT NULL,
    PRIMARY KEY (kind, id)
);

-- What was received, once for each event id.
CREATE TABLE events (
    id          integer PRIMARY KEY AUTOINCREMENT,
    company_id  integer NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('orders', 'system')),
    sender      text NOT NULL, -- or "token:7"
    event_id    text NOT NULL CHECK (event_id <> ''),
    type        text NOT NULL,
    subject     text NOT NULL, -- the order's or the document's reference
    digest      text NOT NULL,             -- of the body: one id, one content
    happened_at integer,
    received_at integer NOT NULL,
    times       integer NOT NULL CHECK (times >= 1),
    result      text NOT NULL CHECK (result <> ''),
    detail      text NOT NULL,
    item_id     integer NOT NULL -- 0: none
);
CREATE UNIQUE INDEX events_once ON events (company_id, kind, sender, event_id);
CREATE INDEX events_subject ON events (company_id, kind, sender, subject, happened_at);
CREATE INDEX events_list ON events (company_id, id);

-- Who is told what became of an automation's items.
CREATE TABLE outcome_endpoints (
    id         integer PRIMARY KEY AUTOINCREMENT,
    company_id integer NOT NULL,
    name       text NOT NULL,
    automation text NOT NULL CHECK (automation <> ''),
    address    text NOT NULL,
    secret     text NOT NULL, -- sealed
    changed_at integer NOT NULL,
    changed_by text NOT NULL,
    removed_at integer
);
CREATE UNIQUE INDEX outcome_endpoints_once ON outcome_endpoints (company_id, automation, address) WHERE removed_at IS NULL;

-- What they are told: written with the move itself, sent later.
CREATE TABLE outcomes (
    id              integer PRIMARY KEY AUTOINCREMENT,
    endpoint_id     integer NOT NULL REFERENCES outcome_endpoints (id),
    company_id      integer NOT NULL,
    item_id         integer NOT NULL,
    item_version    integer NOT NULL,
    status          text NOT NULL CHECK (status IN ('confirmed', 'review', 'resolved', 'closed')),
    reason          text NOT NULL,
    external_id     text NOT NULL,
    external_number text NOT NULL,
    external_url    text NOT NULL,
    made_at         integer NOT NULL,
    state           text NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'dropped')),
    tries           integer NOT NULL,
    next_at         integer NOT NULL,
    lease_until     integer,
    leased_by       text NOT NULL,
    closed_at       integer,
    last_error      text NOT NULL,
    asked_by        text NOT NULL -- who had it sent again
);
CREATE UNIQUE INDEX outcomes_once ON outcomes (endpoint_id, item_id, item_version);
CREATE INDEX outcomes_due ON outcomes (endpoint_id, next_at, id) WHERE state = 'waiting';
CREATE INDEX outcomes_list ON outcomes (company_id, id);
CREATE INDEX outcomes_failed ON outcomes (company_id, id) WHERE state = 'failed';

-- +goose Down
DROP TABLE outcomes;
DROP TABLE outcome_endpoints;
DROP TABLE events;
DROP TABLE event_senders;
