CREATE TABLE worker_tasks (
    id       bigserial PRIMARY KEY,
    queue    text NOT NULL,
    payload  jsonb NOT NULL,
    note     text,
    priority integer NOT NULL DEFAULT 0,
    state    text NOT NULL DEFAULT 'new',
    attempt  integer NOT NULL DEFAULT 0
);
