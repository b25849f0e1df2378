CREATE TABLE replica_set (
    id    text PRIMARY KEY,
    node  text NOT NULL,
    state text NOT NULL,
    fence bigint NOT NULL DEFAULT 0
);
CREATE TABLE replica_event (
    id      bigserial PRIMARY KEY,
    replica text NOT NULL,
    what    text NOT NULL
);
