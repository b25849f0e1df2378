CREATE TABLE render_tasks (
    id        bigint PRIMARY KEY,
    farm      text NOT NULL,
    frame     integer NOT NULL,
    state     text NOT NULL DEFAULT 'queued',
    output    text,
    lease_seq bigint NOT NULL DEFAULT 0
);
CREATE TABLE render_tasks_done (LIKE render_tasks);
