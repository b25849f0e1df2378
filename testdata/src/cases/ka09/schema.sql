CREATE TABLE import_locks (name text PRIMARY KEY, locked_by text NOT NULL, locked_at timestamptz NOT NULL);
