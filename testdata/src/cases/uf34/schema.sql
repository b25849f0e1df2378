CREATE TABLE export_jobs (
    id          bigserial PRIMARY KEY,
    status      text NOT NULL,
    try         integer NOT NULL DEFAULT 0, -- fence
    worker      text,
    claimed_at  timestamptz,
    rows_done   bigint NOT NULL DEFAULT 0,
    file_url    text,
    finished_at timestamptz
);
