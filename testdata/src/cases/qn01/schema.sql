CREATE TABLE replica_sets (
    set_name     text PRIMARY KEY,
    epoch        bigint NOT NULL DEFAULT 0,
    state        text NOT NULL,
    reason       text,
    primary_node text
);
