CREATE TABLE scheduler_leader (
    id          integer PRIMARY KEY,
    node        text NOT NULL,
    valid_until timestamptz NOT NULL
);
CREATE TABLE schedule (
    id      bigserial PRIMARY KEY,
    cron    text NOT NULL,
    next_at timestamptz NOT NULL,
    runs    bigint NOT NULL DEFAULT 0,
    image   text NOT NULL
);
