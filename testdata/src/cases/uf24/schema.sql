CREATE TABLE step_queue (
    id          bigserial PRIMARY KEY,
    status      text NOT NULL,
    worker_id   uuid,
    attempt     integer NOT NULL DEFAULT 0, -- fence:token rule=equal
    retries     integer NOT NULL,
    assigned_at timestamptz,
    finished_at timestamptz,
    error       text
);
