CREATE TABLE queue_messages (
    id           text PRIMARY KEY,
    queue        text NOT NULL,
    body         bytea NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    locked_by    text,
    locked_until timestamptz NOT NULL DEFAULT now(),
    received     integer NOT NULL DEFAULT 0
);
