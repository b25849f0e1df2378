CREATE TABLE tenure (
    name            text PRIMARY KEY,
    node            text NOT NULL,
    token           bigint NOT NULL DEFAULT 0,
    ends_at         timestamptz NOT NULL,
    target_replicas integer NOT NULL DEFAULT 1
);
