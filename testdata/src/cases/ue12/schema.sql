CREATE TABLE workspace_locks (
    workspace text PRIMARY KEY,
    lock_id   text NOT NULL,
    operation text NOT NULL,
    who       text NOT NULL
);
