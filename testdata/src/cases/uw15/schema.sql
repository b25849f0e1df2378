CREATE TABLE rollup_bucket (
    series     bigint NOT NULL,
    bucket     timestamptz NOT NULL,
    total      double precision NOT NULL,
    samples    bigint NOT NULL DEFAULT 0,
    shard_term bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (series, bucket)
);
