CREATE TABLE tenant_quotas (
    tenant  bigint PRIMARY KEY,
    used    bigint NOT NULL DEFAULT 0,
    allowed bigint NOT NULL
);
