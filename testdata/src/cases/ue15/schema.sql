CREATE TABLE pipeline (
    id            bigint PRIMARY KEY,
    agent         text NOT NULL,
    epoch         bigint NOT NULL DEFAULT 0,
    source_offset bigint NOT NULL DEFAULT 0,
    status        text NOT NULL
);
