-- +goose Up

-- Invoices that come again. Days are numbers of days since 1970-01-01.
CREATE TABLE plans (
    id            integer PRIMARY KEY AUTOINCREMENT,
    company_id    integer NOT NULL,
    code          text NOT NULL CHECK (code <> ''),
    folded_code   text NOT NULL CHECK (folded_code <> ''),
    system_id     text NOT NULL REFERENCES systems (id),
    customer_id   text NOT NULL CHECK (customer_id <> ''),
    customer_name text NOT NULL DEFAULT '',
    currency      text NOT NULL,
    end_on        integer,
    pay_within    integer NOT NULL CHECK (pay_within >= 0),
    prorate       integer NOT NULL CHECK (prorate IN (0, 1)),
    note          text NOT NULL DEFAULT '',
    state         text NOT NULL CHECK (state IN ('active', 'waiting', 'paused')),
    why           text NOT NULL DEFAULT '' CHECK (why IN ('', 'twin', 'catch_up')),
    caught_up_to  integer,
    covered_to    integer, -- every period that begins before this day was taken up
    next_on       integer, -- the first day of the first period that was not; none: no more will come
    words         text NOT NULL, -- what the list is searched by
    created_kind  text NOT NULL,
    created_id    text NOT NULL,
    created_name  text NOT NULL,
    created_at    integer NOT NULL,
    changed_kind  text NOT NULL,
    changed_id    text NOT NULL,
    changed_name  text NOT NULL,
    version       integer NOT NULL CHECK (version >= 1),
    CONSTRAINT plans_why CHECK (state <> 'waiting' OR why <> ''),
    CONSTRAINT plans_active CHECK (state <> 'active' OR why = ''),
    CONSTRAINT plans_next CHECK (next_on >= covered_to)
);
CREATE UNIQUE INDEX plans_code ON plans (company_id, folded_code);
CREATE INDEX plans_customer ON plans (company_id, system_id, customer_id);
CREATE INDEX plans_due ON plans (next_on, id) WHERE state = 'active' AND next_on IS NOT NULL;

-- What a plan says from a day on.
CREATE TABLE plan_terms (
    plan_id    integer NOT NULL REFERENCES plans (id),
    starts_on  integer NOT NULL,
    every      integer NOT NULL CHECK (every >= 1),
    unit       text NOT NULL CHECK (unit IN ('week', 'month', 'year')),
    day        integer NOT NULL CHECK (day BETWEEN 0 AND 31),
    lines      text NOT NULL, -- JSON
    PRIMARY KEY (plan_id, starts_on)
);

-- The days that were taken up, without the last: they never overlap, and their key is used once.
CREATE TABLE plan_periods (
    plan_id   integer NOT NULL REFERENCES plans (id),
    starts_on integer NOT NULL,
    ends_on   integer NOT NULL,
    key       text NOT NULL CHECK (key <> ''),
    late      integer NOT NULL CHECK (late IN (0, 1)),
    left_out  integer NOT NULL CHECK (left_out IN (0, 1)), -- a person decided that there is no invoice
    item_id   integer REFERENCES item_keys (item_id),
    problem   text NOT NULL DEFAULT '',
    at        integer NOT NULL,
    PRIMARY KEY (plan_id, starts_on),
    CONSTRAINT plan_periods_days CHECK (ends_on > starts_on),
    CONSTRAINT plan_periods_left_out CHECK (NOT left_out OR item_id IS NULL)
);
-- +goose StatementBegin
CREATE TRIGGER plan_periods_overlap BEFORE INSERT ON plan_periods
WHEN EXISTS (SELECT 1 FROM plan_periods p WHERE p.plan_id = NEW.plan_id AND p.starts_on < NEW.ends_on AND p.ends_on > NEW.starts_on)
BEGIN
    SELECT RAISE(ABORT, 'plan_periods_overlap');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER plan_periods_fixed BEFORE UPDATE OF plan_id, starts_on, ends_on ON plan_periods
BEGIN
    SELECT RAISE(ABORT, 'plan_periods_overlap');
END;
-- +goose StatementEnd
CREATE UNIQUE INDEX plan_periods_key ON plan_periods (plan_id, key);
CREATE INDEX plan_periods_open ON plan_periods (plan_id) WHERE item_id IS NULL AND NOT left_out;
CREATE INDEX plan_periods_month ON plan_periods (starts_on);

-- Who changed a plan, and what it was; both sides as JSON.
CREATE TABLE plan_changes (
    id         integer PRIMARY KEY AUTOINCREMENT,
    plan_id    integer NOT NULL REFERENCES plans (id),
    at         integer NOT NULL,
    actor_kind text NOT NULL,
    actor_id   text NOT NULL,
    actor_name text NOT NULL,
    what       text NOT NULL CHECK (what <> ''),
    note       text NOT NULL DEFAULT '',
    before     text NOT NULL DEFAULT '',
    after      text NOT NULL
);
CREATE INDEX plan_changes_plan ON plan_changes (plan_id, id);

-- +goose Down
DROP TABLE plan_changes;
DROP TABLE plan_periods;
DROP TABLE plan_terms;
DROP TABLE plans;
