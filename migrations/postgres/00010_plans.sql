-- +goose Up

-- Invoices that come again. Days are numbers of days since 1970-01-01.
CREATE TABLE plans (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id    bigint NOT NULL,
    code          text NOT NULL CHECK (code <> ''),
    folded_code   text COLLATE "C" NOT NULL CHECK (folded_code <> ''),
    system_id     text COLLATE "C" NOT NULL REFERENCES systems (id),
    customer_id   text COLLATE "C" NOT NULL CHECK (customer_id <> ''),
    customer_name text NOT NULL DEFAULT '',
    currency      text COLLATE "C" NOT NULL,
    end_on        integer,
    pay_within    integer NOT NULL CHECK (pay_within >= 0),
    prorate       boolean NOT NULL,
    note          text NOT NULL DEFAULT '',
    state         text COLLATE "C" NOT NULL CHECK (state IN ('active', 'waiting', 'paused')),
    why           text COLLATE "C" NOT NULL DEFAULT '' CHECK (why IN ('', 'twin', 'catch_up')),
    caught_up_to  integer,
    covered_to    integer, -- every period that begins before this day was taken up
    next_on       integer, -- the first day of the first period that was not; none: no more will come
    words         text COLLATE "C" NOT NULL, -- what the list is searched by
    created_kind  text NOT NULL,
    created_id    text NOT NULL,
    created_name  text NOT NULL,
    created_at    timestamptz NOT NULL,
    changed_kind  text NOT NULL,
    changed_id    text NOT NULL,
    changed_name  text NOT NULL,
    version       bigint NOT NULL CHECK (version >= 1),
    CONSTRAINT plans_why CHECK (state <> 'waiting' OR why <> ''),
    CONSTRAINT plans_active CHECK (state <> 'active' OR why = ''),
    CONSTRAINT plans_next CHECK (next_on >= covered_to)
);
CREATE UNIQUE INDEX plans_code ON plans (company_id, folded_code);
CREATE INDEX plans_customer ON plans (company_id, system_id, customer_id);
CREATE INDEX plans_due ON plans (next_on, id) WHERE state = 'active' AND next_on IS NOT NULL;

-- What a plan says from a day on.
CREATE TABLE plan_terms (
    plan_id    bigint NOT NULL REFERENCES plans (id),
    starts_on  integer NOT NULL,
    every      integer NOT NULL CHECK (every >= 1),
    unit       text COLLATE "C" NOT NULL CHECK (unit IN ('week', 'month', 'year')),
    day        integer NOT NULL CHECK (day BETWEEN 0 AND 31),
    lines      text NOT NULL, -- JSON
    PRIMARY KEY (plan_id, starts_on)
);

-- The days that were taken up, without the last: they never overlap, and their key is used once.
CREATE TABLE plan_periods (
    plan_id   bigint NOT NULL REFERENCES plans (id),
    starts_on integer NOT NULL,
    ends_on   integer NOT NULL,
    key       text NOT NULL CHECK (key <> ''),
    late      boolean NOT NULL,
    left_out  boolean NOT NULL, -- a person decided that there is no invoice
    item_id   bigint REFERENCES item_keys (item_id),
    problem   text NOT NULL DEFAULT '',
    at        timestamptz NOT NULL,
    PRIMARY KEY (plan_id, starts_on),
    CONSTRAINT plan_periods_days CHECK (ends_on > starts_on),
    CONSTRAINT plan_periods_left_out CHECK (NOT left_out OR item_id IS NULL),
    CONSTRAINT plan_periods_overlap EXCLUDE USING gist (int8range(plan_id, plan_id, '[]') WITH &&, int4range(starts_on, ends_on) WITH &&)
);
CREATE UNIQUE INDEX plan_periods_key ON plan_periods (plan_id, key);
CREATE INDEX plan_periods_open ON plan_periods (plan_id) WHERE item_id IS NULL AND NOT left_out;
CREATE INDEX plan_periods_month ON plan_periods (starts_on);

-- Who changed a plan, and what it was; both sides as JSON.
CREATE TABLE plan_changes (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    plan_id    bigint NOT NULL REFERENCES plans (id),
    at         timestamptz NOT NULL,
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
