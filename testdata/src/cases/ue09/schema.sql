CREATE TABLE shard (
    shard_id       integer PRIMARY KEY,
    owner          text NOT NULL,
    range_id       bigint NOT NULL,
    max_read_level bigint NOT NULL DEFAULT 0
);
CREATE TABLE transfer_task (
    shard_id integer NOT NULL,
    task_id  bigint NOT NULL,
    blob     bytea NOT NULL,
    PRIMARY KEY (shard_id, task_id)
);
