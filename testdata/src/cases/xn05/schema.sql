CREATE TABLE metric_bucket (
    series bigint NOT NULL,
    ts     timestamptz NOT NULL,
    total  double precision NOT NULL,
    fence  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (series, ts)
);
