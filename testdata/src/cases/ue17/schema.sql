CREATE TABLE named_locks (
    name       text PRIMARY KEY,
    owner      text NOT NULL,
    expires_at integer NOT NULL
);
