CREATE TABLE pipeline_run (
    id           bigserial PRIMARY KEY,
    pipeline     text NOT NULL,
    state        text NOT NULL DEFAULT 'queued',
    attempt      integer NOT NULL DEFAULT 0, -- fence:token rule=equal
    leased_until timestamptz,
    output       jsonb,
    last_error   text,
    finished_at  timestamptz
);
