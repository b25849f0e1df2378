CREATE TABLE transfer (
    id     bigserial PRIMARY KEY,
    tenant text NOT NULL,
    bytes  bigint NOT NULL,
    at     timestamptz NOT NULL
);
CREATE TABLE tenant_usage (
    tenant text NOT NULL,
    month  text NOT NULL,
    bytes  bigint NOT NULL,
    PRIMARY KEY (tenant, month)
);
