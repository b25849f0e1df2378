CREATE TABLE shard_owner (
    shard      bigint PRIMARY KEY,
    worker     text,
    generation bigint NOT NULL DEFAULT 0
);
