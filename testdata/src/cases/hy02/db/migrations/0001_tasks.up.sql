CREATE TABLE tasks (
    id               bigserial PRIMARY KEY,
    kind             text NOT NULL,
    args             jsonb NOT NULL,
    state            text NOT NULL DEFAULT 'pending',
    worker_id        text,
    lease_expires_at timestamptz
);
