CREATE TABLE mailing (
    id          bigserial PRIMARY KEY,
    list        text NOT NULL,
    run_at      timestamptz NOT NULL,
    recipients  integer,
    finished_at timestamptz
);
