CREATE TABLE schedule_entry (
    name     text PRIMARY KEY,
    spec     text NOT NULL,
    next_run timestamptz NOT NULL,
    last_run timestamptz,
    fence    bigint NOT NULL DEFAULT 0
);
