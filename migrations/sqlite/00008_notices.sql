-- +goose Up

-- Where a person is told things. It is no identity: nobody signs in by it.
ALTER TABLE users ADD COLUMN email text NOT NULL DEFAULT '';
UPDATE users SET email = login WHERE login GLOB '?*@?*.?*' AND login NOT GLOB '*@*@*' AND login NOT GLOB '*[^A-Za-z0-9.@_+-]*';

-- How a person wants to be told. No row: as their roles suggest.
CREATE TABLE notice_settings (
    user_id    integer PRIMARY KEY,
    items      text NOT NULL CHECK (items IN ('off', 'at_once', 'daily')),
    alerts     integer NOT NULL,
    systems    text NOT NULL,     -- with commas; empty: all
    mine       integer NOT NULL,  -- only what is assigned to the person
    hour       integer NOT NULL CHECK (hour BETWEEN 0 AND 23),
    changed_at integer NOT NULL
);

-- One row: the rounds in which the list below is brought up to date, one server after the other.
CREATE TABLE notice_round (
    one    integer PRIMARY KEY CHECK (one = 1),
    number integer NOT NULL
);
INSERT INTO notice_round (one, number) VALUES (1, 0);

-- The items that wait for a person, and the round in which each came to wait. A row goes when its item goes on.
CREATE TABLE notice_items (
    item_id        integer PRIMARY KEY,
    company_id     integer NOT NULL,
    noticed_at     integer NOT NULL,
    round          integer NOT NULL,
    assigned_to    text NOT NULL,
    assigned_by    text NOT NULL, -- id of the person
    assigned_round integer NOT NULL
);
CREATE INDEX notice_items_round ON notice_items (round);
CREATE INDEX notice_items_assigned ON notice_items (assigned_round);

-- How far each recipient is told: "person:7", "webhook:finance".
CREATE TABLE notice_states (
    recipient   text PRIMARY KEY,
    told        integer NOT NULL, -- the last round
    items_at    integer,
    reminded_on text NOT NULL,    -- a day of the firm's zone
    version     integer NOT NULL
);

CREATE TABLE notice_alerts (
    recipient text NOT NULL,
    alert_id  integer NOT NULL,
    system_id text NOT NULL,
    cause     text NOT NULL,
    told_at   integer NOT NULL,
    over_at   integer,
    PRIMARY KEY (recipient, alert_id)
);
CREATE INDEX notice_alerts_cause ON notice_alerts (recipient, system_id, cause, told_at);

CREATE TABLE notice_deliveries (
    id          integer PRIMARY KEY AUTOINCREMENT,
    company_id  integer NOT NULL,
    recipient   text NOT NULL,
    name        text NOT NULL,
    address     text NOT NULL, -- of an e-mail; a webhook's address is a secret
    kind        text NOT NULL CHECK (kind IN ('items', 'reminder', 'alert', 'over', 'test')),
    message     text NOT NULL,
    status      text NOT NULL CHECK (status IN ('waiting', 'sent', 'failed', 'unclear', 'dropped')),
    tries       integer NOT NULL,
    unclear     integer NOT NULL, -- tries of which nobody knows whether they arrived
    made_at     integer NOT NULL,
    next_at     integer NOT NULL,
    lease_until integer,
    leased_by   text NOT NULL,
    closed_at   integer,
    last_error  text NOT NULL
);
CREATE INDEX notice_deliveries_due ON notice_deliveries (next_at, id) WHERE status = 'waiting';
CREATE INDEX notice_deliveries_recipient ON notice_deliveries (recipient, id);

-- +goose Down
DROP TABLE notice_deliveries;
DROP TABLE notice_alerts;
DROP TABLE notice_states;
DROP TABLE notice_items;
DROP TABLE notice_round;
DROP TABLE notice_settings;
ALTER TABLE users DROP COLUMN email;
