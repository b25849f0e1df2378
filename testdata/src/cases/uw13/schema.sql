CREATE TABLE tenant_quota (
    tenant        text NOT NULL,
    region        text NOT NULL,
    used          bigint NOT NULL DEFAULT 0,
    allowed       bigint NOT NULL DEFAULT 0,
    fencing_token bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, region)
);
