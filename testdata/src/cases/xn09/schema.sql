CREATE TABLE incident (
    id          bigint PRIMARY KEY,
    severity    text NOT NULL,
    assignee    text,
    note        text NOT NULL DEFAULT '',
    labels      jsonb NOT NULL DEFAULT '{}',
    muted_until timestamptz,
    term        bigint NOT NULL DEFAULT 0
);
