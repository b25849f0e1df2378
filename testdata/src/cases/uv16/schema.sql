CREATE TABLE tenant_leases (
    tenant text PRIMARY KEY,
    epoch  bigint NOT NULL,
    holder text NOT NULL,
    until  timestamptz NOT NULL
);
CREATE TABLE volumes (
    tenant   text NOT NULL,
    name     text NOT NULL,
    node     text NOT NULL,
    cordoned boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, name)
);
