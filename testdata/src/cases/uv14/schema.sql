CREATE TABLE documents (
    id       text PRIMARY KEY,
    title    text NOT NULL,
    body     text NOT NULL DEFAULT '',
    archived boolean NOT NULL DEFAULT false,
    rev      bigint NOT NULL DEFAULT 1
);
