CREATE TABLE renders (
    id        bigserial PRIMARY KEY,
    state     text NOT NULL DEFAULT 'queued',
    claim_no  bigint NOT NULL DEFAULT 0,
    percent   integer NOT NULL DEFAULT 0,
    output    text,
    done_at   timestamptz,
    leased_to timestamptz
);
