CREATE TABLE history_shards (
    shard_id    integer PRIMARY KEY,
    owner_epoch bigint NOT NULL DEFAULT 0,
    ack_level   bigint NOT NULL DEFAULT 0
);
CREATE TABLE history_executions (
    shard_id integer NOT NULL,
    run_id   text NOT NULL,
    state    bytea NOT NULL,
    PRIMARY KEY (shard_id, run_id)
);
