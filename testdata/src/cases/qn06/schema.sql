CREATE TABLE uploads (
    id          bigserial PRIMARY KEY,
    state       text NOT NULL DEFAULT 'waiting',
    claim_no    bigint NOT NULL DEFAULT 0, -- fence:token rule=equal
    lease_until timestamptz,
    parts       integer[] NOT NULL DEFAULT '{}'
);
