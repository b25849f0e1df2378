CREATE TABLE zone_leases (
    zone       text PRIMARY KEY,
    epoch      bigint NOT NULL DEFAULT 0,
    grant_id   uuid,
    expires_at timestamptz
);
CREATE TABLE dns_records (
    zone  text NOT NULL,
    name  text NOT NULL,
    rtype text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (zone, name, rtype)
);
CREATE TABLE dns_serials (
    zone   text PRIMARY KEY,
    serial bigint NOT NULL
);
