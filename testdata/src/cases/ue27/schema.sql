CREATE TABLE task_lock (
    task       text PRIMARY KEY,
    lock_until timestamptz NOT NULL,
    locked_by  text NOT NULL
);
