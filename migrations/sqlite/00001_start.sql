-- +goose Up

-- Times are microseconds since 1970, UTC; NULL is no time. Amounts are decimal text.

-- One row: which installation this is, and which database it was last seen in.
CREATE TABLE installation (
    one             integer PRIMARY KEY CHECK (one = 1),
    id              text NOT NULL,
    generation      integer NOT NULL DEFAULT 0,
    database_system text NOT NULL DEFAULT '',
    look_first      integer, -- for systems that are declared later
    look_first_why  text NOT NULL DEFAULT '',
    created_at      integer NOT NULL
);

CREATE TABLE systems (
    id             text PRIMARY KEY CHECK (id <> ''),
    company_id     integer NOT NULL,
    name           text NOT NULL,
    adapter        text NOT NULL CHECK (adapter <> ''),
    address        text NOT NULL DEFAULT '',
    policy         text NOT NULL,
    capabilities   text NOT NULL,
    steps          text NOT NULL CHECK (steps <> ''),
    max_in_flight  integer NOT NULL CHECK (max_in_flight >= 1),
    per_second     real NOT NULL DEFAULT 0 CHECK (per_second >= 0),
    paced_at       integer,
    identity       text NOT NULL DEFAULT '',
    paused_at      integer,
    paused_by      text NOT NULL DEFAULT '',
    pause_reason   text NOT NULL DEFAULT '',
    breaker_until  integer,
    breaker_reason text NOT NULL DEFAULT '',
    login_problem  text NOT NULL DEFAULT '',
    look_first     integer,
    look_first_why text NOT NULL DEFAULT '',
    version        integer NOT NULL DEFAULT 1
);

-- What never changes about an item, and both of its unique names. Apart from the state, because every index on the
-- state's table is written again with every move.
CREATE TABLE item_keys (
    item_id       integer PRIMARY KEY,
    company_id    integer NOT NULL,
    automation    text NOT NULL,
    business_key  text NOT NULL CHECK (business_key <> ''),
    folded_key    text NOT NULL CHECK (folded_key <> ''),
    step          text NOT NULL CHECK (step <> ''),
    steps         text NOT NULL,
    system_id     text NOT NULL REFERENCES systems (id),
    reference     text NOT NULL CHECK (reference <> ''),
    idem_key      text NOT NULL CHECK (idem_key <> ''),
    source        text NOT NULL DEFAULT '',
    recorder_kind text NOT NULL DEFAULT '',
    recorder_id   text NOT NULL DEFAULT '',
    recorder_name text NOT NULL DEFAULT '',
    recorded_at   integer NOT NULL
);
-- The order of the columns serves the search too: it knows the key, not the automation.
CREATE UNIQUE INDEX item_keys_key ON item_keys (folded_key, company_id, automation, step);
CREATE UNIQUE INDEX item_keys_reference ON item_keys (lower(reference), reference, system_id, step);
CREATE INDEX item_keys_source ON item_keys (source, item_id) WHERE source <> '';

-- The state of an item: this table is the queue.
CREATE TABLE items (
    id              integer PRIMARY KEY AUTOINCREMENT,
    company_id      integer NOT NULL,
    system_id       text NOT NULL,
    step            text NOT NULL,
    previous_id     integer,
    revision        integer NOT NULL CHECK (revision >= 1),
    proposed        integer NOT NULL CHECK (proposed >= 0),
    version         integer NOT NULL CHECK (version >= 1),
    status          text NOT NULL,
    reason          text NOT NULL,
    attempts        integer NOT NULL CHECK (attempts >= 0),
    open_attempt    integer NOT NULL,
    open_kind       text NOT NULL,
    open_node       text NOT NULL,
    open_since      integer,
    lease_until     integer,
    before          text NOT NULL,
    sends           integer NOT NULL CHECK (sends >= 0),
    sends_used      integer NOT NULL CHECK (sends_used >= 0),
    lookups_used    integer NOT NULL CHECK (lookups_used >= 0),
    unsettled       text NOT NULL,
    settle_from     integer,
    first_sent_at   integer,
    resent          integer NOT NULL,
    misses          integer NOT NULL CHECK (misses >= 0),
    last_miss_at    integer,
    absent_at       integer,
    absent_by       text NOT NULL,
    positive        text NOT NULL CHECK (positive IN ('', 'reported', 'found')),
    seen_id         text NOT NULL,
    seen_number     text NOT NULL,
    late_id         text NOT NULL,
    external_id     text NOT NULL,
    external_number text NOT NULL,
    external_url    text NOT NULL,
    evidence        text NOT NULL,
    remark          text NOT NULL,
    identity        text NOT NULL,
    due_at          integer,
    send_after      integer,
    settle_by       integer,
    look_asked      text NOT NULL,
    last_look       text NOT NULL CHECK (last_look IN ('', 'owed', 'done', 'missed')),
    last_error      text NOT NULL,
    last_try_at     integer,
    changed_at      integer NOT NULL,
    assigned_to     text NOT NULL,
    CONSTRAINT items_status CHECK (status IN ('queued', 'in_progress', 'pending', 'failed', 'confirmed', 'review', 'resolved', 'closed')),
    CONSTRAINT items_reason CHECK (reason IN ('', 'rejected', 'attempts_exhausted', 'could_not_check', 'cannot_look_up', 'mismatch',
        'duplicates', 'found_void', 'contradiction', 'late_evidence', 'approval_required', 'held')),
    CONSTRAINT items_review_has_reason CHECK (status <> 'review' OR reason <> ''),
    CONSTRAINT items_open CHECK (open_attempt >= 0 AND open_attempt <= attempts AND (open_attempt > 0) = (lease_until IS NOT NULL)
        AND (open_attempt > 0) = (open_kind IN ('send', 'find')) AND (open_attempt > 0 OR open_kind = '')),
    CONSTRAINT items_in_progress CHECK (status <> 'in_progress' OR open_attempt > 0),
    CONSTRAINT items_sends CHECK (sends <= attempts AND sends_used <= sends),
    CONSTRAINT items_waiting_is_due CHECK (status NOT IN ('queued', 'pending', 'failed') OR due_at IS NOT NULL),
    CONSTRAINT items_failed_is_absent CHECK (status <> 'failed' OR unsettled = '' OR absent_at IS NOT NULL),
    CONSTRAINT items_confirmed_is_known CHECK (status <> 'confirmed' OR (external_id <> '' AND evidence <> '')),
    CONSTRAINT items_resolved_is_known CHECK (status <> 'resolved' OR external_id <> '')
);
CREATE INDEX items_due ON items (system_id, due_at, id) WHERE due_at IS NOT NULL;
-- A paused system only looks: its claims must not walk all that waits to be sent.
CREATE INDEX items_looks ON items (system_id, due_at, id) WHERE due_at IS NOT NULL AND (status NOT IN ('queued', 'failed') OR look_asked <> '');
CREATE INDEX items_leased ON items (system_id, lease_until) WHERE lease_until IS NOT NULL;
-- Two items never share a record; the first column lets the search ignore case with the same index.
CREATE UNIQUE INDEX items_external ON items (lower(external_id), external_id, step, system_id)
    WHERE status IN ('confirmed', 'resolved') AND external_id <> '';
CREATE INDEX items_number ON items (lower(external_number)) WHERE external_number <> '';
-- Without open calls: they are few, found by their leases, and every claim would write this index once more.
CREATE INDEX items_list ON items (company_id, status, changed_at, id) WHERE status <> 'in_progress';
CREATE INDEX items_previous ON items (previous_id) WHERE previous_id IS NOT NULL;

-- What is to be made outside. A row above the item's revision is a proposal.
CREATE TABLE revisions (
    item_id       integer NOT NULL REFERENCES item_keys (item_id),
    number        integer NOT NULL CHECK (number >= 1),
    customer_id   text NOT NULL,
    customer_name text NOT NULL,
    total         text NOT NULL,
    currency      text NOT NULL,
    invoice       text NOT NULL,
    fingerprint   text NOT NULL,
    made_by       text NOT NULL,
    made_at       integer NOT NULL,
    PRIMARY KEY (item_id, number)
);

-- Without a foreign key: the item is changed in the same transaction, and is never deleted.
CREATE TABLE attempts (
    item_id     integer NOT NULL,
    number      integer NOT NULL CHECK (number >= 1),
    kind        text NOT NULL CHECK (kind IN ('send', 'find')),
    late_for    integer NOT NULL,
    node        text NOT NULL,
    asked_by    text NOT NULL,
    revision    integer NOT NULL,
    reference   text NOT NULL,
    idem_key    text NOT NULL,
    started_at  integer NOT NULL,
    send_by     integer,
    ended_at    integer,
    outcome     text NOT NULL DEFAULT '',
    finding     text NOT NULL DEFAULT '',
    http_status integer NOT NULL DEFAULT 0,
    identity    text NOT NULL DEFAULT '',
    external_id text NOT NULL DEFAULT '',
    external_no text NOT NULL DEFAULT '',
    error       text NOT NULL DEFAULT '',
    request     text NOT NULL DEFAULT '',
    response    text NOT NULL DEFAULT '',
    PRIMARY KEY (item_id, number),
    CONSTRAINT attempts_outcome CHECK (outcome IN ('', 'accepted', 'rejected', 'not_sent', 'already_exists', 'deferred', 'unknown')),
    CONSTRAINT attempts_finding CHECK (finding IN ('', 'found_matching', 'found_different', 'found_several', 'found_void', 'not_found',
        'could_not_tell', 'deferred')),
    CONSTRAINT attempts_closed CHECK ((ended_at IS NOT NULL) = (outcome <> '' OR finding <> '')
        AND (outcome = '' OR kind = 'send') AND (finding = '' OR kind = 'find'))
);

CREATE TABLE acts (
    id          integer PRIMARY KEY AUTOINCREMENT,
    item_id     integer NOT NULL REFERENCES item_keys (item_id),
    at          integer NOT NULL,
    actor_kind  text NOT NULL,
    actor_id    text NOT NULL,
    actor_name  text NOT NULL,
    what        text NOT NULL CHECK (what <> ''),
    note        text NOT NULL,
    from_status text NOT NULL,
    to_status   text NOT NULL,
    detail      text NOT NULL
);
CREATE INDEX acts_item ON acts (item_id, id);

CREATE TABLE setting_changes (
    id         integer PRIMARY KEY AUTOINCREMENT,
    at         integer NOT NULL,
    actor_kind text NOT NULL,
    actor_id   text NOT NULL,
    actor_name text NOT NULL,
    system_id  text NOT NULL,
    what       text NOT NULL CHECK (what <> ''),
    before     text NOT NULL,
    after      text NOT NULL
);
CREATE INDEX setting_changes_system ON setting_changes (system_id, id);

-- +goose StatementBegin
CREATE TRIGGER acts_no_update BEFORE UPDATE ON acts BEGIN
    SELECT RAISE(ABORT, 'the history in acts cannot be changed');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER acts_no_delete BEFORE DELETE ON acts BEGIN
    SELECT RAISE(ABORT, 'the history in acts cannot be changed');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER setting_changes_no_update BEFORE UPDATE ON setting_changes BEGIN
    SELECT RAISE(ABORT, 'the history in setting_changes cannot be changed');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER setting_changes_no_delete BEFORE DELETE ON setting_changes BEGIN
    SELECT RAISE(ABORT, 'the history in setting_changes cannot be changed');
END;
-- +goose StatementEnd

-- Folded text that the search may find a part of. One row for each document, under its first step.
CREATE VIRTUAL TABLE item_search USING fts5 (words, tokenize = 'trigram case_sensitive 1');

CREATE TABLE alerts (
    id         integer PRIMARY KEY AUTOINCREMENT,
    system_id  text NOT NULL,
    cause      text NOT NULL CHECK (cause <> ''),
    words      text NOT NULL,
    raised_at  integer NOT NULL,
    cleared_at integer
);
CREATE UNIQUE INDEX alerts_open ON alerts (system_id, cause) WHERE cleared_at IS NULL;

-- +goose Down
DROP TABLE alerts;
DROP TABLE item_search;
DROP TABLE setting_changes;
DROP TABLE acts;
DROP TABLE attempts;
DROP TABLE revisions;
DROP TABLE items;
DROP TABLE item_keys;
DROP TABLE systems;
DROP TABLE installation;
