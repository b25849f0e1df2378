CREATE TABLE action_runs (
    id           bigserial PRIMARY KEY,
    state        text NOT NULL,
    attempt      integer NOT NULL DEFAULT 0, -- fence:token rule=equal
    max_attempts integer NOT NULL,
    started_at   timestamptz,
    finished_at  timestamptz
);
