CREATE TABLE shards (
    shard_id bigint PRIMARY KEY,
    range_id bigint NOT NULL, -- raised by every acquisition
    owner    text NOT NULL
);
CREATE TABLE executions (
    shard_id      bigint NOT NULL,
    workflow_id   text NOT NULL,
    run_id        uuid NOT NULL,
    state         bytea NOT NULL,
    next_event_id bigint NOT NULL,
    PRIMARY KEY (shard_id, workflow_id, run_id)
);
