CREATE TABLE agent_builds (
    id        bigserial PRIMARY KEY,
    spec      text NOT NULL,
    state     text NOT NULL,
    agent     text,
    claim_no  bigint NOT NULL DEFAULT 0,
    lease_end timestamptz,
    exit_code integer,
    artifact  text
);
