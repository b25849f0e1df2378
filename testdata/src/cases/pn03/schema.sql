CREATE TABLE render_job (
    id          bigserial PRIMARY KEY,
    state       text NOT NULL,
    frames      integer,
    claim_token bigint NOT NULL DEFAULT 0
);
CREATE TABLE render_output (
    job_id bigint PRIMARY KEY,
    url    text
);
