CREATE TABLE node_locks (
    name       text PRIMARY KEY,
    lock_id    text, -- fence, new per acquisition
    expires_at timestamptz NOT NULL
);
