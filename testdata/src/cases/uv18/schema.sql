CREATE TABLE channels (
    name       text PRIMARY KEY,
    cursor     text NOT NULL DEFAULT '',
    last_error text NOT NULL DEFAULT '',
    term       bigint NOT NULL DEFAULT 0
);
