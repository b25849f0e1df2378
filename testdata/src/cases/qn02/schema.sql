CREATE TABLE task_queues (
    name     text PRIMARY KEY,
    range_id bigint NOT NULL
);
CREATE TABLE tasks (
    queue text NOT NULL,
    id    bigint NOT NULL,
    body  bytea NOT NULL,
    PRIMARY KEY (queue, id)
);
