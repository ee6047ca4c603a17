-- +goose Up

-- What the overview shows, counted in the background. A row for each hour, day and month of the firm's zone, and one for all
-- time; starts_at is when it begins. Nothing on the way of an item writes here.
CREATE TABLE figures (
    company_id bigint NOT NULL,
    grain      text COLLATE "C" NOT NULL CHECK (grain IN ('hour', 'day', 'month', 'all')),
    starts_at  timestamptz NOT NULL,
    measure    text COLLATE "C" NOT NULL CHECK (measure <> ''),
    system_id  text COLLATE "C" NOT NULL,
    automation text COLLATE "C" NOT NULL, -- empty for durations
    bucket     integer NOT NULL, -- of a duration; else 0, or how many sends
    count      bigint NOT NULL CHECK (count > 0),
    PRIMARY KEY (company_id, grain, starts_at, measure, system_id, automation, bucket)
);

-- One row: how far was counted, and the server that is at it.
CREATE TABLE figures_place (
    one        smallint PRIMARY KEY CHECK (one = 1),
    version    bigint NOT NULL,
    started_at timestamptz, -- with the next two: the last attempt that was looked at; none: not begun
    item_id    bigint NOT NULL,
    number     integer NOT NULL,
    act_id     bigint NOT NULL, -- the last decision of a person that was looked at
    counted_to timestamptz,
    held_by    text COLLATE "C" NOT NULL,
    held_until timestamptz
);
INSERT INTO figures_place (one, version, item_id, number, act_id, held_by) VALUES (1, 0, 0, 0, 0, '');

-- Attempts that were open when they were looked at. They are counted when they have ended.
CREATE TABLE figures_waiting (
    item_id bigint NOT NULL,
    number  integer NOT NULL,
    PRIMARY KEY (item_id, number)
);

-- +goose Down
DROP TABLE figures_waiting;
DROP TABLE figures_place;
DROP TABLE figures;
