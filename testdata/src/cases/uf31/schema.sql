-- fence:protect resource=exporter:{exporter}
CREATE TABLE exporter_lease (
    exporter    text PRIMARY KEY,
    instance    text NOT NULL,
    cursor      bigint NOT NULL DEFAULT 0,
    valid_until timestamptz NOT NULL
);
