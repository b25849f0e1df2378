CREATE TABLE sink_checkpoints (
    task     text NOT NULL,
    shard    integer NOT NULL,
    fence    bigint NOT NULL DEFAULT 0, -- raised by whoever starts
    position bytea,
    PRIMARY KEY (task, shard)
);
CREATE TABLE documents (id text PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE documents_staging (id text PRIMARY KEY, doc jsonb NOT NULL);
