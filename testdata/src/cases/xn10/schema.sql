CREATE TABLE ci_runner (
    name    text PRIMARY KEY,
    session bigint NOT NULL
);
CREATE TABLE ci_build (
    id               bigserial PRIMARY KEY,
    repo             text NOT NULL,
    commit_sha       text NOT NULL,
    status           text NOT NULL DEFAULT 'queued',
    runner           text,
    cancel_requested boolean NOT NULL DEFAULT false
);
