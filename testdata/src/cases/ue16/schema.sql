CREATE TABLE export_job (
    id         bigserial PRIMARY KEY,
    state      text NOT NULL,
    worker     text,
    attempt    integer NOT NULL DEFAULT 0,
    touched_at timestamptz NOT NULL
);
