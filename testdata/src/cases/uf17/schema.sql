CREATE TABLE dispatch_workers (
    id             text PRIMARY KEY,
    active         boolean NOT NULL,
    last_heartbeat timestamptz NOT NULL
);
